// Declares how exporters know that the process was forked since they were made, and what becomes of those that were.
#pragma once

#include <pthread.h>

#include <atomic>

namespace tracing::inline v1::internal {

inline constinit std::atomic<unsigned> forks_counted{0};

// Counts forks from now on.
inline void count_forks() noexcept {
  [[maybe_unused]] static bool const once = [] {
    return pthread_atfork(nullptr, nullptr, [] { forks_counted.fetch_add(1, std::memory_order_relaxed); }) == 0;
  }();
}

// How often the process was forked, in the child's count. A load, where getpid() would be a system call.
inline unsigned fork_count() noexcept { return forks_counted.load(std::memory_order_relaxed); }

// Deletes what a shared pointer let go of. In a forked child it is kept: what another thread of the parent was changing cannot
// be destroyed. T has is_in_forked_child() and a pointer `next_abandoned_`.
struct Abandoned {
  template <class T>
  static void let_go(T* thing) noexcept {
    if (!thing->is_in_forked_child()) return delete thing;
    static constinit std::atomic<T*> all{nullptr};
    thing->next_abandoned_ = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(thing->next_abandoned_, thing, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
};

}  // namespace tracing::inline v1::internal
