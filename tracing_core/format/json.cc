#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/format/format_parts.h"
#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_perf.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/format/shortened_values.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/model/text_scan.h"

namespace tracing { inline namespace v1 { namespace formatting {

using namespace internal;

namespace {

// Says how a span is printed. All JSON formats of one style share its cached text.
struct SpanStyle {
  bool shortens_values;
  bool repeats_names;

  void const* key() const noexcept {
    static constexpr char keys[4] = {};
    return &keys[number()];
  }
  unsigned number() const noexcept { return (shortens_values ? 1 : 0) + (repeats_names ? 2 : 0); }
};

// Appends a value of a span. `reads`: the number of times that the reference parses its own text again, which it does
// whenever values are recorded and when it prints.
void append_span_value(TextBuffer& out, Value const& value, std::uint32_t reads) noexcept {
  if (value.kind() == ValueKind::f64) {
    double number = value.as_double();
    for (double previous = number; reads > 0; --reads, previous = number) {
      number = reread_json_float(number);
      if (number == previous) break;
    }
    return append_json_float(out, number);
  }
  if (value.kind() == ValueKind::bytes) return append_json_byte_array(out, std::as_bytes(std::span(value.as_text())));
  append_json_value(out, value);
}

// Returns true if the reference receives a value of this kind as an object that prints itself. Only for such values
// does it treat special names differently.
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
  std::size_t field;
  std::uint32_t value_begin;
  std::uint32_t value_size;
};
constexpr std::string_view kSpanName = "name";

// Renames members that have the name of an earlier member or of the object's own member.
[[gnu::noinline]] void rename_members(std::span<Member> members, JsonNames& names) noexcept {
  std::ranges::sort(members, {}, &Member::field);
  names.reserve(kSpanName);
  for (Member const& member : members) names.add(member.key);
  for (std::size_t i = 0; i < members.size(); ++i) members[i].key = names.name(i);
  std::ranges::sort(members, {}, &Member::key);
}

// The members of a span's object, sorted by key.
class SpanMembers {
 public:
  explicit SpanMembers(bool repeats_names) noexcept : repeats_names_(repeats_names) {}

  // Adds a member or replaces the earlier value of its field. If names are repeated, readers see only the last member
  // with a name, so this replaces any member with the same key.
  void put(Member const& member) noexcept {
    Member* const end = members_ + count_;
    Member* place =
        std::lower_bound(members_, end, member.key, [](Member const& m, std::string_view k) { return m.key < k; });
    if (!repeats_names_) {
      while (place != end && place->key == member.key && place->field != member.field)
        ++place, has_repeated_names_ = true;
      has_repeated_names_ |= member.key == kSpanName;
    }
    if (place != end && place->key == member.key) {
      *place = member;
    } else if (count_ < std::size(members_)) {
      std::move_backward(place, end, end + 1);
      *place = member;
      ++count_;
    }
  }
  bool has_repeated_names() const noexcept { return has_repeated_names_; }
  std::span<Member> all() noexcept { return {members_, count_}; }

 private:
  bool const repeats_names_;
  bool has_repeated_names_ = false;
  std::size_t count_ = 0;
  union {
    Member members_[256];  // the first count_ exist
  };
};

// Appends `{"x":1,"name":"span"}`: the fields sorted by name, each with its last value.
void append_span_object(TextBuffer& out, SpanRef span, SpanStyle style) noexcept {
  Metadata const& metadata = span.metadata();
  InlineTextBuffer<512> values;
  SpanMembers members(style.repeats_names);
  std::uint32_t reads = span.values().group_count();
  span.values().for_each_group(metadata, [&](FieldValues const& given) {
    ShortenedValues const shortened(given, style.shortens_values);
    FieldValues const group = shortened.fields();
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
      members.put({key, i, begin, static_cast<std::uint32_t>(values.size()) - begin});
    }
    --reads;
  });
  JsonNames names;
  if (members.has_repeated_names()) [[unlikely]]
    rename_members(members.all(), names);
  out.push_back('{');
  for (Member const& member : members.all()) {
    append_json_string(out, member.key);
    out.push_back(':');
    out.append(values.view().substr(member.value_begin, member.value_size));
    out.push_back(',');
  }
  out.append("\"name\":");
  append_json_string(out, metadata.name());
  out.push_back('}');
}

// Appends `"key":`, usually without escapes.
void append_key(TextBuffer& out, std::string_view key) noexcept {
  if (!is_plain<needs_json_escape>(key)) [[unlikely]] {
    append_json_string(out, key);
    return out.push_back(':');
  }
  char* at = out.reserve(key.size() + 3);
  if (at == nullptr) return;
  *at++ = '"';
  at = copy_short(at, key);
  *at++ = '"';
  *at++ = ':';
  out.commit(key.size() + 3);
}

class Json final : public EventFormat, private SpanTextMaker {
 public:
  explicit Json(FormatOptions const& options)
      : options_(options),
        timer_(options.timer.get()),
        is_time_plain_(timer_ != nullptr && timer_->is_plain()),
        span_style_{options.shorten_span_values, options.repeated_names} {
    for (Level const level : {Level::error, Level::warn, Level::info, Level::debug, Level::trace}) {
      std::string& text = before_fields_[static_cast<std::size_t>(level)];
      if (timer_ != nullptr) text += ',';
      if (options.level) text.append("\"level\":\"").append(name(level)).append("\",");
      if (!options.flatten_event) text += "\"fields\":{";
    }
    if (!options.flatten_event) return;
    auto const reserve = [this](bool is_member, std::string_view name) {
      if (is_member) own_names_.push_back(name);
    };
    reserve(timer_ != nullptr, "timestamp");
    reserve(options.level, "level");
    reserve(options.target, "target");
    reserve(options.file.value_or(false), "filename");
    reserve(options.line_number.value_or(false), "line_number");
    reserve(options.current_span, "span");
    reserve(options.span_list, "spans");
    reserve(options.thread_names, "threadName");
    reserve(options.thread_ids, "threadId");
  }

