// Appends a span and its ancestors as a path: `outer{id=7}:inner`.
#pragma once

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Appends the path of `leaf` from the root on; nothing if it is empty. It has no control characters but the line ends
/// of values, after which it is indented. Of longer values it has the first 4 KiB and the size.
void append_span_path(TextBuffer& out, SpanRef leaf) noexcept;

/// Appends the path of the calling thread's current span; nothing if the thread's subscriber is not a Registry.
void append_current_path(TextBuffer& out) noexcept;

}  // namespace tracing::inline v1
