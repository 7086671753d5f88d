// Writers of decimal and hexadecimal digits. The caller provides enough memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

inline constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (unsigned i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

inline constexpr char kHexDigits[] = "0123456789abcdef";

inline constexpr std::size_t kMaxUintDigits = 20;

/// Writes `value` as two digits; returns the end. REQUIRES: value < 100.
inline char* write_two_digits(char* at, std::uint32_t value) noexcept {
  std::memcpy(at, kDigitPairs.data() + 2 * value, 2);
  return at + 2;
}

/// Writes `value` as exactly `count` digits, with leading zeros; returns the end. REQUIRES: value < 10^count.
template <class Uint>
char* write_digits(char* at, Uint value, std::size_t count) noexcept {
  char* p = at + count;
  for (; p - at >= 2; value /= 100) {
    p -= 2;
    write_two_digits(p, static_cast<std::uint32_t>(value % 100));
  }
  if (p != at) *at = static_cast<char>('0' + value);
  return at + count;
}

/// Writes `value` as exactly six digits, as timestamps need them, without a loop. REQUIRES: value < 1'000'000.
inline char* write_six_digits(char* at, std::uint32_t value) noexcept {
  write_two_digits(at, value / 10'000);
  write_two_digits(at + 2, value / 100 % 100);
  return write_two_digits(at + 4, value % 100);
}

/// Returns the number of decimal digits of `value`; 1 for 0.
inline std::size_t count_digits(std::uint64_t value) noexcept {
  // 1233/4096 is slightly more than log10(2), so the estimate is exact or one too high.
  auto const estimate = static_cast<std::size_t>(std::bit_width(value | 1)) * 1233 >> 12;
  return estimate + (value >= kPowersOfTen[estimate] || value == 0 ? 1 : 0);
}

/// Writes `value` in at most kMaxUintDigits digits; returns the end.
inline char* write_uint(char* at, std::uint64_t value) noexcept {
  if (value < 10) {
    *at = static_cast<char>('0' + value);
    return at + 1;
  }
  if (value < 100) return write_two_digits(at, static_cast<std::uint32_t>(value));
  std::size_t const count = count_digits(value);
  // 32-bit divisions take fewer cycles.
  if (value >> 32 == 0) return write_digits(at, static_cast<std::uint32_t>(value), count);
  return write_digits(at, value, count);
}

/// Writes two hexadecimal digits; returns the end.
inline char* write_hex_byte(char* at, unsigned char value) noexcept {
  at[0] = kHexDigits[value >> 4];
  at[1] = kHexDigits[value & 15];
  return at + 2;
}

}}}  // namespace tracing::v1::support
