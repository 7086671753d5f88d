#include "cuda_cpu/executor/steps/numbers.h"

#include <algorithm>

namespace cuda_cpu {
namespace {

struct Parts {
  bool negative;
  std::uint64_t significand;
  int exponent;
};

// REQUIRES: `value` is finite.
Parts parts_of(double value) noexcept {
  std::uint64_t const bits = bits_of(value);
  auto const stored = static_cast<int>(bits >> 52 & 2047);
  std::uint64_t const fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (stored == 0) return {bits >> 63 != 0, fraction, -1074};
  return {bits >> 63 != 0, fraction | std::uint64_t{1} << 52, stored - 1075};
}

std::uint64_t double_to(FloatFormat format, double value, Rounding rounding, std::uint64_t nan) noexcept {
  if (std::isnan(value)) return nan;
  int const top = format.fraction_bits + format.exponent_bits;
  if (std::isinf(value)) {
    std::uint64_t const infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
    return infinity | (std::signbit(value) ? std::uint64_t{1} << top : 0);
  }
  auto const parts = parts_of(value);
  return round_to(format, parts.negative, parts.significand, parts.exponent, rounding);
}

}  // namespace

std::uint64_t round_to(FloatFormat format, bool negative, std::uint64_t significand, int exponent,
                       Rounding rounding) noexcept {
  int const fraction_bits = format.fraction_bits;
  int const bias = (1 << (format.exponent_bits - 1)) - 1;
  std::uint64_t const sign = negative ? std::uint64_t{1} << (fraction_bits + format.exponent_bits) : 0;
  if (significand == 0) return sign;
  int const length = 64 - std::countl_zero(significand);
  // The exponent of the last bit of the result; for denormals it is fixed.
  int const lowest = 1 - bias - fraction_bits;
  int const last = std::max(exponent + length - (fraction_bits + 1), lowest);
  int const drop = last - exponent;
  std::uint64_t kept = 0;
  bool up = false;
  bool const away = (rounding == Rounding::up && !negative) || (rounding == Rounding::down && negative);
  if (drop <= 0) {
    kept = significand << -drop;
  } else {
    kept = drop < 64 ? significand >> drop : 0;
    std::uint64_t const rest = drop < 64 ? significand & ((std::uint64_t{1} << drop) - 1) : significand;
    if (rounding == Rounding::nearest) {
      // Bit drop - 1 is worth half of the last kept bit. If it is beyond 64 bits, the rest is less than half.
      if (drop <= 64) {
        std::uint64_t const half = std::uint64_t{1} << (drop - 1);
        up = rest > half || (rest == half && (kept & 1) != 0);
      }
    } else {
      up = away && rest != 0;
    }
  }
  kept += up ? 1 : 0;
  // Adds exponent and fraction as one integer: if rounding carries, the exponent becomes one larger, also from a
  // denormal to a normal number.
  std::uint64_t const hidden = std::uint64_t{1} << fraction_bits;
  std::uint64_t const result =
      kept < hidden ? kept : kept - hidden + (static_cast<std::uint64_t>(last - lowest + 1) << fraction_bits);
  std::uint64_t const infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << fraction_bits;
  if (result < infinity) return sign | result;
  bool const stays_finite = rounding != Rounding::nearest && !away;
  return sign | (stays_finite ? infinity - 1 : infinity);
}

std::uint16_t double_to_half(double value, Rounding rounding) noexcept {
  return static_cast<std::uint16_t>(double_to(kHalf, value, rounding, kNan16));
}
std::uint16_t double_to_bfloat(double value, Rounding rounding) noexcept {
  return static_cast<std::uint16_t>(double_to(kBfloat, value, rounding, kNan16));
}

// e4m3 has numbers in place of infinities; its greatest number is 448. So from 16 on, far above the denormals, we round
// half of the value and then add one to the exponent.
std::uint8_t double_to_e4m3(double value) noexcept {
  constexpr FloatFormat kFormat{3, 4};
  if (std::isnan(value)) return 0x7f;
  double const magnitude = std::fabs(value);
  std::uint8_t const sign = std::signbit(value) ? 0x80 : 0;
  if (magnitude >= 448) return sign | 0x7e;
  auto const bits = magnitude < 16 ? double_to(kFormat, magnitude, Rounding::nearest, 0)
                                   : double_to(kFormat, magnitude / 2, Rounding::nearest, 0) + 8;
  return static_cast<std::uint8_t>(sign | bits);
}

std::uint8_t double_to_e5m2(double value) noexcept {
  constexpr FloatFormat kFormat{2, 5};
  constexpr double kGreatest = 57344;
  if (std::isnan(value)) return 0x7f;
  double const clamped = std::fabs(value) > kGreatest ? std::copysign(kGreatest, value) : value;
  return static_cast<std::uint8_t>(double_to(kFormat, clamped, Rounding::nearest, 0));
}

std::uint16_t e4m3_to_half(std::uint8_t value) noexcept {
  int const exponent = value >> 3 & 15, fraction = value & 7;
  if ((value & 0x7f) == 0x7f) return kNan16;
  double const magnitude = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return double_to_half((value & 0x80) != 0 ? -magnitude : magnitude, Rounding::nearest);
}

std::uint32_t double_to_single(double value, Rounding rounding) noexcept {
  return static_cast<std::uint32_t>(double_to(kSingle, value, rounding, kNan32));
}

}  // namespace cuda_cpu
