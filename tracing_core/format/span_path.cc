#include "tracing_core/format/span_path.h"

#include <memory>

#include "tracing_core/collect/registry.h"
#include "tracing_core/format/event_format.h"
#include "tracing_core/internal/type_information.h"
#include "tracing_core/model/text_escape.h"

namespace tracing::inline v1 {

void append_span_path(TextBuffer& out, SpanRef leaf) noexcept {
  static auto const* const fields = new std::shared_ptr<FieldFormat const>(default_fields());
  struct Path {
    TextBuffer& out;
    std::size_t begin;
  } path{out, out.size()};
  visit_from_root(
      leaf,
      [](void* context, SpanRef span) {
        auto& [text, begin] = *static_cast<Path*>(context);
        if (text.size() != begin) text.push_back(':');
        append_sanitized_in_line(text, span.metadata().is_perf() ? "perf" : span.metadata().name());
        text.push_back('{');
        std::size_t const before = text.size();
        (*fields)->append_span(text, span, {});
        if (text.size() == before) return text.resize_down(before - 1);
        text.push_back('}');
      },
      &path);
}

void append_current_path(TextBuffer& out) noexcept {
  Subscriber* const subscriber = current_subscriber();
  if (subscriber == nullptr || !internal::has_type_information(subscriber)) return;
  auto const* const registry = dynamic_cast<Registry*>(subscriber);
  if (registry == nullptr) return;
  SpanRef innermost;
  registry->visit_current_spans(
      [](void* context, SpanRef span) {
        auto& found = *static_cast<SpanRef*>(context);
        if (!found) found = span;
      },
      &innermost);
  append_span_path(out, innermost);
}

}  // namespace tracing::inline v1
