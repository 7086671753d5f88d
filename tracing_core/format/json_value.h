// Appends values as JSON. Inline, because every line uses these functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/model/text_scan.h"
#include "tracing_core/model/value.h"
#include "tracing_core/support/digits.h"

namespace tracing { inline namespace v1 { namespace formatting {

// Appends a string.
inline void append_json_text(TextBuffer& out, std::string_view text) noexcept {
  if (!internal::append_plain_in_quotes<internal::needs_json_escape>(out, text)) append_json_string(out, text);
}

// Completes a JSON string. REQUIRES: from `begin` on, `out` has a quote and the text.
inline void end_json_text(TextBuffer& out, std::size_t begin) noexcept {
  if (out.size() <= begin) return;  // memory ran out before the quote
  std::string_view const text = out.view().substr(begin + 1);
  if (internal::is_plain<internal::needs_json_escape>(text)) [[likely]]
    return out.push_back('"');
  InlineTextBuffer<512> copy;
  copy.append(text);
  out.resize_down(begin);
  append_json_string(out, copy.view());
}

// Appends the printed form of a value as a string; for an error, its own text without causes.
inline void append_json_printed(TextBuffer& out, Value const& value) noexcept {
  if (value.kind() == ValueKind::message && value.message_metadata().parts().placeholder_count == 0)
    return append_json_text(out, internal::message_literal(value.message_metadata().parts()));
  std::size_t const begin = out.size();
  out.push_back('"');
  if (value.kind() == ValueKind::message) {
    append_message(out, value);
  } else {
    append_debug(out, value);
  }
  end_json_text(out, begin);
}

inline void append_json_integer(TextBuffer& out, bool negative, std::uint64_t bits) noexcept {
  char* const begin = out.reserve(kMaxUintDigits + 1);
  if (begin == nullptr) return;
  char* at = begin;
  if (negative) *at++ = '-';
  at = write_uint(at, negative ? 0 - bits : bits);
  out.commit(static_cast<std::size_t>(at - begin));
}

// Appends a value as its JSON type, or as a string if JSON lacks the type.
inline void append_json_value(TextBuffer& out, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::boolean: return out.append(value.as_bool() ? "true" : "false");
    case ValueKind::i64: return append_json_integer(out, value.as_i64() < 0, value.as_u64());
    case ValueKind::u64: return append_json_integer(out, false, value.as_u64());
    case ValueKind::f64: return append_json_float(out, value.as_double());
    case ValueKind::f32: return append_json_float(out, static_cast<float>(value.as_double()));
    case ValueKind::text: return append_json_text(out, value.as_text());
    default: return append_json_printed(out, value);
  }
}

}}}  // namespace tracing::v1::formatting
