#include "tracing_core/internal/barriers.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tracing::inline v1::internal {
namespace {

long membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

constinit std::atomic<bool> has_membarrier{false};

void prepare_barriers() noexcept {
  static bool const registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  has_membarrier.store(registered, std::memory_order_relaxed);
}

void full_barrier() noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"  // which knows no such barriers; what stands around them is enough for it
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

void heavy_barrier() noexcept {
  full_barrier();
  if (has_membarrier.load(std::memory_order_relaxed)) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace tracing::inline v1::internal
