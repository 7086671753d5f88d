// A custom format for events, another for fields, and a custom timer.
#include <string_view>
#include <utility>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace {

using tracing::EventView, tracing::FieldValues, tracing::TextBuffer, tracing::TextStyle;

// Appends `INFO  reading rows=3`.
bool append_line(TextBuffer& out, EventView const& event) {
  std::string_view const level = tracing::name(event.metadata.level());
  out.append(level);
  out.append(6 - level.size(), ' ');
  tracing::default_fields()->append(out, event.fields, {});
  out.push_back('\n');
  return true;
}

// Appends `reading; rows -> 3`, inside the other formats.
void append_fields(TextBuffer& out, FieldValues const& fields, TextStyle style) {
  char const* separator = "";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.value(i).is_empty()) continue;  // a field without a value
    out.append(std::exchange(separator, "; "));
    if (fields.name(i) == "message") {
      tracing::append_message_text(out, fields.value(i), style);
    } else {
      out.append(fields.name(i));
      out.append(" -> ");
      tracing::append_debug(out, fields.value(i));
    }
  }
}

bool append_day(TextBuffer& out, tracing::Instant time) {
  out.append(time ? "today" : "some day");
  return true;
}

void import_with(tracing::PrintOptions options) {
  options.writer = examples::standard_output();
  tracing::ScopedDefault const scope(tracing::RegistryBuilder().with(tracing::print_layer(std::move(options))).build());
  TRACE_SPAN(info, "import", tracing::kv("table", "users"));
  TRACE_INFO("reading", tracing::kv("rows", 3));
  TRACE_WARN("a row is empty", tracing::kv("row", 2));
}

}  // namespace

int main() {
  tracing::PrintOptions own;
  own.event_format = tracing::make_event_format(append_line);
  import_with(std::move(own));

  tracing::PrintOptions fields_and_time;
  fields_and_time.format.fields = tracing::make_field_format(append_fields);
  fields_and_time.format.timer = tracing::make_timer(append_day);
  import_with(std::move(fields_and_time));
}
