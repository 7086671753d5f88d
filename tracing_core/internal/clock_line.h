// Declares ClockLine, which says when a reading of the processor's counter was.
//
// How fast the counter counts need not be known: now and then both clocks are looked at, and what the counter said in between
// was in between. So times are as right as a look is, some ten nanoseconds, however long it takes, and never jump.
#pragma once

#include <cstdint>

#include "tracing_core/internal/span_clock.h"

namespace tracing::inline v1::internal {

__extension__ using SignedWideTicks = __int128;

/// Single-thread. REQUIRES: start_span_clock() was called.
class ClockLine {
 public:
  ClockLine() noexcept : last_(look_at_both_clocks()), from_(last_), start_ns_(last_.ns) {}

  /// Looks at the clocks: what was counted until now is known from here on.
  void go_on() noexcept {
    // Two looks that are close to each other say little of the pace.
    constexpr std::uint64_t kFarNs = 1'000'000;
    if (last_.ns - from_.ns >= kFarNs) from_ = last_;
    last_ = look_at_both_clocks();
    if (last_.ticks <= from_.ticks) return;
    ns_per_tick_ = static_cast<std::uint64_t>((WideTicks{last_.ns - from_.ns} << 32) / (last_.ticks - from_.ticks));
  }
  /// Nanoseconds from when it was made to a reading of ticks_now().
  std::int64_t ns_at(std::uint64_t ticks) const noexcept {
    auto const since = static_cast<std::int64_t>(ticks - from_.ticks);
    auto const line = static_cast<std::int64_t>((SignedWideTicks{since} * ns_per_tick_) >> 32);
    return static_cast<std::int64_t>(from_.ns - start_ns_) + line;
  }
  /// So much is counted in `ns`, as far as that is known: the longer it was looked, the better.
  std::uint64_t ticks_in(std::uint64_t ns) const noexcept {
    return static_cast<std::uint64_t>((WideTicks{ns} << 32) / (ns_per_tick_ == 0 ? std::uint64_t{1} << 32 : ns_per_tick_));
  }
  /// For how long it was looked.
  std::uint64_t known_ns() const noexcept { return last_.ns - from_.ns; }

 private:
  ClockPair last_;
  ClockPair from_;
  std::uint64_t start_ns_;
  std::uint64_t ns_per_tick_ = std::uint64_t{1} << 32;  // times 2^32
};

}  // namespace tracing::inline v1::internal
