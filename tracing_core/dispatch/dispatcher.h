// Which subscriber receives records: one for the process, or another one on a thread for the duration of a scope.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/dispatch/dispatch.h"

namespace tracing::inline v1 {

/// Sets the subscriber of the process, which is never destroyed. Returns false and does nothing if it is null or one
/// was set before. Thread-safe.
bool set_global_default(std::shared_ptr<Subscriber> subscriber);

/// The subscriber that receives this thread's records now; null if there is none.
Subscriber* current_subscriber() noexcept;

/// Sends the records of this thread to another subscriber during its lifetime. Must be destroyed on the same thread,
/// innermost first. A registry with open spans is kept until they are closed; a subscriber of another type must be kept
/// by its owner.
class [[nodiscard]] ScopedDefault {
 public:
  /// Null drops the records of this thread.
  explicit ScopedDefault(std::shared_ptr<Subscriber> subscriber);
  ScopedDefault(ScopedDefault const&) = delete;
  ScopedDefault& operator=(ScopedDefault const&) = delete;
  ~ScopedDefault();

 private:
  std::shared_ptr<Subscriber> subscriber_;
  Subscriber* previous_;
};

/// Calls `f()` while `subscriber` receives this thread's records, and returns its result.
template <class F>
decltype(auto) with_default(std::shared_ptr<Subscriber> subscriber, F&& f) {
  ScopedDefault const scope(std::move(subscriber));
  return std::forward<F>(f)();
}

/// Queries every subscriber about every callsite again. Call it after a filter has changed. Takes a lock.
void rebuild_interest();

namespace internal {

// Call it after a subscriber was destroyed, to discard the answers that callsites have cached.
void forget_dead_subscribers() noexcept;
// REQUIRES: no thread emits from the callsite any more.
void forget_callsite(Callsite& callsite) noexcept;

}  // namespace internal
}  // namespace tracing::inline v1
