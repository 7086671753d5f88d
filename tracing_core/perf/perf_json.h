// Declares the objects that the perf layer writes as JSON, one on a line.
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

// How long a span took, with its name and fields. A field that is called like one of ours has `fields.` in front.
void append_perf_span(TextBuffer& out, SpanRef span, std::uint64_t duration_ns, Instant time) noexcept;

// A perf event: its message is the value of "event".
void append_perf_event(TextBuffer& out, Event const& event, Instant time) noexcept;

}  // namespace tracing::inline v1::internal
