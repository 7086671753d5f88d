// Declares how the time of a record is appended as text: in UTC, in local time, or as the time since the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Appends `2026-01-08T23:56:09.977977Z`: `seconds` since the epoch (before it: the next lower second) and `nanoseconds`
/// of that second, which are cut to microseconds. Proleptic Gregorian calendar; every second has a text: years beyond
/// 9999 are `+10000`, before year 0 `-0001`. About 10 ns while the second stays the same, as it is kept per thread.
/// REQUIRES: nanoseconds < 1'000'000'000.
void append_utc_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

/// As above in the time zone of the process (TZ), with its offset: `2026-01-09T00:56:09.977977+01:00`. The offset is
/// looked up once in a quarter of an hour, between which no zone changes its own, and cut to whole minutes.
void append_local_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

/// Appends `   1.000000042s`: nanoseconds since a start, the whole seconds right-aligned to four characters.
void append_uptime(TextBuffer& out, std::uint64_t nanoseconds) noexcept;

/// Appends like append_utc_time(), remembering the last second's text; for those who keep one of their own.
/// Thread-compatible.
class UtcTimeText {
 public:
  constexpr UtcTimeText() noexcept = default;

  void append(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
    append(out, seconds, nanoseconds, "Z");
  }
  /// With another text than `Z` for the zone.
  void append(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds, std::string_view zone) noexcept;

 private:
  // "-292277022657-01-27T08:29:52." is the longest.
  static constexpr std::size_t kLongestPrefix = 32;

  void renew(std::int64_t seconds) noexcept;

  std::int64_t seconds_ = 0;
  std::size_t prefix_size_ = 0;  // 0: nothing remembered yet
  char prefix_[kLongestPrefix] = {};
};

}  // namespace tracing::inline v1
