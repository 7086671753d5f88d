// For tests: conversions of half-precision numbers. They are slow and follow the definition of the format.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cuda_tests {

using Half = std::uint16_t;

inline double from_half(Half half) {
  int const exponent = (half >> 10) & 0x1f;
  int const mantissa = half & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Rounds to nearest, ties to even.
inline Half to_half(double value) {
  Half const sign = std::signbit(value) ? 0x8000 : 0;
  double const magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7fff;
  if (magnitude >= 65520) return static_cast<Half>(sign | 0x7c00);
  if (magnitude < std::ldexp(1.0, -14))
    return static_cast<Half>(sign | static_cast<Half>(std::nearbyint(std::ldexp(magnitude, 24))));
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = f * 2^exponent, f in [0.5, 1)
  auto const mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));  // 1024 to 2048
  return static_cast<Half>(sign | static_cast<Half>(((exponent + 14) << 10) + (mantissa - 1024)));
}

}  // namespace cuda_tests
