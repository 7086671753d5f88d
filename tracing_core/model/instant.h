// Declares Instant, a moment in nanoseconds since 1970, and how to read the clock.
#pragma once

#include <compare>
#include <cstdint>

namespace tracing::inline v1 {

/// A moment of the system's clock in nanoseconds since 1970-01-01T00:00:00Z; zero stands for "not known".
struct Instant {
  std::int64_t ns = 0;

  /// The system's clock. About 20 ns.
  static Instant now() noexcept;

  constexpr explicit operator bool() const noexcept { return ns != 0; }
  friend constexpr auto operator<=>(Instant, Instant) noexcept = default;
};

}  // namespace tracing::inline v1
