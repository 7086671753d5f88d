// Declares the clock that measures how long spans take.
//
// Where the processor's counter can be relied upon, it is read in place of the system's clock, which costs more than twice
// as much. How fast it counts is found without waiting: from where it stood at the start to where it stands now, looked at
// anew whenever twice the time has passed. So a duration is off by no more than the two looks are, some ten nanoseconds, and
// soon by a millionth.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tracing::inline v1::internal {

__extension__ using WideTicks = unsigned __int128;

struct SpanClock {
  std::atomic<bool> counts{false};  // the processor's counter is read
  std::atomic<std::uint64_t> ns_per_tick{0};  // times 2^32
  std::atomic<std::uint64_t> next_look{0};    // in ticks since the start
  // Written before `counts`:
  std::uint64_t start_ticks = 0;
  std::uint64_t start_ns = 0;
};
extern constinit SpanClock span_clock;

/// Chooses the source, the first time. REQUIRES: called before the other functions here. Thread-safe.
void start_span_clock() noexcept;

std::uint64_t system_ns() noexcept;
/// What ticks_now() and system_ns() say at one moment. About 100 ns.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t ns;
};
ClockPair look_at_both_clocks() noexcept;
/// How fast the counter has counted until now, remembered for the next ones. Thread-safe.
std::uint64_t look_at_span_clock(std::uint64_t ticks_since_start) noexcept;

/// A moment; only differences mean anything.
inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__)
  if (span_clock.counts.load(std::memory_order_acquire)) [[likely]] return __rdtsc();
#elif defined(__aarch64__)
  if (span_clock.counts.load(std::memory_order_acquire)) [[likely]] {
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  return system_ns();
}

/// The nanoseconds from one moment to a later one, which is now or was just now; zero where they are the other way round.
inline std::uint64_t ns_between(std::uint64_t begin, std::uint64_t end) noexcept {
  if (end <= begin) return 0;
  if (!span_clock.counts.load(std::memory_order_relaxed)) return end - begin;
  std::uint64_t const since_start = end - span_clock.start_ticks;
  std::uint64_t rate = span_clock.ns_per_tick.load(std::memory_order_relaxed);
  if (since_start >= span_clock.next_look.load(std::memory_order_relaxed)) [[unlikely]] rate = look_at_span_clock(since_start);
  return static_cast<std::uint64_t>((WideTicks{end - begin} * rate) >> 32);
}

}  // namespace tracing::inline v1::internal
