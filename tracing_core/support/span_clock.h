// The clock that measures the duration of spans.
//
// It reads the processor's counter if the counter is reliable; this costs less than half as much as the system's clock.
// The counter's rate is calibrated against the system's clock without waiting: from the start until now, and again
// whenever the elapsed time has doubled. The error of the rate is the error of two readings, some ten nanoseconds,
// divided by the elapsed time; it is soon less than a millionth.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

__extension__ using WideTicks = unsigned __int128;

struct SpanClock {
  std::atomic<bool> uses_counter{false};           // false: uses the system's clock
  std::atomic<std::uint64_t> ns_per_tick{0};       // times 2^32
  std::atomic<std::uint64_t> next_calibration{0};  // in ticks since the start
  // Written before `uses_counter`.
  std::uint64_t start_ticks = 0;
  std::uint64_t start_ns = 0;
};
extern constinit SpanClock span_clock;

/// Chooses the source in the first call. Must be called before the other functions here. Thread-safe.
void start_span_clock() noexcept;

/// Makes this clock and Instant::now() show `ns` since 1970 until the next call, for programs whose output is compared;
/// 0 restores the real time. A span that is open during the call has no valid duration, unless time was simulated
/// before.
void simulate_time(std::uint64_t ns) noexcept;
/// The simulated time; 0 while time is real.
extern constinit std::atomic<std::uint64_t> simulated_ns;

std::uint64_t system_ns() noexcept;
/// Readings of ticks_now() and system_ns(), taken together. Taking them costs about 100 ns.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t ns;
};
ClockPair read_both_clocks() noexcept;
/// Calibrates the counter and returns the new ns_per_tick. Thread-safe.
std::uint64_t calibrate_span_clock(std::uint64_t ticks_since_start) noexcept;

/// Returns the processor's counter; 0 on a processor whose counter is not known.
inline std::uint64_t read_counter() noexcept {
  std::uint64_t ticks = 0;
#if defined(__x86_64__)
  ticks = __rdtsc();
#elif defined(__aarch64__)
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#endif
  return ticks;
}

/// Reads the clock; only differences between readings are meaningful.
inline std::uint64_t ticks_now() noexcept {
  if (span_clock.uses_counter.load(std::memory_order_acquire)) [[likely]]
    return read_counter();
  return system_ns();
}

/// Returns the nanoseconds from `begin` to `end`; 0 if `end` is earlier. `end` must be a recent reading.
inline std::uint64_t ns_between(std::uint64_t begin, std::uint64_t end) noexcept {
  if (end <= begin) return 0;
  if (!span_clock.uses_counter.load(std::memory_order_relaxed)) return end - begin;
  std::uint64_t const since_start = end - span_clock.start_ticks;
  std::uint64_t rate = span_clock.ns_per_tick.load(std::memory_order_relaxed);
  if (since_start >= span_clock.next_calibration.load(std::memory_order_relaxed)) [[unlikely]]
    rate = calibrate_span_clock(since_start);
  return static_cast<std::uint64_t>((WideTicks{end - begin} * rate) >> 32);
}

}}}  // namespace tracing::v1::support
