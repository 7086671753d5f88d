#include "tracing_core/format/field_format.h"

#include <atomic>

#include "tracing_core/format/format_parts.h"
#include "tracing_core/format/perf_line.h"
#include "tracing_core/format/shortened_values.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 {
namespace {

using formatting::append_painted;

std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool is_log_field(std::string_view name) noexcept { return name.starts_with("log."); }

// Removes the prefix of `r#type`, which Rust uses for names that are keywords.
std::string_view without_raw_prefix(std::string_view name) noexcept {
  if (name.starts_with("r#")) name.remove_prefix(2);
  return name;
}

// Appends a field's name, escaped if necessary.
void append_field_name(TextBuffer& out, std::string_view name, TextStyle style) noexcept {
  bool const escape = style.sanitize_names && internal::name_needs_escaping(name);
  escape ? append_sanitized_in_line(out, name) : out.append(name);
}

// Appends the text of a message, an error or another value.
void append_text(TextBuffer& out, std::string_view text, TextStyle style) noexcept {
  if (style.sanitize_values) return append_sanitized_lines(out, text);
  style.sanitize ? append_sanitized(out, text) : out.append(text);
}

[[gnu::noinline]] void replace_sanitized(TextBuffer& out, std::size_t begin, TextStyle style) noexcept {
  InlineTextBuffer<512> copy;
  copy.append(out.view().substr(begin));
  out.resize_down(begin);
  append_text(out, copy.view(), style);
}

// Sanitizes the text in `out` from `begin` on.
void sanitize_from(TextBuffer& out, std::size_t begin, TextStyle style) noexcept {
  bool const plain = internal::is_plain<internal::needs_sanitizing>(out.view().substr(begin));
  if (!plain) [[unlikely]]
    replace_sanitized(out, begin, style);
}

// Appends a value: an error as its own text and, if it has causes, `append_key()` and `[cause, cause]`.
template <class F>
void append_value(TextBuffer& out, Value const& value, TextStyle style, F append_key) noexcept {
  if (value.kind() != ValueKind::error) {
    std::size_t const begin = out.size();
    append_debug(out, value);
    if (style.sanitize_values && value.kind() != ValueKind::text) sanitize_from(out, begin, style);
    return;
  }
  std::size_t count = 0;
  auto append_one = [&](std::string_view text) {
    if (count == 1) append_key();
    if (count > 0) out.append(count == 1 ? "[" : ", ");
    append_text(out, text, style);
    ++count;
  };
  value.error_type().visit(value.as_pointer(), &append_one, [](void* append, std::string_view text) {
    (*static_cast<decltype(append_one)*>(append))(text);
  });
  if (count > 1) out.push_back(']');
}

// Appends the value of the field `message`, in the same way.
template <class F>
void append_message_value(TextBuffer& out, Value const& value, TextStyle style, F append_key) noexcept {
  if (value.kind() != ValueKind::error) return append_message_text(out, value, style);
  std::size_t const begin = out.size();
  append_value(out, value, style, append_key);
  if (style.sanitize && !style.sanitize_values) sanitize_from(out, begin, style);
}

template <bool kAnsi>
class DefaultFieldsPrinter {
 public:
  DefaultFieldsPrinter(TextBuffer& out, TextStyle style) noexcept : out_(out), style_(style) {}

  void print(FieldValues const& fields) noexcept {
    Metadata const& metadata = fields.metadata();
    internal::MetadataParts const& parts = metadata.parts();
    Value const* const values = fields.statement_values();
    if (values == nullptr) return;
    char const* const text = parts.text;
    bool first = true;
    for (internal::FieldEntry const *entry = parts.fields, *const end = entry + parts.field_count; entry != end;
         ++entry) {
      if (entry->value_index == internal::kMessageValue) {
        print_own_message(first, metadata, values);
        first = false;
        continue;
      }
      Value const& value = values[entry->value_index];
      if (value.is_empty()) continue;
      std::string_view const name(text + entry->offset, entry->size);
      if (entry->has_special_name) [[unlikely]] {
        first = !print_special(first, name, value) && first;
      } else {
        print_field(first, name, value);
        first = false;
      }
    }
  }

