#include "tracing_core/dispatch/thread_level.h"

#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 { namespace internal {

constinit std::atomic<std::uint64_t> thread_level_owner{0};

bool claim_thread_level(std::uint64_t number) noexcept {
  std::uint64_t owner = 0;
  return thread_level_owner.compare_exchange_strong(owner, number) || owner == number;
}

void release_thread_level(std::uint64_t number) noexcept { thread_level_owner.compare_exchange_strong(number, 0); }

void set_thread_level(std::uint64_t number, LevelFilter level) noexcept {
  if (thread_level_owner.load(std::memory_order_relaxed) != number) return;
  thread_state.thread_level_owner = number;
  thread_state.thread_level = level;
}

}}}  // namespace tracing::v1::internal
