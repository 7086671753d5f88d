// Appends the time of a record as text: in UTC, in local time, or as the time since the start.
#pragma once

#include <cstdint>

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Appends `2026-01-08T23:56:09.977977Z`: `seconds` since the epoch, rounded down before it, and `nanoseconds` of that
/// second, cut to microseconds. Proleptic Gregorian calendar; years after 9999 print as `+10000`, years before 0 as
/// `-0001`. About 10 ns while the second stays the same, as each thread keeps the text of its last second.
/// REQUIRES: nanoseconds < 1'000'000'000.
void append_utc_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

/// The same in the time zone of the process (TZ), with its offset cut to minutes: `2026-01-09T00:56:09.977977+01:00`.
/// The offset is looked up once per quarter of an hour, as zones change theirs only at such times.
void append_local_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

/// Appends `   1.000000042s`: nanoseconds since a start, the seconds right-aligned to four characters.
void append_uptime(TextBuffer& out, std::uint64_t nanoseconds) noexcept;

}  // namespace tracing::inline v1
