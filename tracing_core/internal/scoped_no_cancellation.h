// Keeps pthread_cancel() from ending the calling thread for a scope.
#pragma once

#include <pthread.h>

namespace tracing::inline v1::internal {

// write(2) and waits are cancellation points: a thread cancelled there would be unwound through functions that are
// noexcept, which ends the process. The thread is cancelled at its next point after the scope. Async-signal-safe.
class ScopedNoCancellation {
 public:
  ScopedNoCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_before_); }
  ScopedNoCancellation(ScopedNoCancellation const&) = delete;
  ScopedNoCancellation& operator=(ScopedNoCancellation const&) = delete;
  ~ScopedNoCancellation() { pthread_setcancelstate(state_before_, &state_before_); }

 private:
  int state_before_;
};

}  // namespace tracing::inline v1::internal
