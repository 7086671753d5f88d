#include "tracing_core/format/span_path.h"

#include "tracing_core/collect/registry.h"
#include "tracing_core/format/format_parts.h"
#include "tracing_core/format/span_prefix.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 {

namespace {

void append_fields(TextBuffer& out, SpanRef span) noexcept {
  out.push_back('{');
  std::size_t const before = out.size();
  default_fields()->append_span(out, span, {.sanitize_values = true, .shorten_span_values = true});
  if (out.size() == before) return out.resize_down(before - 1);
  out.push_back('}');
}

}  // namespace

void append_span_path(TextBuffer& out, SpanRef leaf, SpanPrefix* prefix) noexcept {
  std::size_t const begin = out.size();
  if (prefix != nullptr) prefix->begin_spans(out);
  auto const append = [&](SpanRef span) {
    if (out.size() != begin) out.push_back(':');
    append_sanitized_in_line(out, formatting::printed_name(span.metadata()));
    std::size_t const fields = out.size();
    append_fields(out, span);
    if (prefix != nullptr) prefix->add_fields(out, fields, span);
  };
  formatting::for_each_from_root(leaf, append, [&] { out.append(formatting::kMoreSpans); });
  if (prefix != nullptr) prefix->end_spans(out);
}

SpanRef current_span_of_thread() noexcept {
  Subscriber* const subscriber = current_subscriber();
  Registry const* const registry = subscriber == nullptr ? nullptr : subscriber->as_registry();
  SpanRef innermost;
  if (registry == nullptr) return innermost;
  registry->visit_current_spans(
      [](void* context, SpanRef span) {
        auto& found = *static_cast<SpanRef*>(context);
        if (!found) found = span;
      },
      &innermost);
  return innermost;
}

void append_current_path(TextBuffer& out) noexcept { append_span_path(out, current_span_of_thread()); }

}}  // namespace tracing::v1
