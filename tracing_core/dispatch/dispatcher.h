// Declares which subscriber receives what is emitted: one for the process, or another one for a while on a thread.
#pragma once

#include <memory>
#include <utility>

#include "tracing_core/dispatch/dispatch.h"

namespace tracing::inline v1 {

/// Makes `subscriber` the one of the whole process. False, and nothing happens, where one was set before; it lives until
/// the process ends. Thread-safe.
bool set_global_default(std::shared_ptr<Subscriber> subscriber);

/// The subscriber that this thread's records go to now; null where none.
Subscriber* current_subscriber() noexcept;

/// While it lives, records of this thread go to another subscriber. Ends on the thread that began it, innermost first.
/// A registry whose spans are still open then is kept until they are closed; another subscriber has to be kept by others.
class [[nodiscard]] ScopedDefault {
 public:
  /// Null: records of this thread go nowhere.
  explicit ScopedDefault(std::shared_ptr<Subscriber> subscriber);
  ScopedDefault(ScopedDefault const&) = delete;
  ScopedDefault& operator=(ScopedDefault const&) = delete;
  ~ScopedDefault();

 private:
  std::shared_ptr<Subscriber> subscriber_;
  Subscriber* previous_;
};

/// Calls `f()` while this thread's records go to `subscriber`; returns what it returns.
template <class F>
decltype(auto) with_default(std::shared_ptr<Subscriber> subscriber, F&& f) {
  ScopedDefault const scope(std::move(subscriber));
  return std::forward<F>(f)();
}

/// Asks every subscriber anew about every callsite: to be called after a filter has changed. Takes a lock.
void rebuild_interest();

namespace internal {

// One more, or one less, thread whose records go nowhere.
void silence_thread(bool silent) noexcept;
// To be called when a subscriber was destroyed: callsites stop counting on it.
void forget_dead_subscribers() noexcept;
// From now on `listener` is called whenever callsites may have got other answers, without a lock of ours; null ends that. One
// at a time.
void listen_to_rebuilds(void (*listener)() noexcept) noexcept;
// REQUIRES: nobody emits from the callsite any more.
void forget_callsite(Callsite& callsite) noexcept;

}  // namespace internal
}  // namespace tracing::inline v1
