// Typed recorders: perf events for allocations, executions, transfers, throughput and floating-point operations, with
// the same fields in all programs.
//
// Perf events have level debug and the target of the code around them, and are on if perf spans are on. Arguments are
// evaluated once, and not at all while perf events are off. Durations are <chrono> durations.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/perf/perf_scope.h"

namespace tracing { inline namespace v1 {

/// The direction of a transfer between host and device.
enum class TransferDirection : std::uint8_t { h2d, d2h, d2d };
inline constexpr TransferDirection H2D = TransferDirection::h2d;
inline constexpr TransferDirection D2H = TransferDirection::d2h;
inline constexpr TransferDirection D2D = TransferDirection::d2d;

constexpr std::string_view name(TransferDirection direction) noexcept {
  return direction == TransferDirection::h2d ? "H2D" : direction == TransferDirection::d2h ? "D2H" : "D2D";
}

namespace internal {

// A duration in the units that recorders write.
struct RecordedDuration {
  double seconds;
  std::uint64_t us;
  double ms;

  // Returns the amount per second; zero for an empty duration.
  constexpr double rate(double amount) const noexcept { return seconds > 0 ? amount / seconds : 0; }
};

template <class Duration>
requires requires { typename Duration::period; }
constexpr RecordedDuration recorded_duration(Duration const& duration) noexcept {
  std::uint64_t const ns = threshold(duration).ns;
  return {static_cast<double>(ns) / 1e9, ns / 1000, static_cast<double>(ns / 1000) / 1000};
}

}  // namespace internal
}}  // namespace tracing::v1

#define TRACING_INTERNAL_IF_PERF_(...)                                                            \
  do {                                                                                            \
    if (TRACING_INTERNAL_PERF_ENABLED_("debug", ::tracing::internal::level_debug)) [[unlikely]] { \
      __VA_ARGS__                                                                                 \
    }                                                                                             \
  } while (false)
#define TRACING_INTERNAL_PERF_ENABLED_(text, level) TRACING_INTERNAL_PERF_ENABLED_OF_KIND_(kPerfEventKind, text, level)

/// Records `memory_allocation size=4096 type="pool"`: bytes, and the allocator or the purpose.
#define TRACING_PERF_ALLOCATION(size, type) \
  TRACING_INTERNAL_IF_PERF_(                \
      TRACING_PERF_EVENT("memory_allocation", ::tracing::kv("size", size), ::tracing::kv("type", type));)
/// Records `execution name="gemm" duration_us=83 duration_ms=0.083`.
#define TRACING_PERF_EXECUTION(name, duration)                                                          \
  TRACING_INTERNAL_IF_PERF_(auto const tracing_took = ::tracing::internal::recorded_duration(duration); \
                            TRACING_PERF_EVENT("execution", ::tracing::kv("name", name),                \
                                               ::tracing::kv("duration_us", tracing_took.us),           \
                                               ::tracing::kv("duration_ms", tracing_took.ms));)
/// TRACING_PERF_TRANSFER(bytes, tracing::H2D, duration) records `data_transfer bytes=4096 kb=4.0 mb=0.00390625
/// direction="H2D" duration_us=250 duration_ms=0.25 bandwidth_mbps=15.625 bandwidth_gbps=0.0152587890625`. Kilo is
/// 1024; bandwidths are MiB and GiB per second, zero for an empty duration.
#define TRACING_PERF_TRANSFER(bytes, direction, duration)                                                   \
  TRACING_INTERNAL_IF_PERF_(                                                                                \
      auto const tracing_bytes = static_cast<std::uint64_t>(bytes);                                         \
      auto const tracing_took = ::tracing::internal::recorded_duration(duration);                           \
      double const tracing_mb = static_cast<double>(tracing_bytes) / (1024.0 * 1024.0); TRACING_PERF_EVENT( \
          "data_transfer", ::tracing::kv("bytes", tracing_bytes), ::tracing::kv("kb", tracing_mb * 1024.0), \
          ::tracing::kv("mb", tracing_mb), ::tracing::kv("direction", ::tracing::name(direction)),          \
          ::tracing::kv("duration_us", tracing_took.us), ::tracing::kv("duration_ms", tracing_took.ms),     \
          ::tracing::kv("bandwidth_mbps", tracing_took.rate(tracing_mb)),                                   \
          ::tracing::kv("bandwidth_gbps", tracing_took.rate(tracing_mb) / 1024.0));)
/// Records `operation_throughput items=1000 per_second=4000000.0`.
#define TRACING_PERF_THROUGHPUT(items, duration)                                        \
  TRACING_INTERNAL_IF_PERF_(                                                            \
      auto const tracing_items = static_cast<std::uint64_t>(items);                     \
      auto const tracing_took = ::tracing::internal::recorded_duration(duration);       \
      TRACING_PERF_EVENT("operation_throughput", ::tracing::kv("items", tracing_items), \
                         ::tracing::kv("per_second", tracing_took.rate(static_cast<double>(tracing_items))));)
/// Records `compute_performance operations=4194304 gflops=0.8388608`: floating-point operations, and billions of
/// operations per second.
#define TRACING_PERF_FLOPS(operations, duration)                                                 \
  TRACING_INTERNAL_IF_PERF_(                                                                     \
      auto const tracing_operations = static_cast<std::uint64_t>(operations);                    \
      auto const tracing_took = ::tracing::internal::recorded_duration(duration);                \
      TRACING_PERF_EVENT("compute_performance", ::tracing::kv("operations", tracing_operations), \
                         ::tracing::kv("gflops", tracing_took.rate(static_cast<double>(tracing_operations)) / 1e9));)

#include "tracing_core/support/short_macros.inc"
