// Declares how the spans that something stands in are written as a path: `outer{id=7}:inner`.
#pragma once

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Appends the path of `leaf` from the root on; nothing where it is empty.
void append_span_path(TextBuffer& out, SpanRef leaf) noexcept;

/// Appends the path of the spans that the calling thread is in. Nothing where its records go to no Registry.
void append_current_path(TextBuffer& out) noexcept;

}  // namespace tracing::inline v1
