// ThreadState: the dispatcher's data of each thread.
#pragma once

#include <cstdint>
#include <utility>

#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 {
class Subscriber;

namespace internal {

struct CurrentCaller;
struct PrintedType;

struct ThreadState {
  Subscriber* subscriber = nullptr;  // replaces the process's subscriber
  bool in_subscriber = false;        // records come from a subscriber, so they are dropped
  LevelFilter thread_level{};        // see thread_level.h; valid while thread_level_owner is the owner
  std::uint64_t thread_level_owner = 0;
  PrintedType const* printed_types = nullptr;  // types of the values being printed; see printed_values.h
  std::uint64_t timed_children_ns = 0;         // total of the perf spans that ended within the innermost perf scope
  CurrentCaller* caller = nullptr;             // of a library that records for its callers; see caller_scope.h
};

extern constinit thread_local ThreadState thread_state;

// Drops the records that this thread emits while it exists: they come from a subscriber.
class InSubscriber {
 public:
  InSubscriber() noexcept : before_(std::exchange(thread_state.in_subscriber, true)) {}
  InSubscriber(InSubscriber const&) = delete;
  InSubscriber& operator=(InSubscriber const&) = delete;
  ~InSubscriber() { thread_state.in_subscriber = before_; }

 private:
  bool before_;
};

}  // namespace internal
}}  // namespace tracing::v1
