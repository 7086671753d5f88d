// TickConverter: converts readings of ticks_now() to times.
//
// It reads both clocks now and then and interpolates between these readings. So the error stays as small as the error
// of one reading, some ten nanoseconds, however long the process runs, and times never jump.
#pragma once

#include <cstdint>

#include "tracing_core/support/namespaces.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace support {

__extension__ using SignedWideTicks = __int128;

/// Converts ticks to nanoseconds since its construction. Single-thread. REQUIRES: start_span_clock() was called.
class TickConverter {
 public:
  TickConverter() noexcept : last_(read_both_clocks()), from_(last_), start_ns_(last_.ns) {}

  /// Reads the clocks. ns_at() is then exact for ticks until now.
  void calibrate() noexcept {
    // Two readings close to each other give a poor estimate of the rate, so the older one is kept until they are far
    // apart.
    constexpr std::uint64_t kFarNs = 1'000'000;
    if (last_.ns - from_.ns >= kFarNs) from_ = last_;
    last_ = read_both_clocks();
    if (last_.ticks <= from_.ticks) return;
    ns_per_tick_ = static_cast<std::uint64_t>((WideTicks{last_.ns - from_.ns} << 32) / (last_.ticks - from_.ticks));
  }
  /// Returns the nanoseconds from the converter's construction to a reading of ticks_now().
  std::int64_t ns_at(std::uint64_t ticks) const noexcept {
    auto const since = static_cast<std::int64_t>(ticks - from_.ticks);
    auto const elapsed = static_cast<std::int64_t>((SignedWideTicks{since} * ns_per_tick_) >> 32);
    return static_cast<std::int64_t>(from_.ns - start_ns_) + elapsed;
  }
  /// Returns the number of ticks in `ns`; the larger calibrated_ns() is, the more exact.
  std::uint64_t ticks_in(std::uint64_t ns) const noexcept {
    return static_cast<std::uint64_t>((WideTicks{ns} << 32) /
                                      (ns_per_tick_ == 0 ? std::uint64_t{1} << 32 : ns_per_tick_));
  }
  /// Returns the time between the two readings that the rate was calculated from.
  std::uint64_t calibrated_ns() const noexcept { return last_.ns - from_.ns; }

 private:
  ClockPair last_;
  ClockPair from_;
  std::uint64_t start_ns_;
  std::uint64_t ns_per_tick_ = std::uint64_t{1} << 32;  // times 2^32
};

}}}  // namespace tracing::v1::support
