// Appends the busy and idle times of a span as text.
#pragma once

#include <cstdint>

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Appends a duration with about three digits in the largest unit it reaches, as the Rust crate prints `time.busy` and
/// `time.idle`: `0.00ns`, `1.23µs`, `45.6ms`, `789s`. Rounding does not change the unit: `1000ms`.
void append_duration(TextBuffer& out, std::uint64_t nanoseconds) noexcept;

}  // namespace tracing::inline v1
