// The JSON objects that the perf layer writes, one per line.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// `{"timestamp":"...","level":"DEBUG","fields":{"event":"<event>"`: two braces are left open.
void begin_perf_object(TextBuffer& out, Instant time, Level level, std::string_view event) noexcept;

// The duration of a span, with its name and fields. A field with the name of one of ours is prefixed with `fields.`.
void append_perf_span(TextBuffer& out, SpanRef span, std::uint64_t duration_ns, Instant time) noexcept;

// A perf event: its message is the value of "event".
void append_perf_event(TextBuffer& out, Event const& event, Instant time) noexcept;

}  // namespace tracing::inline v1::internal
