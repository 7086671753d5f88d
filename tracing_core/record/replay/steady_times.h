// SteadyTimes: times of a recording's entries that no step of the system's clock changes.
#pragma once

#include <cstdint>

#include "tracing_core/record/entry.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {

/// SteadyTimes: subtracts the steps of the clock. The clock was set where the times of two entries differ from the
/// ticks between them by more than ticks are exact. Without a step the recorded times stay. Single-thread.
class SteadyTimes {
 public:
  /// Call it for each entry in order. An entry with a time of its own, such as work of a GPU, is moved like the entries
  /// around it.
  Instant of(Entry const& entry) noexcept {
    if ((entry.flags & internal::kForeign) == 0) {
      if (has_begun_) look_for_step(entry);
      has_begun_ = true;
      ticks_ = entry.ticks;
      recorded_ = static_cast<std::uint64_t>(entry.time.ns);
    }
    return of(entry.time);
  }
  /// The same shift for a time near the last entry that was recorded in another way.
  Instant of(Instant time) const noexcept {
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(time.ns) - steps_)};
  }

 private:
  __extension__ using Unsigned = unsigned __int128;

  void look_for_step(Entry const& entry) noexcept {
    constexpr std::uint64_t kMinStep = 1'000'000;
    std::int64_t const ticks = static_cast<std::int64_t>(entry.ticks - ticks_);
    std::uint64_t const count = ticks < 0 ? 0 - static_cast<std::uint64_t>(ticks) : static_cast<std::uint64_t>(ticks);
    auto const passed = static_cast<std::uint64_t>(Unsigned{count} * entry.ns_per_tick >> 32);
    std::uint64_t const expected = ticks < 0 ? recorded_ - passed : recorded_ + passed;
    std::uint64_t const step = static_cast<std::uint64_t>(entry.time.ns) - expected;
    std::uint64_t const size = static_cast<std::int64_t>(step) < 0 ? 0 - step : step;
    if (size > kMinStep + passed / 1000) steps_ += step;
  }

  bool has_begun_ = false;
  std::uint64_t ticks_ = 0, recorded_ = 0;  // of the last entry
  std::uint64_t steps_ = 0;  // their sum in nanoseconds; modulo 2^64, as a damaged recording may have any times
};

}}}  // namespace tracing::v1::recording
