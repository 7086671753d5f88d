#include "tracing_core/perf/perf_json.h"

#include <memory>

#include "tracing_core/format/json_value.h"
#include "tracing_core/format/perf_line.h"
#include "tracing_core/format/timer.h"

namespace tracing::inline v1::internal {
namespace {

bool is_ours(std::string_view name) noexcept {
  return name == "event" || name == "name" || name == "duration_us" || name == "duration_ms";
}

void append_field(TextBuffer& out, std::string_view name, Value const& value, bool prefixed) noexcept {
  if (value.is_empty()) return;
  InlineTextBuffer<64> key;
  if (prefixed) key.append("fields.");
  key.append(name);
  out.push_back(',');
  append_json_text(out, key.view());
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
  {
    SpanLock const lock = span.lock();
    std::size_t const count = metadata.parts().field_count;
    // A field that was recorded more than once has its last value.
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t last = 0, group = 0;
      span.values().for_each_group(metadata, [&](FieldValues const& values) {
        ++group;
        if (!values.value(i).is_empty()) last = group;
      });
      group = 0;
      span.values().for_each_group(metadata, [&](FieldValues const& values) {
        if (++group == last) append_field(out, values.name(i), values.value(i), is_ours(values.name(i)));
      });
    }
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
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.value(i).kind() == ValueKind::message) continue;
    append_field(out, fields.name(i), fields.value(i), fields.name(i) == "event");
  }
  out.append("}}\n");
}

}  // namespace tracing::inline v1::internal
