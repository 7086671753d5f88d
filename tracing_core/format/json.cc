#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tracing_core/format/format_parts.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/text_escape.h"

namespace tracing::inline v1::internal {
namespace {

// The text of a span as JSON is the same for all JSON formats.
void const* json_key() noexcept {
  static constexpr char key = 0;
  return &key;
}

// Appends what `append_debug` prints as a string.
void append_as_string(TextBuffer& out, Value const& value) noexcept {
  std::size_t const begin = out.size();
  out.push_back('"');
  append_debug(out, value);
  bool special = false;
  for (char const c : out.view().substr(begin + 1)) special |= (c < ' ') | (c == '"') | (c == '\\');
  if (!special) [[likely]] return out.push_back('"');
  InlineTextBuffer<512> copy;
  copy.append(out.view().substr(begin + 1));
  out.resize_down(begin);
  append_json_string(out, copy.view());
}

void append_error_string(TextBuffer& out, Value const& value) noexcept {
  struct First {
    TextBuffer& out;
    bool done;
  } first{out, false};
  value.error_type().visit(value.as_pointer(), &first, [](void* context, std::string_view text) {
    First& f = *static_cast<First*>(context);
    if (!f.done) append_json_string(f.out, text);
    f.done = true;
  });
  if (!first.done) out.append("\"\"");
}

// A value of an event.
void append_value(TextBuffer& out, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::boolean: return out.append(value.as_bool() ? "true" : "false");
    case ValueKind::i64: return out.append_int(value.as_i64());
    case ValueKind::u64: return out.append_uint(value.as_u64());
    case ValueKind::f64: return append_json_float(out, value.as_double());
    case ValueKind::f32: return append_json_float(out, static_cast<float>(value.as_double()));
    case ValueKind::text: return append_json_string(out, value.as_text());
    case ValueKind::error: return append_error_string(out, value);
    default: return append_as_string(out, value);
  }
}

// A value of a span. The reference reads its own text again whenever values are recorded and when it prints: `reads` times.
void append_span_value(TextBuffer& out, Value const& value, std::uint32_t reads) noexcept {
  if (value.kind() == ValueKind::f64) {
    double number = value.as_double();
    for (double previous = number; reads > 0; --reads, previous = number) {
      number = reread_json_float(number);
      if (number == previous) break;
    }
    return append_json_float(out, number);
  }
  if (value.kind() == ValueKind::bytes) {
    return append_json_byte_array(out, std::as_bytes(std::span(value.as_text())));
  }
  append_value(out, value);
}

// Whether it comes to the reference as something that prints itself; such fields alone have their names looked at.
bool prints_itself(ValueKind kind) noexcept {
  switch (kind) {
    case ValueKind::boolean:
    case ValueKind::i64:
    case ValueKind::u64:
    case ValueKind::f64:
    case ValueKind::f32:
    case ValueKind::text:
    case ValueKind::bytes: return false;
    default: return true;
  }
}

struct Member {
  std::string_view key;
  std::uint32_t value_begin;
  std::uint32_t value_size;
};

// Appends `{"x":1,"name":"span"}`: the fields sorted by name, of those recorded again the last value.
void append_span_object(TextBuffer& out, SpanRef span) noexcept {
  Metadata const& metadata = span.metadata();
  InlineTextBuffer<512> values;
  Member members[256];
  std::size_t count = 0;
  std::uint32_t reads = span.values().group_count();
  span.values().for_each_group(metadata, [&](FieldValues const& group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      Value const value = group.value(i);
      if (value.is_empty()) continue;
      std::string_view key = group.name(i);
      if (prints_itself(value.kind())) {
        if (key.starts_with("log.")) continue;
        if (key.starts_with("r#")) key.remove_prefix(2);
      }
      auto const begin = static_cast<std::uint32_t>(values.size());
      append_span_value(values, value, reads);
      Member const member{key, begin, static_cast<std::uint32_t>(values.size()) - begin};
      Member* const place = std::lower_bound(members, members + count, key, [](Member const& m, std::string_view k) { return m.key < k; });
      if (place != members + count && place->key == key) {
        *place = member;
      } else if (count < std::size(members)) {
        std::move_backward(place, members + count, members + count + 1);
        *place = member;
        ++count;
      }
    }
    --reads;
  });
  out.push_back('{');
  for (Member const& member : std::span(members, count)) {
    append_json_string(out, member.key);
    out.push_back(':');
    out.append(values.view().substr(member.value_begin, member.value_size));
    out.push_back(',');
  }
  out.append("\"name\":");
  append_json_string(out, metadata.name());
  out.push_back('}');
}

