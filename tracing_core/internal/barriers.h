// Declares a pair of barriers: a light one for threads that pass often, and a heavy one for who comes seldom.
//
// What a thread stores before its light barrier and another one before its heavy barrier, at least one of the two sees in what
// it loads behind. The system brings all threads to a barrier when the heavy one asks (sys_membarrier(2)), so the light one
// costs nothing; where it cannot, both are full barriers.
#pragma once

#include <atomic>

namespace tracing::inline v1::internal {

extern constinit std::atomic<bool> has_membarrier;

/// REQUIRES: called before the other two; it may take milliseconds the first time. Thread-safe.
void prepare_barriers() noexcept;
void full_barrier() noexcept;
inline void light_barrier() noexcept {
  if (has_membarrier.load(std::memory_order_relaxed)) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    full_barrier();
  }
}
/// Takes microseconds.
void heavy_barrier() noexcept;

}  // namespace tracing::inline v1::internal