  bool append(TextBuffer& out, EventView const& event) const noexcept override {
    Metadata const& metadata = event.metadata;
    if (timer_ == nullptr) {
      out.push_back('{');
    } else {
      out.append("{\"timestamp\":\"");
      std::size_t const begin = out.size() - 1;
      if (!timer_->append(out, event.context.time())) return false;
      if (!is_time_plain_) {
        end_json_text(out, begin);
      } else {
        out.push_back('"');
      }
    }
    out.append(before_fields_[static_cast<std::size_t>(metadata.level())]);
    if (ends_perf_span(event)) [[unlikely]] {
      Value const* const durations = event.fields.statement_values();
      append_perf_members(out, event.shown, durations[0], durations[1], options_.shorten_span_values);
    } else if (options_.flatten_event && !options_.repeated_names) [[unlikely]] {
      append_fields_by_name(out, event.fields);
    } else {
      append_fields(out, event.fields);
    }
    if (!options_.flatten_event) end_list(out, '}');
    if (options_.target) append_text(out, "\"target\":", metadata.target());
    if (options_.file.value_or(false) && !metadata.file().empty()) append_text(out, "\"filename\":", metadata.file());
    if (options_.line_number.value_or(false) && knows_line(metadata)) {
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
  // Returns true for the end of a perf span. Its object has everything known of the span: the span's name and fields
  // are among the object's own members.
  bool ends_perf_span(EventView const& event) const noexcept {
    return event.metadata.parts().ends_perf_span && event.shown && event.shown.metadata().is_perf() &&
           event.fields.statement_values() != nullptr && !options_.flatten_event;
  }

  // Appends each field under a name that no other member of the object has.
  [[gnu::noinline]] void append_fields_by_name(TextBuffer& out, FieldValues const& fields) const noexcept {
    JsonNames names;
    for (std::string_view const name : own_names_) names.reserve(name);
    names.add_all(fields.metadata());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Value const value = fields.value(i);
      if (value.is_empty()) continue;
      append_key(out, names.name(i));
      value.kind() == ValueKind::message ? append_json_printed(out, value) : append_json_value(out, value);
      out.push_back(',');
    }
  }

  void append_fields(TextBuffer& out, FieldValues const& fields) const noexcept {
    Metadata const& metadata = fields.metadata();
    MetadataParts const& parts = metadata.parts();
    Value const* const values = fields.statement_values();
    if (values == nullptr) return;
    std::size_t const begin = out.size();
    for (FieldEntry const* entry = parts.fields; entry != parts.fields + parts.field_count; ++entry) {
      if (entry->value_index == kMessageValue) {
        out.append("\"message\":");
        append_json_printed(out, Value::of_message(metadata, values));
      } else {
        Value const& value = values[entry->value_index];
        if (value.is_empty()) continue;
        if (entry->has_special_name && !options_.repeated_names) [[unlikely]] {  // an earlier field may have this name
          out.resize_down(begin);
          return append_fields_by_name(out, fields);
        }
        append_key(out, {parts.text + entry->offset, entry->size});
        append_json_value(out, value);
      }
      out.push_back(',');
    }
  }

  // Replaces a comma at the end by the end of the list and another comma.
  static void end_list(TextBuffer& out, char bracket) noexcept {
    if (out.view().back() == ',') out.resize_down(out.size() - 1);
    out.push_back(bracket);
    out.push_back(',');
  }

  static void append_text(TextBuffer& out, std::string_view key, std::string_view text) noexcept {
    out.append(key);
    append_json_text(out, text);
    out.push_back(',');
  }

  void append_span(TextBuffer& out, SpanRef span) const noexcept override {
    append_span_object(out, span, span_style_);
  }

  void append_spans(TextBuffer& out, EventView const& event) const noexcept {
    SpanRef const current = event.context.current_span();
    if (event.shown != current) return append_spans_below(out, event.shown, current);
    append_path(out, current, path_key(), [&] { append_spans_below(out, current, current); });
  }
  // Returns a key for the cached text of append_spans() with these options.
  void const* path_key() const noexcept {
    static constexpr char keys[16] = {};
    return &keys[(options_.current_span ? 1 : 0) + (options_.span_list ? 2 : 0) + 4 * span_style_.number()];
  }

  // Appends `"span":{...},"spans":[{...},{...}],`.
  void append_spans_below(TextBuffer& out, SpanRef shown, SpanRef current) const noexcept {
    if (options_.current_span) {
      out.append("\"span\":");
      append_cached(out, shown, span_style_.key(), *this);
      out.push_back(',');
    }
    if (!options_.span_list) return;
    out.append("\"spans\":[");
    for_each_from_root(
        current,
        [&](SpanRef span) {
          append_cached(out, span, span_style_.key(), *this);
          out.push_back(',');
        },
        [&] { out.append("{\"name\":\"...\"},"); });
    end_list(out, ']');
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
  Timer const* const timer_;
  bool const is_time_plain_;
  SpanStyle const span_style_;
  std::array<std::string, 6> before_fields_;  // for each level, the text between the time and the fields
  std::vector<std::string_view> own_names_;   // the object's own names, which fields may not have
};

}  // namespace

std::shared_ptr<EventFormat const> make_json(FormatOptions const& options) {
  return std::make_shared<Json const>(options);
}

}}}  // namespace tracing::v1::formatting
