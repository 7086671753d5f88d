#include "tracing_core/dispatch/callsite_registry.h"

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/loaded_object.h"
#include "tracing_core/support/never_destroyed.h"
#include "tracing_core/support/second_copy.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/support/thread_sanitizer.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constinit NeverDestroyed<CallsiteRegistry> the_registry;

void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { the_registry->lock_for_fork(); }
void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { the_registry->unlock_after_fork(); }

bool was_in_subscriber = false;  // state of the forking thread; only one thread forks at a time
void drop_statements() noexcept { was_in_subscriber = std::exchange(thread_state.in_subscriber, true); }
void allow_statements() noexcept { thread_state.in_subscriber = was_in_subscriber; }

[[gnu::constructor]] void register_fork_handler_of_callsites() noexcept {
  set_fork_handler(ForkStage::statements, {drop_statements, allow_statements, allow_statements});
  set_fork_handler(ForkStage::dispatcher, {lock_for_fork, unlock_after_fork, unlock_after_fork});
}

}  // namespace

CallsiteRegistry& callsite_registry() noexcept { return *the_registry; }

// Returns the subscribers that still exist, and removes the others from the list. Destroy the result after releasing
// the lock: it may hold the last reference to a subscriber.
CallsiteRegistry::Subscribers CallsiteRegistry::live_subscribers() {
  Subscribers live;
  live.reserve(subscribers_.size());  // so that nothing throws while the list changes
  std::erase_if(subscribers_, [&live](std::weak_ptr<Subscriber> const& weak) {
    auto subscriber = weak.lock();
    if (subscriber == nullptr) return true;
    live.push_back(std::move(subscriber));
    return false;
  });
  return live;
}

// Caches the answer of a subscriber if it alone receives the records of all threads. Otherwise the answer depends on
// the thread, so each record queries the subscriber of its thread.
void CallsiteRegistry::cache_answer(Callsite& callsite, Subscribers const& live) noexcept {
  Metadata const& metadata = callsite.metadata();
  Registration result;
  for (auto const& subscriber : live) {
    if (metadata.level() > subscriber->max_level_hint()) continue;
    Registration const one = subscriber->register_callsite(metadata);
    if (one.interest != Interest::never) result = one;
  }
  bool const is_alone = live.size() == 1 && live.front() == global_ && silenced_threads_ == 0;
  if (!is_alone && result.interest != Interest::never) result = {Interest::sometimes, 0, Callsite::kQuerySubscriber};
  callsite.answer_.store(Callsite::answer_of(result), std::memory_order_release);
  bool const by_thread_level = result.by_thread_level && result.interest == Interest::sometimes;
  std::uint8_t const state = by_thread_level ? Callsite::kByThreadLevel : static_cast<std::uint8_t>(result.interest);
  callsite.state_.store(state, std::memory_order_release);
}

// Queries the subscribers about every callsite if `change()`, called with the lock held, returns true.
template <class F>
void CallsiteRegistry::rebuild_if(F&& change) {
  InSubscriber const in_subscriber;
  Subscribers live;  // destroyed after the lock is released
  MutexLock const lock(mutex_);
  if (!change()) return;
  tsan_acquire(&callsites_);
  live = live_subscribers();
  for (auto const& subscriber : live) subscriber->prepare_interest();
  for (Callsite* callsite = callsites_; callsite != nullptr; callsite = callsite->next_) cache_answer(*callsite, live);
  tsan_release(this);
}

void CallsiteRegistry::add(Callsite& callsite) noexcept {
  InSubscriber const in_subscriber;  // before anything is allocated: the program's operator new may have a statement
  tsan_acquire(this);                // acquires what rebuild_if() published
  tsan_release(&callsites_);         // releases what made the callsite; other calls of add() do not acquire it
  UnseenByTsan const unseen;
  report_second_copy_once();
  if (!callsite.metadata().parts().owned) keep_loaded(&callsite);
  if (callsite.metadata().is_perf()) start_span_clock();
  Subscribers live;
  MutexLock const lock(mutex_);
  if (callsite.state_.load(std::memory_order_relaxed) != Callsite::kUnregistered) return;
  try {
    live = live_subscribers();
  } catch (std::bad_alloc const&) {
    return;
  }
  callsite.next_ = callsites_;
  if (callsites_ != nullptr) callsites_->previous_ = &callsite;
  callsites_ = &callsite;
  cache_answer(callsite, live);
}

void CallsiteRegistry::remove(Callsite& callsite) noexcept {
  MutexLock const lock(mutex_);
  tsan_acquire(&callsites_);
  if (callsite.state_.load(std::memory_order_relaxed) == Callsite::kUnregistered) return;
  (callsite.previous_ != nullptr ? callsite.previous_->next_ : callsites_) = callsite.next_;
  if (callsite.next_ != nullptr) callsite.next_->previous_ = callsite.previous_;
}

void CallsiteRegistry::visit(void (*each)(void* context, Metadata const& metadata), void* context) {
  InSubscriber const in_subscriber;
  MutexLock const lock(mutex_);
  tsan_acquire(&callsites_);
  for (Callsite* callsite = callsites_; callsite != nullptr; callsite = callsite->next_)
    each(context, callsite->metadata());
}

void CallsiteRegistry::add_subscriber(std::shared_ptr<Subscriber> const& subscriber) {
  report_second_copy_once();
  rebuild_if([&]() TRACING_REQUIRES(mutex_) {
    // Does not call weak.lock(): its result might become the last reference, and its end would take the lock that is
    // held here.
    bool const known = std::any_of(subscribers_.begin(), subscribers_.end(), [&](auto const& weak) {
      return !weak.owner_before(subscriber) && !subscriber.owner_before(weak);
    });
    if (!known) subscribers_.push_back(subscriber);
    return !known;
  });
}

bool CallsiteRegistry::set_global(std::shared_ptr<Subscriber> const& subscriber) {
  MutexLock const lock(mutex_);
  if (global_ != nullptr) return false;
  global_ = subscriber;
  return true;
}

void CallsiteRegistry::remove_dead_subscribers() noexcept {
  try {
    rebuild_if([this]() TRACING_REQUIRES(mutex_) {
      return std::any_of(subscribers_.begin(), subscribers_.end(), [](auto const& weak) { return weak.expired(); });
    });
  } catch (std::bad_alloc const&) {  // the next rebuild removes the dead subscribers
  }
}

void CallsiteRegistry::silence_thread(bool silent) {
  rebuild_if([this, silent]() TRACING_REQUIRES(mutex_) {
    silenced_threads_ += silent ? 1 : -1;
    return true;
  });
}

void CallsiteRegistry::rebuild() {
  rebuild_if([] { return true; });
}

}}}  // namespace tracing::v1::internal
