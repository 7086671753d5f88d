#include "tracing_core/model/value.h"

#include <fmt/format.h>

#include <ostream>
#include <span>
#include <streambuf>
#include <string>
#include <utility>

#include "tracing_core/model/debug_writer.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/redaction.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/model/value_of.h"

namespace tracing { inline namespace v1 {
namespace {

void first_text(void* context, std::string_view text) {
  auto& first = *static_cast<std::pair<TextBuffer*, bool>*>(context);
  if (!std::exchange(first.second, true)) first.first->append(text);
}

void append_error(TextBuffer& out, Value const& value) noexcept {
  std::pair<TextBuffer*, bool> first{&out, false};
  value.error_type().visit(value.as_pointer(), &first, first_text);
}

// Appends the form of a value without quotes.
void append_plain(TextBuffer& out, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::empty: return;
    case ValueKind::boolean: return out.append(value.as_bool() ? "true" : "false");
    case ValueKind::i64: return out.append_int(value.as_i64());
    case ValueKind::u64: return out.append_uint(value.as_u64());
    case ValueKind::f64: return append_float(out, value.as_double());
    case ValueKind::f32: return append_float(out, static_cast<float>(value.as_double()));
    case ValueKind::i128: return append_int128(out, value.as_i128());
    case ValueKind::u128: return append_uint128(out, value.as_u128());
    case ValueKind::text:
    case ValueKind::verbatim: return out.append(value.as_text());
    case ValueKind::bytes: return append_bytes(out, std::as_bytes(std::span(value.as_text())));
    case ValueKind::pointer: return append_pointer(out, value.as_pointer());
    case ValueKind::redacted: return out.append(internal::redaction_token());
    case ValueKind::error: return append_error(out, value);
    case ValueKind::custom:
      if (value.is_pretty()) {
        DebugWriter writer(out, true);
        return value.custom_type().debug(value.as_pointer(), writer);
      }
      return value.custom_type().format(value.as_pointer(), out, {});
    case ValueKind::message: return append_message(out, value);
  }
}

// Appends the form in messages and by display(): as append_plain(), but floating-point numbers as fmt prints them, `2`
// and not `2.0`.
void append_display(TextBuffer& out, Value const& value) noexcept {
  if (value.kind() == ValueKind::f64) return append_fmt_float(out, value.as_double());
  if (value.kind() == ValueKind::f32) return append_fmt_float(out, static_cast<float>(value.as_double()));
  append_plain(out, value);
}

void append_with(TextBuffer& out, fmt::string_view format, fmt::format_args args) {
  fmt::basic_memory_buffer<char, 256> buffer;
  fmt::vformat_to(fmt::appender(buffer), format, args);
  out.append({buffer.data(), buffer.size()});
}

// Calls `f` with the value as the type that fmt formats.
template <class F>
bool with_fmt_argument(Value const& value, F&& f) {
  switch (value.kind()) {
    case ValueKind::boolean: return f(value.as_bool()), true;
    case ValueKind::i64: return f(value.as_i64()), true;
    case ValueKind::u64: return f(value.as_u64()), true;
    case ValueKind::f64: return f(value.as_double()), true;
    case ValueKind::f32: return f(static_cast<float>(value.as_double())), true;
    case ValueKind::i128: return f(value.as_i128()), true;
    case ValueKind::u128: return f(value.as_u128()), true;
    case ValueKind::text:
    case ValueKind::verbatim: return f(fmt::string_view(value.as_text().data(), value.as_text().size())), true;
    case ValueKind::pointer: return f(value.as_pointer()), true;
    default: return false;
  }
}

class StreamBuffer final : public std::streambuf {
 public:
  explicit StreamBuffer(TextBuffer& out) noexcept : out_(out) {}

 private:
  int overflow(int c) override {
    if (c != traits_type::eof()) out_.push_back(static_cast<char>(c));
    return 0;
  }
  std::streamsize xsputn(char const* text, std::streamsize size) override {
    out_.append(std::string_view(text, static_cast<std::size_t>(size)));
    return size;
  }

