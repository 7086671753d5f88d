// Formats the JSON objects that the perf layer writes, one per line.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace internal {

// Appends `{"timestamp":"...","level":"DEBUG","fields":{"event":"<event>"`. Leaves two braces open.
void begin_perf_object(TextBuffer& out, Instant time, Level level, std::string_view event) noexcept;

// Appends the duration of a span, with its name and fields. A field whose name is already used in the object gets the
// prefix `fields.`.
void append_perf_span(TextBuffer& out, SpanRef span, std::uint64_t duration_ns, Instant time) noexcept;

// Appends a perf event, whose message is the value of "event".
void append_perf_event(TextBuffer& out, Event const& event, Instant time) noexcept;

}}}  // namespace tracing::v1::internal
