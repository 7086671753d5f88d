// Fast paths for the line at the end of a perf span. Its values are usually numbers, and its text is made only once.
// These functions append the text that default_fields() would append, or return false.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/text_scan.h"
#include "tracing_core/model/value.h"
#include "tracing_core/support/digits.h"

namespace tracing { inline namespace v1 { namespace formatting {

// The message of the event at the end of a perf span.
inline constexpr std::string_view kCompletionMessage = "performance_span_complete";

inline constexpr std::size_t kMaxNumberText = internal::kMaxFloatText;  // integers are shorter
static_assert(kMaxNumberText > kMaxUintDigits);

// Writes a 64-bit integer or a double; returns the end, or null for other kinds.
[[gnu::always_inline]] inline char* write_number(char* at, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::i64: {
      std::uint64_t const bits = value.as_u64();
      if (value.as_i64() >= 0) return write_uint(at, bits);
      *at = '-';
      return write_uint(at + 1, 0 - bits);
    }
    case ValueKind::u64: return write_uint(at, value.as_u64());
    case ValueKind::f64: return internal::write_float(at, value.as_double());
    default: return nullptr;
  }
}

// Appends `perf{name="work" rows=1 columns=2}:`; returns false if the general code is needed, for example for a value
// that is not a number. REQUIRES: `values` are all values of the span.
inline bool append_perf_span_of_numbers(TextBuffer& out, Metadata const& span, Value const* values) noexcept {
  constexpr std::string_view kBefore = "perf{name=\"";
  constexpr std::string_view kAfter = "}:";
  std::string_view const name = span.name();
  if (!internal::is_plain<internal::needs_quoting>(name)) return false;
  internal::MetadataParts const& parts = span.parts();
  constexpr std::size_t kMaxNameSize = 32;
  char* const begin = out.reserve(kBefore.size() + name.size() + 1 +
                                  parts.field_count * (kMaxNameSize + 2 + kMaxNumberText) + kAfter.size());
  if (begin == nullptr) return false;
  char* at = internal::copy_short(internal::copy_short(begin, kBefore), name);
  *at++ = '"';
  for (internal::FieldEntry const *field = parts.fields, *const end = field + parts.field_count; field != end;
       ++field) {
    if (field->has_special_name || field->size > kMaxNameSize) [[unlikely]]
      return false;
    *at = ' ';
    at = internal::copy_short(at + 1, {parts.text + field->offset, field->size});
    *at = '=';
    at = write_number(at + 1, values[field->value_index]);
    if (at == nullptr) [[unlikely]]
      return false;
  }
  out.commit(static_cast<std::size_t>(internal::copy_short(at, kAfter) - begin));
  return true;
}

// Appends `performance_span_complete duration_us=83 duration_ms=0.083`; returns false if a value is hidden or huge.
// REQUIRES: `values` belong to the event at the end of a perf span.
inline bool append_end_of_perf_span(TextBuffer& out, Value const* values) noexcept {
  constexpr std::string_view kMicroseconds = "performance_span_complete duration_us=";
  static_assert(kMicroseconds.starts_with(kCompletionMessage));
  constexpr std::string_view kMilliseconds = " duration_ms=";
  constexpr std::uint64_t kMaxExact = 1'000'000'000'000'000;  // doubles keep as many digits
  std::uint64_t const us = values[0].as_u64();
  bool const usual = values[0].kind() == ValueKind::u64 && values[1].kind() == ValueKind::f64 && us < kMaxExact;
  if (!usual) [[unlikely]]
    return false;
  char* const begin = out.reserve(kMicroseconds.size() + kMilliseconds.size() + 2 * kMaxUintDigits);
  if (begin == nullptr) return false;
  char* at = internal::copy_short(begin, kMicroseconds);
  at = internal::copy_short(write_uint(at, us), kMilliseconds);
  at = write_uint(at, us / 1000);
  auto const thousandths = static_cast<std::uint32_t>(us % 1000);
  at[0] = '.';
  at[1] = static_cast<char>('0' + thousandths / 100);
  write_two_digits(at + 2, thousandths % 100);
  std::size_t const decimals = thousandths % 100 == 0 ? 1 : thousandths % 10 == 0 ? 2 : 3;
  out.commit(static_cast<std::size_t>(at + 1 + decimals - begin));
  return true;
}

}}}  // namespace tracing::v1::formatting
