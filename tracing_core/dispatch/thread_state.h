// ThreadState: the dispatcher's data of each thread.
#pragma once

#include <utility>

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::internal {

struct PrintedType;

struct ThreadState {
  Subscriber* subscriber = nullptr;  // replaces that of the process
  bool in_subscriber = false;        // records are emitted by a subscriber, and dropped
  LevelFilter thread_level{};        // see thread_level.h; valid while thread_level_owner is the owner
  std::uint64_t thread_level_owner = 0;
  PrintedType const* printed_types = nullptr;  // of the values that a statement prints now; see printed_values.h
  std::uint64_t timed_children_ns = 0;  // duration of the perf spans that ended within the innermost perf scope
};

extern constinit thread_local ThreadState thread_state;

// During its lifetime, records that this thread emits are dropped: they come from a subscriber.
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
