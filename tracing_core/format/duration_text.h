// Appends durations as text: the busy and idle times of a span, and the time since a test began.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Appends a duration with about three digits in the largest unit it reaches, as the Rust crate prints `time.busy` and
/// `time.idle`: `0.00ns`, `1.23µs`, `45.6ms`, `789s`. A value that is rounded up to 1000 keeps its unit: `1000ms`.
void append_duration(TextBuffer& out, std::uint64_t nanoseconds) noexcept;

/// With this width, text after times of up to a second or so is aligned.
inline constexpr std::size_t kRelativeTimeWidth = 11;
/// Appends `+1.204 ms`, after blanks if it is shorter than `width`.
void append_relative_time(TextBuffer& out, std::int64_t nanoseconds, std::size_t width = kRelativeTimeWidth) noexcept;

}}  // namespace tracing::v1
