// Declares how the line of a perf span's end is put together in few instructions: what stands in it is numbers, as a rule, and
// each such line is made once. All here appends what the default fields would, or nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/format/scan.h"
#include "tracing_core/internal/digits.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/number_text.h"
#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {

// The message of the event that tells how long a perf span took.
inline constexpr std::string_view kCompletionMessage = "performance_span_complete";

inline constexpr std::size_t kMostNumberText = kMostFloatText;  // which is more than integers have
static_assert(kMostNumberText > kMostUintDigits);

// Writes an integer of 64 bits or a double; returns the end, or null where the value is neither.
[[gnu::always_inline]] inline char* write_number(char* at, Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::i64: {
      std::uint64_t const bits = value.as_u64();
      if (value.as_i64() >= 0) return write_uint(at, bits);
      *at = '-';
      return write_uint(at + 1, 0 - bits);
    }
    case ValueKind::u64: return write_uint(at, value.as_u64());
    case ValueKind::f64: return write_float(at, value.as_double());
    default: return nullptr;
  }
}

// `perf{name="work" rows=1 columns=2}:`; false where it is to be put together as ever. REQUIRES: `values` are all of the span.
inline bool append_perf_span_of_numbers(TextBuffer& out, Metadata const& span, Value const* values) noexcept {
  constexpr std::string_view kBefore = "perf{name=\"";
  constexpr std::string_view kBehind = "}:";
  std::string_view const name = span.name();
  if (!is_plain<needs_quoting>(name)) return false;
  MetadataParts const& parts = span.parts();
  constexpr std::size_t kLongName = 32;
  char* const begin =
      out.reserve(kBefore.size() + name.size() + 1 + parts.field_count * (kLongName + 2 + kMostNumberText) + kBehind.size());
  if (begin == nullptr) return false;
  char* at = copy_short(copy_short(begin, kBefore), name);
  *at++ = '"';
  for (FieldEntry const *field = parts.fields, *const end = field + parts.field_count; field != end; ++field) {
    if (field->has_special_name || field->size > kLongName) [[unlikely]] return false;
    *at = ' ';
    at = copy_short(at + 1, {parts.text + field->offset, field->size});
    *at = '=';
    at = write_number(at + 1, values[field->value_index]);
    if (at == nullptr) [[unlikely]] return false;
  }
  out.commit(static_cast<std::size_t>(copy_short(at, kBehind) - begin));
  return true;
}

// `performance_span_complete duration_us=83 duration_ms=0.083`; false where something is hidden or huge. REQUIRES: `event`
// tells the end of a perf span.
inline bool append_end_of_perf_span(TextBuffer& out, Value const* values) noexcept {
  constexpr std::string_view kMicroseconds = "performance_span_complete duration_us=";
  static_assert(kMicroseconds.starts_with(kCompletionMessage));
  constexpr std::string_view kMilliseconds = " duration_ms=";
  constexpr std::uint64_t kExactInDoubles = 1'000'000'000'000'000;  // all decimals of so many digits are
  std::uint64_t const us = values[0].as_u64();
  bool const usual = values[0].kind() == ValueKind::u64 && values[1].kind() == ValueKind::f64 && us < kExactInDoubles;
  if (!usual) [[unlikely]] return false;
  char* const begin = out.reserve(kMicroseconds.size() + kMilliseconds.size() + 2 * kMostUintDigits);
  if (begin == nullptr) return false;
  char* at = copy_short(begin, kMicroseconds);
  at = copy_short(write_uint(at, us), kMilliseconds);
  at = write_uint(at, us / 1000);
  auto const thousandths = static_cast<std::uint32_t>(us % 1000);
  at[0] = '.';
  at[1] = static_cast<char>('0' + thousandths / 100);
  write_two_digits(at + 2, thousandths % 100);
  std::size_t const decimals = thousandths % 100 == 0 ? 1 : thousandths % 10 == 0 ? 2 : 3;
  out.commit(static_cast<std::size_t>(at + 1 + decimals - begin));
  return true;
}

}  // namespace tracing::inline v1::internal