  TextBuffer& out_;
};

void visit_exception(std::exception const& e, void* context, void (*each)(void*, std::string_view), int depth) {
  constexpr int kMaxDepth = 64;
  each(context, e.what());
  if (depth == kMaxDepth) return;
  try {
    std::rethrow_if_nested(e);
  } catch (std::exception const& cause) {
    visit_exception(cause, context, each, depth + 1);
  } catch (...) {
    each(context, "an exception not derived from std::exception");
  }
}

constexpr ErrorType kExceptionType{[](void const* object, void* context, void (*each)(void*, std::string_view)) {
  visit_exception(*static_cast<std::exception const*>(object), context, each, 0);
}};

constexpr ErrorType kPlainExceptionType{[](void const* object, void* context, void (*each)(void*, std::string_view)) {
  each(context, static_cast<std::exception const*>(object)->what());
}};

constexpr ErrorType kErrorCodeType{[](void const* object, void* context, void (*each)(void*, std::string_view)) {
  std::string text;
  try {
    text = static_cast<std::error_code const*>(object)->message();
  } catch (...) {
    text = "unknown";  // needs no allocation
  }
  each(context, text);
}};

constexpr ErrorType kExceptionPointerType{[](void const* object, void* context, void (*each)(void*, std::string_view)) {
  try {
    std::rethrow_exception(*static_cast<std::exception_ptr const*>(object));
  } catch (std::exception const& e) {
    visit_exception(e, context, each, 0);
  } catch (...) {
    each(context, "an exception not derived from std::exception");
  }
}};

// Returns the value of a nested placeholder in a specification: `{}` is the next value, `{2}` the third, `{n}` the
// field n.
Value nested_value(std::string_view id, Metadata const& metadata, Value const* values, std::size_t& next) noexcept {
  if (id.empty()) return values[++next];
  if (id[0] >= '0' && id[0] <= '9') {
    std::size_t index = 0;
    for (char c : id) index = index * 10 + static_cast<std::size_t>(c - '0');
    return values[index];
  }
  return FieldValues(metadata, values).value(metadata.fields().index_of(id));
}

// True for at most three digits, as many as widths and precisions in recordings have.
bool is_small_number(std::string_view text) noexcept {
  bool const has_digits = text.find_first_not_of("0123456789") == text.npos;
  return has_digits && !text.empty() && text.size() <= 3;
}

// Appends a value by its placeholder. Ignores the specification if a nested value is not from 0 to 999: a line of
// gigabytes is a mistake, or an attack.
void append_placeholder(TextBuffer& out, Metadata const& metadata, Value const* values,
                        internal::MessagePlaceholder const& placeholder) noexcept {
  if (placeholder.is_own && values[placeholder.value_index].kind() == ValueKind::verbatim)
    return append_display(out, values[placeholder.value_index]);
  std::string_view const spec(metadata.parts().text + placeholder.spec_offset, placeholder.spec_size);
  InlineTextBuffer<64> filled;
  std::size_t next = placeholder.value_index;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    if (spec[i] != '{') {
      filled.push_back(spec[i]);
      continue;
    }
    std::size_t const close = spec.find('}', i);
    std::size_t const begin = filled.size();
    append_plain(filled, nested_value(spec.substr(i + 1, close - i - 1), metadata, values, next));
    if (!is_small_number(filled.view().substr(begin))) return append_display(out, values[placeholder.value_index]);
    i = close;
  }
  append_formatted(out, values[placeholder.value_index], filled.view());
}

}  // namespace

Value Value::of_error(std::exception const& e) noexcept { return of_error(&e, kExceptionType); }
Value Value::of_plain_error(std::exception const& e) noexcept { return of_error(&e, kPlainExceptionType); }
Value Value::of_error(std::error_code const& e) noexcept { return of_error(&e, kErrorCodeType); }
Value Value::of_error(std::exception_ptr const& e) noexcept {
  return e == nullptr ? Value() : of_error(&e, kExceptionPointerType);
}

void append_message(TextBuffer& out, Value const& value) noexcept {
  Metadata const& metadata = value.message_metadata();
  internal::MetadataParts const& parts = metadata.parts();
  Value const* const values = value.message_values();
  char const* const literal = internal::message_literal(parts).data();
  std::uint32_t done = 0;
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) {
    internal::MessagePlaceholder const& placeholder = parts.placeholders[i];
    out.append({literal + done, placeholder.offset - done});
    done = placeholder.offset;
    if (placeholder.spec_size == 0) {
      append_display(out, values[placeholder.value_index]);
    } else {
      append_placeholder(out, metadata, values, placeholder);
    }
  }
  out.append({literal + done, parts.message_size - done});
}

void append_formatted(TextBuffer& out, Value const& value, std::string_view spec) noexcept {
  if (spec.empty()) return append_display(out, value);
  if (spec.back() == '?') {
    InlineTextBuffer<256> form;
    append_debug(form, value);
    return append_formatted(out, Value::of_verbatim(form.view()), spec.substr(0, spec.size() - 1));
  }
  std::size_t const before = out.size();
  try {
    if (value.kind() == ValueKind::custom) return value.custom_type().format(value.as_pointer(), out, spec);
    std::string const format = "{:" + std::string(spec) + "}";
    if (with_fmt_argument(value, [&](auto const& x) { append_with(out, format, fmt::make_format_args(x)); })) return;
  } catch (...) {
    out.resize_down(before);
  }
  append_display(out, value);
}

void append_debug(TextBuffer& out, Value const& value) noexcept {
  if (value.kind() == ValueKind::text) {
    append_quoted(out, value.as_text());
  } else {
    append_plain(out, value);
  }
}

namespace internal {

void append_fmt(TextBuffer& out, std::string_view spec, fmt::format_args args) noexcept {
  try {
    if (spec.empty()) return append_with(out, "{}", args);
    append_with(out, "{:" + std::string(spec) + "}", args);
  } catch (std::exception const& e) {
    out.append("<unprintable: ");
    out.append(e.what());
    out.push_back('>');
  } catch (...) {
    out.append("<unprintable>");
  }
}

void append_stream(TextBuffer& out, void const* object, void (*print)(std::ostream& os, void const* object)) noexcept {
  try {
    StreamBuffer buffer(out);
    std::ostream os(&buffer);
    print(os, object);
  } catch (...) {
    out.append("<unprintable>");
  }
}

}  // namespace internal
}}  // namespace tracing::v1
