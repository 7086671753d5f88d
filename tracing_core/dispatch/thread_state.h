// Declares what the dispatcher keeps for each thread.
#pragma once

#include <utility>

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::internal {

struct ThreadState {
  Subscriber* subscriber = nullptr;  // in place of the global one
  bool in_subscriber = false;        // what is emitted now comes from a subscriber: dropped
  LevelFilter gate_level{};          // see level_gate.h; means something while gate_holder holds the gate
  std::uint64_t gate_holder = 0;
  std::uint64_t timed_children_ns = 0;  // what perf spans took that ended in the innermost perf scope of the thread
};

extern constinit thread_local ThreadState thread_state;

// While it lives, what this thread emits is dropped: it comes from a subscriber.
class InSubscriber {
 public:
  InSubscriber() noexcept : before_(std::exchange(thread_state.in_subscriber, true)) {}
  InSubscriber(InSubscriber const&) = delete;
  InSubscriber& operator=(InSubscriber const&) = delete;
  ~InSubscriber() { thread_state.in_subscriber = before_; }

 private:
  bool before_;
};

}  // namespace tracing::inline v1::internal
