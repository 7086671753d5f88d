#include "tracing_core/perf/perf_json.h"

#include <memory>

#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_perf.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/format/timer.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

void append_field(TextBuffer& out, std::string_view name, Value const& value) noexcept {
  if (value.is_empty()) return;
  out.push_back(',');
  formatting::append_json_text(out, name);
  out.push_back(':');
  formatting::append_json_value(out, value);
}

// Leaves two braces open.
void begin_object(TextBuffer& out, Instant time, Level level) noexcept {
  static auto const& timer = *new std::shared_ptr<Timer const>(utc_timer());
  out.append("{\"timestamp\":\"");
  timer->append(out, time);
  out.append("\",\"level\":\"");
  out.append(name(level));
  out.append("\",\"fields\":{");
}

}  // namespace

void begin_perf_object(TextBuffer& out, Instant time, Level level, std::string_view event) noexcept {
  begin_object(out, time, level);
  out.append("\"event\":");
  formatting::append_json_text(out, event);
}

void append_perf_span(TextBuffer& out, SpanRef span, std::uint64_t duration_ns, Instant time) noexcept {
  begin_object(out, time, span.metadata().level());
  std::uint64_t const us = duration_ns / 1000;
  formatting::append_perf_members(out, span, Value::of_u64(us), Value::of_f64(static_cast<double>(us) / 1000), false);
  out.append("}}\n");
}

void append_perf_event(TextBuffer& out, Event const& event, Instant time) noexcept {
  Metadata const& metadata = event.metadata();
  InlineTextBuffer<128> message;
  FieldValues const& fields = event.fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.value(i).kind() == ValueKind::message) append_message(message, fields.value(i));
  }
  begin_perf_object(out, time, metadata.level(), message.view());
  formatting::JsonNames names;
  names.reserve("event");
  names.add_all(metadata);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.value(i).kind() != ValueKind::message) append_field(out, names.name(i), fields.value(i));
  }
  out.append("}}\n");
}

}}}  // namespace tracing::v1::internal