 private:
  // Appends the message of the statement, which is usually literal text.
  void print_own_message(bool first, Metadata const& metadata, Value const* values) noexcept {
    std::string_view const literal = internal::message_literal(metadata.parts());
    bool const simple = metadata.parts().placeholder_count == 0 &&
                        (!style_.sanitizes_text() || internal::is_plain<internal::needs_sanitizing>(literal));
    char* const at = simple ? out_.reserve(literal.size() + 1) : nullptr;
    if (at != nullptr) [[likely]] {
      *at = ' ';  // overwritten if this is the first field
      out_.commit(static_cast<std::size_t>(internal::copy_short(at + !first, literal) - at));
    } else {
      if (!first) out_.push_back(' ');
      append_message_text(out_, Value::of_message(metadata, values), style_);
    }
  }

  // Appends a field with a special name; returns false if this field is not printed.
  [[gnu::noinline]] bool print_special(bool first, std::string_view name, Value const& value) noexcept {
    if (is_log_field(name)) return false;
    if (!first) out_.push_back(' ');
    if (name == "message") {
      append_message_value(out_, value, style_, [&] { print_sources_key(name); });
      return true;
    }
    if (kAnsi) out_.append(formatting::kItalic);
    append_field_name(out_, without_raw_prefix(name), style_);
    if (kAnsi) out_.append(formatting::kReset);
    append_painted(out_, kAnsi, formatting::kDim, "=");
    return print_value(name, value), true;
  }

  // Appends `name=value`, after a blank unless it is the first field.
  [[gnu::always_inline]] void print_field(bool first, std::string_view name, Value const& value) noexcept {
    if constexpr (kAnsi) {
      if (!first) out_.push_back(' ');
      append_painted(out_, true, formatting::kItalic, name);
      append_painted(out_, true, formatting::kDim, "=");
      return print_value(name, value);
    }
    std::size_t const text_size = value.kind() == ValueKind::text ? value.as_text().size() : formatting::kMaxNumberText;
    char* const begin = out_.reserve(name.size() + text_size + 5);
    if (begin == nullptr) return;
    char* at = begin;
    *at = ' ';  // overwritten if this is the first field
    at += !first;
    at = internal::copy_short(at, name);
    *at++ = '=';
    char* const end = write_simple(at, value);
    out_.commit(static_cast<std::size_t>((end != nullptr ? end : at) - begin));
    if (end == nullptr) [[unlikely]]
      print_value(name, value);
  }

  // Writes a number, or text without escapes; returns the end, or null for other values.
  static char* write_simple(char* at, Value const& value) noexcept {
    char* const end = formatting::write_number(at, value);
    if (end != nullptr || value.kind() != ValueKind::text) return end;
    if (!internal::is_plain<internal::needs_quoting>(value.as_text())) [[unlikely]]
      return nullptr;
    *at = '"';
    at = internal::copy_short(at + 1, value.as_text());
    *at = '"';
    return at + 1;
  }

  void print_value(std::string_view name, Value const& value) noexcept {
    append_value(out_, value, style_, [&] { print_sources_key(name); });
  }

  void print_sources_key(std::string_view name) noexcept {
    out_.push_back(' ');
    if (kAnsi) out_.append(formatting::kItalic);
    append_field_name(out_, name, style_);
    if (kAnsi) out_.append(formatting::kReset);
    append_painted(out_, kAnsi, formatting::kItalic, ".sources");
    append_painted(out_, kAnsi, formatting::kDim, "=");
  }

  TextBuffer& out_;
  TextStyle const style_;
};

class DefaultFields final : public FieldFormat {
 public:
  void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept override {
    if (style.ansi) return DefaultFieldsPrinter<true>(out, style).print(fields);
    DefaultFieldsPrinter<false>(out, style).print(fields);
  }
};

class PrettyFields final : public FieldFormat {
 public:
  void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept override {
    print(out, fields, style, true);
  }
  void append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields,
                       TextStyle style) const noexcept override {
    print(out, fields, style, out.size() == begin);
  }

