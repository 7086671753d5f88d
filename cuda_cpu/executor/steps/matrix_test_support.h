// For tests of matrices: encodes and decodes the values of elements by the definitions of their types.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "cuda_cpu/executor/reference/apply_form.h"

namespace cuda_cpu {

struct TestFormat {
  int exponent_bits;
  int fraction_bits;
  int shift = 0;  // number of unused low bits
};

inline TestFormat format_of(std::string const& type) {
  if (type == "f16") return {5, 10};
  if (type == "bf16") return {8, 7};
  if (type == "tf32") return {8, 10, 13};
  if (type == "f32") return {8, 23};
  if (type == "f64") return {11, 52};
  return type == "e4m3" ? TestFormat{4, 3} : TestFormat{5, 2};
}

/// Returns zero if no element has this type.
inline unsigned bits_of_type(std::string const& type) {
  if (type == "b1") return 1;
  if (type == "s4" || type == "u4") return 4;
  if (type == "s8" || type == "u8" || type == "e4m3" || type == "e5m2") return 8;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "f32" || type == "tf32" || type == "s32") return 32;
  return type == "f64" ? 64 : 0;
}

/// Returns the value of the bits of an element, which must be finite.
inline double decode(std::string const& type, std::uint64_t bits) {
  unsigned const width = bits_of_type(type);
  if (type == "b1" || type[0] == 'u') return static_cast<double>(bits);
  if (type[0] == 's') {
    std::uint64_t const sign = std::uint64_t{1} << (width - 1);
    return static_cast<double>(static_cast<std::int64_t>((bits ^ sign) - sign));
  }
  auto const [exponent_bits, fraction_bits, shift] = format_of(type);
  bits >>= shift;
  std::uint64_t const fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  auto const exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  int const bias = (1 << (exponent_bits - 1)) - 1;
  double const magnitude =
      std::ldexp(static_cast<double>(exponent == 0 ? fraction : fraction + (std::uint64_t{1} << fraction_bits)),
                 std::max(exponent, 1) - bias - fraction_bits);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -magnitude : magnitude;
}

/// Returns the bits of an element near `value`, which must not be too large or a denormal. Exact if possible.
inline std::uint64_t encode(std::string const& type, double value) {
  unsigned const width = bits_of_type(type);
  if (type[0] == 's' || type[0] == 'u')
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & ((std::uint64_t{1} << width) - 1);
  if (value == 0) return 0;
  auto const [exponent_bits, fraction_bits, shift] = format_of(type);
  int exponent = 0;
  double const significand = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  int const bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent - 1 + bias <= 0) return 0;
  auto const scaled = static_cast<std::uint64_t>(std::ldexp(significand, fraction_bits + 1));
  std::uint64_t const fraction = scaled & ((std::uint64_t{1} << fraction_bits) - 1);
  std::uint64_t const sign = value < 0 ? std::uint64_t{1} << (exponent_bits + fraction_bits) : 0;
  return (sign | static_cast<std::uint64_t>(exponent - 1 + bias) << fraction_bits | fraction) << shift;
}

}  // namespace cuda_cpu
