// monotonic_ns(): reads the system's monotonic clock, also in handlers of signals.
#pragma once

#include <time.h>

#include <cstdint>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Returns the nanoseconds of CLOCK_MONOTONIC. Async-signal-safe.
inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}}}  // namespace tracing::v1::support
