// CallsiteRegistry: keeps the callsites that were reached and the subscribers, and gives callsites the answers that
// they cache.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 {
class Callsite;
class Metadata;
class Subscriber;

namespace internal {

/// Keeps all callsites and subscribers of the process. Thread-safe. Takes one lock for everything, which callsites need
/// only until their answer is cached.
class CallsiteRegistry {
 public:
  constexpr CallsiteRegistry() noexcept = default;

  /// Adds a callsite that was reached for the first time and caches the subscribers' answer in it. If memory runs out,
  /// this record queries its subscriber, and the next record tries again. ThreadSanitizer sees no order between threads
  /// here.
  void add(Callsite& callsite) noexcept;
  /// Removes a callsite that is about to be freed, in constant time. Does nothing if it was never reached.
  void remove(Callsite& callsite) noexcept;
  /// Calls `each` for every callsite, newest first, with the lock held.
  void visit(void (*each)(void* context, Metadata const& metadata), void* context);

  /// Adds a subscriber, unless it is known already, and queries all subscribers about every callsite.
  void add_subscriber(std::shared_ptr<Subscriber> const& subscriber);
  /// Makes `subscriber` the subscriber of the process, which is never released. Returns false if the process already
  /// has one.
  bool set_global(std::shared_ptr<Subscriber> const& subscriber);
  /// Forgets subscribers that were destroyed.
  void remove_dead_subscribers() noexcept;
  /// Increments or decrements the number of threads whose records are dropped.
  void silence_thread(bool silent);
  /// Queries all subscribers about every callsite.
  void rebuild();

  void lock_for_fork() TRACING_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock_after_fork() TRACING_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

  Subscribers live_subscribers() TRACING_REQUIRES(mutex_);
  void cache_answer(Callsite& callsite, Subscribers const& live) noexcept TRACING_REQUIRES(mutex_);
  template <class F>
  void rebuild_if(F&& change);

  Mutex mutex_;
  Callsite* callsites_ TRACING_GUARDED_BY(mutex_) = nullptr;  // a doubly linked list
  std::vector<std::weak_ptr<Subscriber>> subscribers_ TRACING_GUARDED_BY(mutex_);
  std::shared_ptr<Subscriber> global_ TRACING_GUARDED_BY(mutex_);
  std::size_t silenced_threads_ TRACING_GUARDED_BY(mutex_) = 0;
};

CallsiteRegistry& callsite_registry() noexcept;

}  // namespace internal
}}  // namespace tracing::v1
