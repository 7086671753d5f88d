// Instant: a time in nanoseconds since 1970.
#pragma once

#include <compare>
#include <cstdint>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// A time of the system clock in nanoseconds since 1970-01-01T00:00:00Z; zero means "not known".
struct Instant {
  std::int64_t ns = 0;

  /// Reads the system clock. Takes about 20 ns.
  static Instant now() noexcept;

  constexpr explicit operator bool() const noexcept { return ns != 0; }
  friend constexpr auto operator<=>(Instant, Instant) noexcept = default;
};

}}  // namespace tracing::v1
