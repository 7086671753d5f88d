#include "tracing_core/model/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "tracing_core/support/digits.h"

namespace tracing { inline namespace v1 {
namespace {

// Says how finite numbers are written.
struct FloatStyle {
  int lowest_plain_exponent;       // the exponent of 1.5 is 0, of 0.15 is -1
  std::string_view exponent_sign;  // before an exponent that is not negative
  bool ties_go_up;                 // if two shortest numbers are equally near, takes the larger instead of the even one
};

constexpr FloatStyle kRust{.lowest_plain_exponent = -4, .exponent_sign = "e", .ties_go_up = true};
constexpr FloatStyle kJson{.lowest_plain_exponent = -5, .exponent_sign = "e+", .ties_go_up = false};
constexpr int kHighestPlainExponent = 15;

using internal::kMaxFloatText;

// The number d.ddd * 10^exponent.
struct Decimal {
  char digits[17];
  int count = 0;
  int exponent = 0;
};

// Returns the exponent of the lowest set bit. REQUIRES: magnitude is positive and finite.
template <class Float>
int lowest_bit(Float magnitude) noexcept {
  using Bits = std::conditional_t<sizeof(Float) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
  constexpr int kFractionBits = std::numeric_limits<Float>::digits - 1;
  constexpr int kExponentOfUnit = std::numeric_limits<Float>::max_exponent - 1 + kFractionBits;
  auto const bits = std::bit_cast<Bits>(magnitude);
  auto const biased_exponent = static_cast<int>(bits >> kFractionBits);
  Bits const hidden_bit = biased_exponent == 0 ? 0 : Bits{1} << kFractionBits;
  Bits const mantissa = (bits & ((Bits{1} << kFractionBits) - 1)) | hidden_bit;
  return std::max(biased_exponent, 1) - kExponentOfUnit + std::countr_zero(mantissa);
}

// Makes `decimal` the larger of it and its neighbor. REQUIRES: `magnitude` is halfway between the two.
template <class Float>
void round_tie_up(Decimal& decimal, Float magnitude) noexcept {
  char text[kMaxFloatText];
  std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific, decimal.count);
  char const floor_digit = decimal.count == 1 ? text[0] : text[decimal.count];
  // The digit is never 9. If it were, the larger number would have fewer digits and would have been chosen as the
  // shortest.
  decimal.digits[decimal.count - 1] = static_cast<char>(floor_digit + 1);
}

template <class Float>
Decimal shortest_decimal(Float magnitude, bool ties_go_up) noexcept {
  char text[kMaxFloatText];
  auto const end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
  Decimal decimal;
  char const* p = text;
  for (; *p != 'e'; ++p) {
    if (*p != '.') decimal.digits[decimal.count++] = *p;
  }
  if (*++p == '+') ++p;  // from_chars does not take a plus sign
  std::from_chars(p, end, decimal.exponent);
  // A number whose lowest bit is 2^-(n+1) has n+1 decimals, and the last decimal is a 5.
  int const decimals = decimal.count - 1 - decimal.exponent;
  if (ties_go_up && decimals > 0 && lowest_bit(magnitude) == -(decimals + 1)) round_tie_up(decimal, magnitude);
  return decimal;
}

char* write(char* at, std::string_view text) noexcept {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* write_zeros(char* at, int count) noexcept {
  std::memset(at, '0', static_cast<std::size_t>(count));
  return at + count;
}

char* write_plain(char* at, Decimal const& decimal) noexcept {
  std::string_view const digits(decimal.digits, static_cast<std::size_t>(decimal.count));
  int const integer_digits = decimal.exponent + 1;
  if (integer_digits <= 0) return write(write_zeros(write(at, "0."), -integer_digits), digits);
  if (integer_digits >= decimal.count)
    return write(write_zeros(write(at, digits), integer_digits - decimal.count), ".0");
  auto const split = static_cast<std::size_t>(integer_digits);
  return write(write(write(at, digits.substr(0, split)), "."), digits.substr(split));
}

char* write_with_exponent(char* at, Decimal const& decimal, FloatStyle const& style) noexcept {
  *at++ = decimal.digits[0];
  if (decimal.count > 1) {
    *at++ = '.';
    at = write(at, {decimal.digits + 1, static_cast<std::size_t>(decimal.count - 1)});
  }
  at = write(at, decimal.exponent < 0 ? "e-" : style.exponent_sign);
  return support::write_uint(at, static_cast<std::uint64_t>(std::abs(decimal.exponent)));
}

// Writes a number with few decimals without searching for the shortest digits. `scaled` / kScale is the quotient of two
// exact numbers, rounded once. If it equals `magnitude`, then these digits read back as `magnitude`; shorter digits do
// not, since every Float keeps this many digits (digits10). Returns null for all other numbers.
template <class Float>
char* write_short(char* at, Float magnitude) noexcept {
  constexpr bool kIsDouble = std::numeric_limits<Float>::digits10 >= 15;
  constexpr Float kScale = kIsDouble ? Float(1e6) : Float(1e3);
  constexpr Float kLimit = kIsDouble ? Float(1e9) : Float(1e3);
  constexpr auto kIntegerScale = static_cast<std::uint64_t>(kScale);
  if (!(magnitude < kLimit) || (magnitude < Float(1e-3) && magnitude != 0)) return nullptr;
  auto const scaled = static_cast<std::uint64_t>(magnitude * kScale + Float(0.5));
  if (static_cast<Float>(scaled) / kScale != magnitude) return nullptr;
  at = support::write_uint(at, scaled / kIntegerScale);
  *at++ = '.';
  auto const fraction = static_cast<std::uint32_t>(scaled % kIntegerScale);
  if (fraction % (kIntegerScale / 10) == 0) {  // one digit, as in most numbers
    *at = static_cast<char>('0' + fraction / (kIntegerScale / 10));
    return at + 1;
  }
  char* end = kIsDouble ? support::write_six_digits(at, fraction) : support::write_digits(at, fraction, 3);
  while (end - at > 1 && end[-1] == '0') --end;
  return end;
}

constexpr int kHighestPower = std::numeric_limits<double>::max_exponent10;

// Returns the double nearest to 10^exponent. REQUIRES: 0 <= exponent <= kHighestPower.
double power_of_ten(int exponent) noexcept {
  char text[8] = "1e";
  auto const end = std::to_chars(text + 2, text + sizeof text, exponent).ptr;
  double power = 0;
  std::from_chars(text, end, power);
  return power;
}

template <class Float>
[[gnu::noinline]] char* write_long(char* at, Float magnitude, FloatStyle const& style) noexcept {
  Decimal const decimal = shortest_decimal(magnitude, style.ties_go_up);
  bool const plain = decimal.exponent >= style.lowest_plain_exponent && decimal.exponent <= kHighestPlainExponent;
  return plain ? write_plain(at, decimal) : write_with_exponent(at, decimal, style);
}

template <class Float>
char* write_finite(char* at, Float value, FloatStyle const& style) noexcept {
  if (std::signbit(value)) *at++ = '-';
  Float const magnitude = std::abs(value);
  char* const end = write_short(at, magnitude);
  return end != nullptr ? end : write_long(at, magnitude, style);
}

template <class Float>
char* write_rust(char* at, Float value) noexcept {
  if (std::isnan(value)) return write(at, "NaN");
  if (std::isinf(value)) return write(at, value < 0 ? "-inf" : "inf");
  return write_finite(at, value, kRust);
}

template <class Float>
void append_rust(TextBuffer& out, Float value) noexcept {
  if (char* const begin = out.reserve(kMaxFloatText))
    out.commit(static_cast<std::size_t>(write_rust(begin, value) - begin));
}

// Writes short numbers itself and leaves all others to fmt, whose versions differ in when they print an exponent.
template <class Float>
void append_as_fmt(TextBuffer& out, Float value) noexcept {
  char* const begin = out.reserve(kMaxFloatText);
  if (begin == nullptr) return;
  char* at = begin;
  if (std::signbit(value)) *at++ = '-';
  char* end = std::isnan(value) ? nullptr : write_short(at, std::abs(value));
  if (end == nullptr) {
    end = fmt::format_to_n(begin, kMaxFloatText, "{}", value).out;
  } else if (end[-1] == '0' && end[-2] == '.') {
    end -= 2;
  }
  out.commit(static_cast<std::size_t>(end - begin));
}

template <class Float>
void append_json_number(TextBuffer& out, Float value) noexcept {
  if (!std::isfinite(value)) return out.append("null");
  if (char* const begin = out.reserve(kMaxFloatText))
    out.commit(static_cast<std::size_t>(write_finite(begin, value, kJson) - begin));
}

// Appends `[`, each byte as `write` writes it, and `]`. kMaxSize is the largest size of a byte's text with its
// separator.
template <std::size_t kMaxSize, class F>
void append_byte_list(TextBuffer& out, std::span<std::byte const> bytes, char separator, F write) noexcept {
  char* const begin = out.reserve(kMaxSize * bytes.size() + 2);
  if (begin == nullptr) return;
  char* at = begin;
  *at++ = '[';
  for (std::byte const byte : bytes) {
    if (at - begin > 1) *at++ = separator;
    at = write(at, static_cast<unsigned char>(byte));
  }
  *at++ = ']';
  out.commit(static_cast<std::size_t>(at - begin));
}

}  // namespace

char* internal::write_float(char* at, double value) noexcept { return write_rust(at, value); }
void append_float(TextBuffer& out, double value) noexcept { append_rust(out, value); }
void append_float(TextBuffer& out, float value) noexcept { append_rust(out, value); }
void append_fmt_float(TextBuffer& out, double value) noexcept { append_as_fmt(out, value); }
void append_fmt_float(TextBuffer& out, float value) noexcept { append_as_fmt(out, value); }
void append_json_float(TextBuffer& out, double value) noexcept { append_json_number(out, value); }
void append_json_float(TextBuffer& out, float value) noexcept { append_json_number(out, value); }

double reread_json_float(double value) noexcept {
  double const magnitude = std::abs(value);
  char scratch[kMaxFloatText];
  if (!std::isfinite(value) || write_short(scratch, magnitude) != nullptr) return value;

  // The digits of the text, including the zeros before the point and one zero after it.
  Decimal const decimal = shortest_decimal(magnitude, kJson.ties_go_up);
  std::uint64_t significand = 0;
  std::from_chars(decimal.digits, decimal.digits + decimal.count, significand);
  int exponent = decimal.exponent + 1 - decimal.count;
  if (exponent >= 0 && decimal.exponent <= kHighestPlainExponent) {
    significand *= support::kPowersOfTen[static_cast<std::size_t>(exponent + 1)];
    exponent = -1;
  }

  auto result = static_cast<double>(significand);
  if (exponent < -kHighestPower) {
    result /= power_of_ten(kHighestPower);
    exponent += kHighestPower;
  }
  double const power = power_of_ten(std::abs(exponent));
  result = exponent < 0 ? result / power : result * power;
  return std::copysign(result, value);
}

void append_int128(TextBuffer& out, Int128 value) noexcept {
  auto const magnitude = static_cast<Uint128>(value);
  if (value < 0) out.push_back('-');
  append_uint128(out, value < 0 ? -magnitude : magnitude);
}

void append_uint128(TextBuffer& out, Uint128 value) noexcept {
  constexpr std::size_t kGroupDigits = 19;
  constexpr std::size_t kMaxSize = 39;
  std::uint64_t const group = support::kPowersOfTen[kGroupDigits];
  char* const begin = out.reserve(kMaxSize);
  if (begin == nullptr) return;
  std::uint64_t groups[3];
  int last = 0;
  for (; value >= group; value /= group) groups[last++] = static_cast<std::uint64_t>(value % group);
  char* end = support::write_uint(begin, static_cast<std::uint64_t>(value));
  while (last > 0) end = support::write_digits(end, groups[--last], kGroupDigits);
  out.commit(static_cast<std::size_t>(end - begin));
}

void append_bytes(TextBuffer& out, std::span<std::byte const> bytes) noexcept {
  append_byte_list<3>(out, bytes, ' ', [](char* at, unsigned char byte) { return support::write_hex_byte(at, byte); });
}

void append_json_byte_array(TextBuffer& out, std::span<std::byte const> bytes) noexcept {
  append_byte_list<4>(out, bytes, ',', [](char* at, unsigned char byte) { return support::write_uint(at, byte); });
}

void append_pointer(TextBuffer& out, void const* pointer) noexcept {
  constexpr std::size_t kMaxSize = 2 + 2 * sizeof(pointer);
  if (char* const begin = out.reserve(kMaxSize)) {
    begin[0] = '0';
    begin[1] = 'x';
    auto const end = std::to_chars(begin + 2, begin + kMaxSize, reinterpret_cast<std::uintptr_t>(pointer), 16).ptr;
    out.commit(static_cast<std::size_t>(end - begin));
  }
}

}}  // namespace tracing::v1
