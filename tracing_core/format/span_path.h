// Appends a span and its ancestors as a path: `outer{id=7}:inner`.
#pragma once

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

class SpanPrefix;

/// Appends the path of `leaf` from the root on; nothing if `leaf` is empty. The only control characters in it are the
/// line ends of values, after which the text is indented. A value of more than 4 KiB is cut, with its size added. If
/// `prefix` is not null, it learns where the fields are.
void append_span_path(TextBuffer& out, SpanRef leaf, SpanPrefix* prefix = nullptr) noexcept;

/// Returns the calling thread's current span; none if the thread's subscriber is not a Registry.
SpanRef current_span_of_thread() noexcept;

/// Appends the path of the calling thread's current span; nothing if the thread's subscriber is not a Registry.
void append_current_path(TextBuffer& out) noexcept;

}}  // namespace tracing::v1
