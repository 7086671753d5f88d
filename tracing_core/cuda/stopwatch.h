// Stopwatch: measures the time since its construction, in the units of fields.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

/// Rounds to three decimals; more decimals would be noise in a line.
inline double rounded(double value) noexcept { return std::round(value * 1e3) / 1e3; }

class Stopwatch {
 public:
  std::int64_t ns() const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count();
  }
  double ms() const noexcept { return rounded(static_cast<double>(ns()) / 1e6); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}}}}  // namespace tracing::v1::cuda::internal
