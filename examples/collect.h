// Shared by the examples: a registry that prints to the standard output, and the flag --tracing.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <tracing_core/internal/span_clock.h>
#include <tracing_core/setup.h>

namespace examples {

/// Whether the clocks advance in work_for() only, so that a test can compare times.
inline bool const is_time_simulated = [] {
  if (std::getenv("EXAMPLE_SIMULATED_TIME") == nullptr) return false;
  tracing::internal::simulate_time(1'767'916'569'977'977'000);
  return true;
}();

/// Hard work. With simulated time, records of different threads are in order only if there is some in between.
inline void work_for(std::chrono::nanoseconds duration) {
  if (!is_time_simulated) return std::this_thread::sleep_for(duration);
  auto const passed = static_cast<std::uint64_t>(duration.count());
  tracing::internal::simulate_time(tracing::internal::simulated_ns + passed);
}

/// A writer to the standard output.
inline tracing::WriterPtr standard_output() { return tracing::to_sink(tracing::FdSink::duplicate_of(1)); }

/// Prints everything that `filter` passes to the standard output, in the full format.
inline void print_everything(std::unique_ptr<tracing::Filter> filter = nullptr) {
  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.writer = standard_output()}), std::move(filter))
          .build());
}

/// With `--tracing` a layer that writes a Chrome trace, trace-<microseconds since 1970>.json, and the guard that
/// completes it; without it null, which a registry ignores.
inline std::pair<std::unique_ptr<tracing::Layer>, tracing::ChromeGuard> trace_if_asked(int argc, char** argv) {
  if (argc < 2 || argv[1] != std::string_view("--tracing")) return {};
  auto made = tracing::chrome_layer();
  std::printf("the trace is in %s\n", made.second.path().c_str());
  return made;
}

/// Prints everything, and writes a Chrome trace of it if asked.
[[nodiscard]] inline tracing::ChromeGuard print_everything(int argc, char** argv) {
  auto [chrome, guard] = trace_if_asked(argc, argv);
  tracing::set_global_default(tracing::RegistryBuilder()
                                  .with(tracing::print_layer({.writer = standard_output()}))
                                  .with(std::move(chrome))
                                  .build());
  return std::move(guard);
}

}  // namespace examples
