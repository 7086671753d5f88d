#include "tracing_core/support/span_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "tracing_core/support/monotonic_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tracing { inline namespace v1 { namespace support {
namespace {

// True if the counter's rate does not depend on the processor's frequency and sleep states.
bool counts_evenly() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

// True if the system uses a fallback clock, because it found that the processors' counters differ.
bool system_distrusts_counter() noexcept {
  int const file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[32];
  ssize_t const size = read(file, text, sizeof(text));
  close(file);
  std::string_view const source(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  return source.starts_with("hpet") || source.starts_with("acpi_pm") || source.starts_with("jiffies");
}

bool counter_is_reliable() noexcept { return counts_evenly() && !system_distrusts_counter(); }

// Reads the counter and the system's clock together. Takes the best of three tries, since the thread may be
// interrupted.
ClockPair read_counter_and_system() noexcept {
  ClockPair best{};
  std::uint64_t best_width = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    std::uint64_t const before = read_counter();
    std::uint64_t const ns = system_ns();
    std::uint64_t const width = read_counter() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, ns};
  }
  return best;
}

}  // namespace

constinit SpanClock span_clock;
constinit std::atomic<std::uint64_t> simulated_ns{0};

void simulate_time(std::uint64_t ns) noexcept {
  start_span_clock();
  simulated_ns.store(ns, std::memory_order_relaxed);
  span_clock.uses_counter.store(ns == 0 && counter_is_reliable(), std::memory_order_release);
}

std::uint64_t system_ns() noexcept {
  if (std::uint64_t const simulated = simulated_ns.load(std::memory_order_relaxed)) [[unlikely]]
    return simulated;
  return monotonic_ns();
}

ClockPair read_both_clocks() noexcept {
  ClockPair const now = read_counter_and_system();
  return {span_clock.uses_counter.load(std::memory_order_acquire) ? now.ticks : now.ns, now.ns};
}

void start_span_clock() noexcept {
  [[maybe_unused]] static bool const once = [] {
    ClockPair const start = read_counter_and_system();
    span_clock.start_ticks = start.ticks;
    span_clock.start_ns = start.ns;
    if (counter_is_reliable()) span_clock.uses_counter.store(true, std::memory_order_release);
    return true;
  }();
}

std::uint64_t calibrate_span_clock(std::uint64_t ticks_since_start) noexcept {
  ClockPair const now = read_counter_and_system();
  std::uint64_t const ticks = now.ticks - span_clock.start_ticks;
  std::uint64_t const ns = now.ns - span_clock.start_ns;
  std::uint64_t const rate = ticks == 0 ? 0 : static_cast<std::uint64_t>((WideTicks{ns} << 32) / ticks);
  span_clock.ns_per_tick.store(rate, std::memory_order_relaxed);
  span_clock.next_calibration.store(2 * ticks_since_start, std::memory_order_relaxed);
  return rate;
}

}}}  // namespace tracing::v1::support
