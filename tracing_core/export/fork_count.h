// Declares how exporters know that the process was forked since they were made.
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

}  // namespace tracing::inline v1::internal
