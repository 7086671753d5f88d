// Keeps pthread_cancel() from ending the calling thread for a scope.
#pragma once

#include <pthread.h>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

// Defers cancellation of the calling thread until its next cancellation point after the scope. Without it, a thread
// cancelled in a write(2) or a wait would be unwound through noexcept functions, which ends the process.
// Async-signal-safe.
class ScopedNoCancellation {
 public:
  ScopedNoCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_before_); }
  ScopedNoCancellation(ScopedNoCancellation const&) = delete;
  ScopedNoCancellation& operator=(ScopedNoCancellation const&) = delete;
  ~ScopedNoCancellation() { pthread_setcancelstate(state_before_, &state_before_); }

 private:
  int state_before_;
};

}}}  // namespace tracing::v1::support
