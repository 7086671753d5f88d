#include "tracing_core/format/field_format.h"

#include <atomic>

#include "tracing_core/format/ansi.h"
#include "tracing_core/format/error_text.h"
#include "tracing_core/model/text_escape.h"

namespace tracing::inline v1 {
namespace {

using internal::append_painted;

std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool is_log_field(std::string_view name) noexcept { return name.starts_with("log."); }

// Names that are keywords of Rust come as `r#type`.
std::string_view shown_name(std::string_view name) noexcept {
  if (name.starts_with("r#")) name.remove_prefix(2);
  return name;
}

// Makes safe what stands in `out` from `begin` on.
void sanitize_from(TextBuffer& out, std::size_t begin) noexcept {
  std::string_view const text = out.view().substr(begin);
  bool special = false;
  for (char const c : text) {
    special |= (c < ' ') | (c == '\x7f');  // as char is signed, bytes beyond ASCII too
  }
  if (!special) [[likely]] return;
  InlineTextBuffer<512> copy;
  copy.append(text);
  out.resize_down(begin);
  append_sanitized(out, copy.view());
}

class DefaultFields final : public FieldFormat {
 public:
  void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept override {
    bool first = true;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Value const value = fields.value(i);
      if (value.is_empty()) continue;
      std::string_view const name = fields.name(i);
      if (name.size() >= 4 && is_log_field(name)) [[unlikely]] continue;
      if (!first) out.push_back(' ');
      first = false;
      if (name == "message") {
        append_message(out, value, style);
      } else {
        append_field(out, shown_name(name), name, value, style);
      }
    }
  }

 private:
  static void append_message(TextBuffer& out, Value const& value, TextStyle style) noexcept {
    if (value.kind() != ValueKind::error) return append_message_text(out, value, style);
    std::size_t const begin = out.size();
    append_error(out, "message", value, style);
    if (style.sanitize) sanitize_from(out, begin);
  }
  static void append_field(TextBuffer& out, std::string_view shown, std::string_view name, Value const& value, TextStyle style) noexcept {
    append_painted(out, style.ansi, internal::kItalic, shown);
    append_painted(out, style.ansi, internal::kDim, "=");
    if (value.kind() == ValueKind::error) [[unlikely]] return append_error(out, name, value, style);
    append_debug(out, value);
  }
  static void append_error(TextBuffer& out, std::string_view name, Value const& value, TextStyle style) noexcept {
    internal::append_error_text(out, value, style, [&] {
      out.push_back(' ');
      append_painted(out, style.ansi, internal::kItalic, name);
      append_painted(out, style.ansi, internal::kItalic, ".sources");
      append_painted(out, style.ansi, internal::kDim, "=");
    });
  }
};

class PrettyFields final : public FieldFormat {
 public:
  void append(TextBuffer& out, FieldValues const& fields, TextStyle style) const noexcept override {
    internal::append_pretty_fields(out, fields, style, {}, style.ansi ? internal::kBold : std::string_view(), style.ansi ? internal::kReset : std::string_view(), true);
  }
  void append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields, TextStyle style) const noexcept override {
    internal::append_pretty_fields(out, fields, style, {}, style.ansi ? internal::kBold : std::string_view(), style.ansi ? internal::kReset : std::string_view(), out.size() == begin);
  }
};

}  // namespace

FieldFormat::FieldFormat() noexcept : number_(next_number()) {}

void FieldFormat::append_recorded(TextBuffer& out, std::size_t begin, FieldValues const& fields, TextStyle style) const noexcept {
  if (out.size() != begin) out.push_back(' ');
  append(out, fields, style);
}

void FieldFormat::append_span(TextBuffer& out, SpanRef span, TextStyle style) const noexcept {
  std::size_t const begin = out.size();
  bool first = true;
  span.values().for_each_group(span.metadata(), [&](FieldValues const& group) {
    if (first) {
      append(out, group, style);
    } else {
      append_recorded(out, begin, group, style);
    }
    first = false;
  });
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
  if (value.kind() == ValueKind::text) {
    return style.sanitize ? append_sanitized(out, value.as_text()) : out.append(value.as_text());
  }
  std::size_t const begin = out.size();
  append_debug(out, value);
  if (style.sanitize) sanitize_from(out, begin);
}

namespace internal {

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
      out.append(name);
      out.append(".sources");
      out.append(key_suffix);
      out.append(": ");
    };
    if (name == "message") {
      out.append(text_prefix);
      if (value.kind() == ValueKind::error) {
        std::size_t const begin = out.size();
        append_error_text(out, value, style, append_sources_key);
        if (style.sanitize) sanitize_from(out, begin);
      } else {
        append_message_text(out, value, style);
      }
      continue;
    }
    out.append(key_prefix);
    out.append(shown_name(name));
    out.append(key_suffix);
    out.append(": ");
    if (value.kind() == ValueKind::error) {
      append_error_text(out, value, style, append_sources_key);
    } else {
      append_debug(out, value);
    }
  }
}

}  // namespace internal
}  // namespace tracing::inline v1
