#include "tracing_core/model/instant.h"

#include <ctime>

#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 {

Instant Instant::now() noexcept {
  if (std::uint64_t const simulated = support::simulated_ns.load(std::memory_order_relaxed)) [[unlikely]]
    return {static_cast<std::int64_t>(simulated)};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return {static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec};
}

}}  // namespace tracing::v1
