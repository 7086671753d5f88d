// Appends floating-point and 128-bit numbers, bytes and pointers as text.
#pragma once

#include <cstddef>
#include <span>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

/// Appends the shortest digits that read back as `value`, as Rust's `{:?}` does: `1.0`, `0.1`, `-0.0`, `1e16`, `1e-5`,
/// `NaN`, `inf`. Uses an exponent from 1e16 and below 1e-4. If two numbers are equally near, takes the larger
/// magnitude.
void append_float(TextBuffer& out, double value) noexcept;
/// Appends the shortest digits that read back as this float: `0.1`, which is shorter than the text of the equal double.
void append_float(TextBuffer& out, float value) noexcept;

/// Appends `value` as fmt's `{}` does: `1`, `0.1`, `-0`, `1e+16`, `1e-05`, `nan`.
void append_fmt_float(TextBuffer& out, double value) noexcept;
void append_fmt_float(TextBuffer& out, float value) noexcept;

namespace internal {
// Longer than the longest texts, "-1.7976931348623157e+308" and "-0.000012345678901234567".
inline constexpr std::size_t kMaxFloatText = 32;
// Writes what append_float() appends, at most kMaxFloatText characters; returns the end.
char* write_float(char* at, double value) noexcept;
}  // namespace internal

/// Appends the shortest digits as serde_json does: `1.0`, `0.00001`, `1e-6`, `1e+16`. Uses an exponent from 1e16 and
/// below 1e-5. If two numbers are equally near, takes the number with an even last digit. Appends `null` for NaN and
/// the infinities, which JSON lacks.
void append_json_float(TextBuffer& out, double value) noexcept;
void append_json_float(TextBuffer& out, float value) noexcept;

/// Returns the number that serde_json reads back from its own text of `value`; it may differ in the last digit. The
/// reference prints these numbers, since it reads the JSON text of a span's fields again before it prints them. NaN and
/// infinities are unchanged.
double reread_json_float(double value) noexcept;

/// Appends decimal digits, with a minus sign if `value` is negative.
void append_int128(TextBuffer& out, Int128 value) noexcept;
void append_uint128(TextBuffer& out, Uint128 value) noexcept;

/// Appends each byte as two hexadecimal digits: `[0a ff]`. Appends nothing if memory runs out.
void append_bytes(TextBuffer& out, std::span<std::byte const> bytes) noexcept;
/// Appends each byte as a decimal number: `[10,255]`. Appends nothing if memory runs out.
void append_json_byte_array(TextBuffer& out, std::span<std::byte const> bytes) noexcept;

/// Appends an address in hexadecimal: `0x7f01`; null is `0x0`.
void append_pointer(TextBuffer& out, void const* pointer) noexcept;

}}  // namespace tracing::v1
