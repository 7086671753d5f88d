#include "tracing_core/perf/perf_json.h"

#include <memory>

#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/format/perf_line.h"
#include "tracing_core/format/timer.h"

namespace tracing::inline v1::internal {
namespace {

void append_field(TextBuffer& out, std::string_view name, Value const& value) noexcept {
  if (value.is_empty()) return;
  out.push_back(',');
  append_json_text(out, name);
  out.push_back(':');
  append_json_value(out, value);
}

}  // namespace

void begin_perf_object(TextBuffer& out, Instant time, Level level, std::string_view event) noexcept {
  static auto const& timer = *new std::shared_ptr<Timer const>(utc_timer());
  out.append("{\"timestamp\":\"");
  timer->append(out, time);
  out.append("\",\"level\":\"");
  out.append(name(level));
  out.append("\",\"fields\":{\"event\":");
  append_json_text(out, event);
}

void append_perf_span(TextBuffer& out, SpanRef span, std::uint64_t duration_ns, Instant time) noexcept {
  Metadata const& metadata = span.metadata();
  begin_perf_object(out, time, metadata.level(), kCompletionMessage);
  out.append(",\"name\":");
  append_json_text(out, metadata.name());
  JsonNames names;
  for (char const* const own : {"event", "name", "duration_us", "duration_ms"}) names.reserve(own);
  names.add_all(metadata);
  {
    SpanLock const lock = span.lock();
    span.values().for_each_last_group(metadata, [&](FieldValues const& values) {
      for (std::size_t i = 0; i < values.size(); ++i) append_field(out, names.name(i), values.value(i));
    });
  }
  out.append(",\"duration_us\":");
  out.append_uint(duration_ns / 1000);
  out.append(",\"duration_ms\":");
  append_json_float(out, static_cast<double>(duration_ns / 1000) / 1000);
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
  JsonNames names;
  names.reserve("event");
  names.add_all(metadata);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.value(i).kind() != ValueKind::message) append_field(out, names.name(i), fields.value(i));
  }
  out.append("}}\n");
}

}  // namespace tracing::inline v1::internal