 private:
  static void print(TextBuffer& out, FieldValues const& fields, TextStyle style, bool first) noexcept {
    if (style.ansi)
      return formatting::append_pretty_fields(out, fields, style, "", formatting::kBold, formatting::kReset, first);
    formatting::append_pretty_fields(out, fields, style, "", "", "", first);
  }
};

}  // namespace

FieldFormat::FieldFormat() noexcept : number_(next_number()) {}

void FieldFormat::append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields,
                                  TextStyle style) const noexcept {
  if (out.size() != begin) out.push_back(' ');
  append(out, fields, style);
}

namespace {

// Metadata for the field `name`, which a perf span's text has before the span's own fields.
constexpr char kPerfNameText[] = "name";
constexpr internal::FieldEntry kPerfNameField[] = {internal::field_entry(0, kPerfNameText, 4, 0)};
constexpr Metadata kPerfName([] {
  internal::MetadataParts parts;
  parts.text = kPerfNameText;
  parts.fields = kPerfNameField;
  parts.field_count = 1;
  parts.value_count = 1;
  parts.level = Level::info;
  return parts;
}());

}  // namespace

void FieldFormat::append_span(TextBuffer& out, SpanRef span, TextStyle style) const noexcept {
  std::size_t const begin = out.size();
  bool first = true;
  Metadata const& metadata = span.metadata();
  if (metadata.is_perf()) {
    Value const name = Value::of_text(metadata.name());
    append(out, FieldValues(kPerfName, &name), style);
    if (metadata.fields().empty()) return;
  }
  auto const append_group = [&](FieldValues const& given) {
    formatting::ShortenedValues const shortened(given, style.shorten_span_values);
    FieldValues const group = shortened.fields();
    std::size_t const before = out.size();
    if (first && before == begin) {
      append(out, group, style);
    } else {
      append_recorded(out, begin, group, style);
      if (first && out.view().substr(before) == " ") out.resize_down(before);  // the span was made without values
    }
    first = false;
  };
  StoredValues const& values = span.values();
  style.all_values ? values.for_each_group(metadata, append_group) : values.for_each_last_group(metadata, append_group);
}

std::shared_ptr<FieldFormat const> default_fields() {
  static auto const& fields = *new std::shared_ptr<FieldFormat const>(std::make_shared<DefaultFields const>());
  return fields;
}
std::shared_ptr<FieldFormat const> pretty_fields() {
  static auto const& fields = *new std::shared_ptr<FieldFormat const>(std::make_shared<PrettyFields const>());
  return fields;
}

void append_message_text(TextBuffer& out, Value const& value, TextStyle style) noexcept {
  if (value.kind() == ValueKind::text) return append_text(out, value.as_text(), style);
  if (value.kind() == ValueKind::message && value.message_metadata().parts().placeholder_count == 0) {
    std::string_view const text = internal::message_literal(value.message_metadata().parts());
    if (!style.sanitizes_text() || internal::is_plain<internal::needs_sanitizing>(text)) [[likely]]
      return out.append(text);
  }
  std::size_t const begin = out.size();
  if (value.kind() == ValueKind::message) {
    append_message(out, value);
  } else {
    append_debug(out, value);
  }
  if (style.sanitizes_text()) sanitize_from(out, begin, style);
}

namespace formatting {

void append_pretty_fields(TextBuffer& out, FieldValues const& fields, TextStyle style, std::string_view text_prefix,
                          std::string_view key_prefix, std::string_view key_suffix, bool first) noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Value const value = fields.value(i);
    std::string_view const name = fields.name(i);
    if (value.is_empty() || is_log_field(name)) continue;
    if (!first) out.append(", ");
    first = false;
    auto append_sources_key = [&] {
      out.append(", ");
      out.append(key_prefix);
      append_field_name(out, name, style);
      out.append(".sources");
      out.append(key_suffix);
      out.append(": ");
    };
    if (name == "message") {
      out.append(text_prefix);
      append_message_value(out, value, style, append_sources_key);
      continue;
    }
    out.append(key_prefix);
    append_field_name(out, without_raw_prefix(name), style);
    out.append(key_suffix);
    out.append(": ");
    append_value(out, value, style, append_sources_key);
  }
}

}  // namespace formatting
}}  // namespace tracing::v1
