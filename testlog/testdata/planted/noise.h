// What differs from run to run without a meaning: ids, ports, sizes, addresses and times.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

#include "tracing_core/tracing.h"

namespace planted {

/// Returns a random number below `end`.
inline std::uint32_t random_below(std::uint32_t end) {
  static thread_local std::mt19937 engine{std::random_device{}()};
  return static_cast<std::uint32_t>(engine() % end);
}

/// Sleeps for a random time, as a disk or a network would let the thread wait.
inline void nap(std::uint32_t max_us) { std::this_thread::sleep_for(std::chrono::microseconds(random_below(max_us))); }

/// Records what a connection would.
inline void make_noise() {
  int const local = 0;
  TRACE_TRACE("connected", tracing::kv("id", random_below(1u << 30)), tracing::kv("port", 1024 + random_below(60000)),
              tracing::kv("bytes", random_below(1u << 20)), tracing::kv("buffer", static_cast<void const*>(&local)));
}

}  // namespace planted
