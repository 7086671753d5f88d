// Appends the time of a record as text: in UTC, in local time, or since the start.
#pragma once

#include <cstdint>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Appends `2026-01-08T23:56:09.977977Z`: `seconds` since the epoch, rounded down before it, and `nanoseconds` of that
/// second, cut to microseconds. Proleptic Gregorian calendar; years after 9999 print as `+10000`, years before 0 as
/// `-0001`. Takes about 10 ns while the second does not change, as each thread keeps the text of its last second.
/// REQUIRES: nanoseconds < 1'000'000'000.
void append_utc_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

/// Appends the time in the time zone of the process (TZ), with the zone's offset cut to minutes:
/// `2026-01-09T00:56:09.977977+01:00`. The offset is looked up once per quarter of an hour, as zones change their
/// offsets only at such times.
void append_local_time(TextBuffer& out, std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

/// Appends `   1.000000042s`: nanoseconds since a start, the seconds right-aligned to four characters.
void append_uptime(TextBuffer& out, std::uint64_t nanoseconds) noexcept;

}}  // namespace tracing::v1
