// Sets which subscriber receives records: one for the process, or another one on a thread for the duration of a scope.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/dispatch/dispatch.h"

namespace tracing { inline namespace v1 {

/// Sets the subscriber of the process, which is never destroyed. Returns false and does nothing if it is null or if a
/// subscriber was set before. Thread-safe.
bool set_global_default(std::shared_ptr<Subscriber> subscriber);

/// Returns the subscriber that currently receives this thread's records, or null if no subscriber does.
Subscriber* current_subscriber() noexcept;

/// Sends the records of this thread to another subscriber while it exists. Must be destroyed on the same thread,
/// innermost first. A registry with open spans is kept until its spans are closed; the owner of any other subscriber
/// must keep it that long.
class [[nodiscard]] ScopedDefault {
 public:
  /// A null subscriber drops the records of this thread.
  explicit ScopedDefault(std::shared_ptr<Subscriber> subscriber);
  ScopedDefault(ScopedDefault const&) = delete;
  ScopedDefault& operator=(ScopedDefault const&) = delete;
  ~ScopedDefault();

 private:
  std::shared_ptr<Subscriber> subscriber_;
  Subscriber* previous_;
};

/// Calls `f()` while `subscriber` receives this thread's records; returns the result of `f()`.
template <class F>
decltype(auto) with_default(std::shared_ptr<Subscriber> subscriber, F&& f) {
  ScopedDefault const scope(std::move(subscriber));
  return std::forward<F>(f)();
}

/// Queries every subscriber about every callsite again. Call this after a filter has changed. Takes a lock.
void rebuild_interest();

namespace internal {

// Discards the answers that callsites have cached. Call it after a subscriber was destroyed.
void forget_dead_subscribers() noexcept;
// Removes a callsite that is about to be freed. REQUIRES: no thread emits from the callsite any more.
void forget_callsite(Callsite& callsite) noexcept;

}  // namespace internal
}}  // namespace tracing::v1
