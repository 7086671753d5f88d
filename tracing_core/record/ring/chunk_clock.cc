#include "tracing_core/record/ring/chunk_clock.h"

#include <algorithm>

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::uint64_t kOneToOne = std::uint64_t{1} << 32;

// The rate is wrong by the error of two readings divided by the time between them. Within some multiple of that time, a
// chunk's times are wrong by as many such errors, of some ten nanoseconds each.
constexpr std::uint64_t kMaxErrors = 8;

}  // namespace

NewChunkClock read_chunk_clock() noexcept {
  constexpr int kTries = 2;  // the thread may be interrupted between two readings
  constexpr std::uint64_t kMinExactTicks = 1 << 16;
  bool const uses_counter = span_clock.uses_counter.load(std::memory_order_acquire);
  NewChunkClock made{{0, 0, kOneToOne}, UINT32_MAX};
  std::uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    std::uint64_t const before = ticks_now();
    Instant const now = Instant::now();
    std::uint64_t const width = ticks_now() - before;
    if (width >= best_width) continue;
    best_width = width;
    made.clock.ticks = before + width / 2;
    made.clock.ns = now.ns;
  }
  if (!uses_counter) return made;
  std::uint64_t const age = made.clock.ticks - span_clock.start_ticks;
  made.clock.ns_per_tick = age < span_clock.next_calibration.load(std::memory_order_relaxed)
                               ? span_clock.ns_per_tick.load(std::memory_order_relaxed)
                               : calibrate_span_clock(age);
  made.exact_ticks = std::clamp<std::uint64_t>(age * kMaxErrors, kMinExactTicks, UINT32_MAX);
  return made;
}

}}}  // namespace tracing::v1::internal