class Json final : public EventFormat {
 public:
  explicit Json(FormatOptions const& options) : options_(options) {}

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    Metadata const& metadata = event.metadata;
    out.push_back('{');
    if (options_.timer != nullptr && !append_timestamp(out, event)) return false;
    if (options_.level) {
      out.append("\"level\":\"");
      out.append(level_text(metadata.level()));
      out.append("\",");
    }
    if (options_.flatten_event) {
      append_fields(out, event.fields);
    } else {
      out.append("\"fields\":{");
      append_fields(out, event.fields);
      end_object(out);
    }
    if (options_.target) append_text(out, "\"target\":", metadata.target());
    if (options_.file.value_or(false) && !metadata.file().empty()) append_text(out, "\"filename\":", metadata.file());
    if (options_.line_number.value_or(false) && metadata.line() != 0) {
      out.append("\"line_number\":");
      out.append_uint(metadata.line());
      out.push_back(',');
    }
    if (event.shown) append_spans(out, event);
    if (options_.thread_names || options_.thread_ids) append_thread(out, event.context.track());
    if (out.view().back() == ',') out.resize_down(out.size() - 1);
    out.append("}\n");
    return true;
  }

 private:
  bool append_timestamp(TextBuffer& out, EventView const& event) const noexcept {
    out.append("\"timestamp\":\"");
    std::size_t const begin = out.size();
    if (!options_.timer->append(out, event.context.time())) return false;
    bool special = false;
    for (char const c : out.view().substr(begin)) special |= (c < ' ') | (c == '"') | (c == '\\');
    if (special) [[unlikely]] {
      InlineTextBuffer<128> copy;
      copy.append(out.view().substr(begin));
      out.resize_down(begin - 1);
      append_json_string(out, copy.view());
      out.push_back(',');
    } else {
      out.append("\",");
    }
    return true;
  }

  static void append_fields(TextBuffer& out, FieldValues const& fields) noexcept {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Value const value = fields.value(i);
      if (value.is_empty()) continue;
      append_json_string(out, fields.name(i));
      out.push_back(':');
      append_value(out, value);
      out.push_back(',');
    }
  }

  static void end_object(TextBuffer& out) noexcept {
    if (out.view().back() == ',') out.resize_down(out.size() - 1);
    out.append("},");
  }

  static void append_text(TextBuffer& out, std::string_view key, std::string_view text) noexcept {
    out.append(key);
    append_json_string(out, text);
    out.push_back(',');
  }

  static void append_span(TextBuffer& out, SpanRef span) noexcept {
    append_cached(out, span, json_key(), [&](TextBuffer& text) { append_span_object(text, span); });
    out.push_back(',');
  }

  void append_spans(TextBuffer& out, EventView const& event) const noexcept {
    if (options_.current_span) {
      out.append("\"span\":");
      append_span(out, event.shown);
    }
    if (options_.span_list) {
      out.append("\"spans\":[");
      for_each_from_root(event.context.current_span(), [&](SpanRef span) { append_span(out, span); });
      if (out.view().back() == ',') out.resize_down(out.size() - 1);
      out.append("],");
    }
  }

  void append_thread(TextBuffer& out, Track const& track) const noexcept {
    if (options_.thread_names && !track.name.empty()) {
      append_text(out, "\"threadName\":", track.name);
    } else if (options_.thread_names && !options_.thread_ids) {
      append_number(out, "\"threadName\":\"", track);
    }
    if (options_.thread_ids) append_number(out, "\"threadId\":\"", track);
  }
  static void append_number(TextBuffer& out, std::string_view key, Track const& track) noexcept {
    out.append(key);
    append_thread_id(out, track, 1);
    out.append("\",");
  }

  FormatOptions const options_;
};

}  // namespace

std::shared_ptr<EventFormat const> make_json(FormatOptions const& options) { return std::make_shared<Json const>(options); }

}  // namespace tracing::inline v1::internal
