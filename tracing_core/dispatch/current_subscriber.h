// current(): the subscriber that receives the records of the calling thread.
#pragma once

#include <atomic>

#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 { namespace internal {

// The subscriber of the process. Until set_global_default() it is a subscriber that drops everything.
[[gnu::visibility("hidden")]] extern constinit std::atomic<Subscriber*> global_subscriber;

inline Subscriber& current() noexcept {
  Subscriber* const own = thread_state.subscriber;
  if (own != nullptr) [[unlikely]]
    return *own;
  return *global_subscriber.load(std::memory_order_acquire);
}

}}}  // namespace tracing::v1::internal
