// Declares floating-point operations of PTX that processors lack: flushed denormals, saturation, the canonical NaN,
// half precision.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cuda_cpu/executor/machine/machine.h"

namespace cuda_cpu {

inline float as_float(std::uint32_t bits) noexcept { return std::bit_cast<float>(bits); }
inline double as_double(std::uint64_t bits) noexcept { return std::bit_cast<double>(bits); }
inline std::uint64_t bits_of(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }
constexpr std::uint32_t kNan32 = 0x7fffffff;
constexpr std::uint16_t kNan16 = 0x7fff;  // the canonical NaN of halves and of bfloats

/// Returns the bits, with the canonical NaN in place of any NaN.
inline std::uint32_t bits_of(float value) noexcept {
  return value != value ? kNan32 : std::bit_cast<std::uint32_t>(value);
}

/// Replaces a denormal by a zero of its sign.
inline float flushed(float value) noexcept {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000) == 0 ? as_float(bits & 0x80000000) : value;
}
/// Clamps to [0, 1]; NaN becomes zero.
template <class T>
T saturated(T value) noexcept {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

inline float half_to_float(std::uint16_t half) noexcept {
  std::uint32_t const sign = std::uint32_t{half & 0x8000u} << 16;
  std::uint32_t const exponent = half >> 10 & 31u;
  std::uint32_t const fraction = half & 1023u;
  if (exponent == 31) return as_float(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return as_float(sign | (exponent + 112) << 23 | fraction << 13);
  float const magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return as_float(sign | std::bit_cast<std::uint32_t>(magnitude));
}
inline std::uint16_t flushed_half(std::uint16_t half) noexcept {
  return (half & 0x7c00) == 0 ? static_cast<std::uint16_t>(half & 0x8000) : half;
}

inline float bfloat_to_float(std::uint16_t bfloat) noexcept { return as_float(std::uint32_t{bfloat} << 16); }
inline std::uint16_t flushed_bfloat(std::uint16_t bfloat) noexcept {
  return (bfloat & 0x7f80) == 0 ? static_cast<std::uint16_t>(bfloat & 0x8000) : bfloat;
}

/// Returns a * b + c for bfloats or halves, rounded to odd: a second rounding, to fewer bits, then gives the rounding
/// of the exact value (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
inline double fused_to_odd(double a, double b, double c) noexcept {
  double const product = a * b;  // exact
  double const sum = product + c;
  if (!(std::fabs(sum) <= std::numeric_limits<double>::max())) return sum;
  double const part = sum - product;
  double const error = (product - (sum - part)) + (c - part);
  std::uint64_t const bits = bits_of(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  return as_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// A binary floating-point format.
struct FloatFormat {
  int fraction_bits;  // stored bits of the significand
  int exponent_bits;
};
constexpr FloatFormat kHalf{10, 5};
constexpr FloatFormat kBfloat{7, 8};
constexpr FloatFormat kSingle{23, 8};
constexpr FloatFormat kDouble{52, 11};

/// Returns the bits of significand * 2^exponent, rounded once, which may give a denormal, an infinity or the largest
/// number.
std::uint64_t round_to(FloatFormat format, bool negative, std::uint64_t significand, int exponent,
                       Rounding rounding) noexcept;

/// Rounds once to half precision.
std::uint16_t double_to_half(double value, Rounding rounding) noexcept;
/// Rounds once to a bfloat.
std::uint16_t double_to_bfloat(double value, Rounding rounding) noexcept;
/// Rounds once to nearest. Values above the greatest number, and infinities, become the greatest number.
std::uint8_t double_to_e4m3(double value) noexcept;
std::uint8_t double_to_e5m2(double value) noexcept;
/// Returns the half of equal value.
std::uint16_t e4m3_to_half(std::uint8_t value) noexcept;
inline std::uint16_t e5m2_to_half(std::uint8_t value) noexcept {
  return (value & 0x7f) > 0x7c ? kNan16 : static_cast<std::uint16_t>(value << 8);
}
/// Rounds once to single precision.
std::uint32_t double_to_single(double value, Rounding rounding) noexcept;

}  // namespace cuda_cpu
