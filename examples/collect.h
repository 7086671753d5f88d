// Shared by the examples: output to the standard output, and the flag --tracing.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <tracing_core/setup.h>
#include <tracing_core/support/span_clock.h>

namespace examples {

/// True if the clocks advance in work_for() only, so that a test can compare times.
inline bool const is_time_simulated = [] {
  if (std::getenv("EXAMPLE_SIMULATED_TIME") == nullptr) return false;
  tracing::support::simulate_time(1'767'916'569'977'977'000);
  return true;
}();

/// Works hard. With simulated time, records of different threads are ordered only by the work between them.
inline void work_for(std::chrono::nanoseconds duration) {
  if (!is_time_simulated) return std::this_thread::sleep_for(duration);
  auto const passed = static_cast<std::uint64_t>(duration.count());
  tracing::support::simulate_time(tracing::support::simulated_ns + passed);
}

/// Returns a writer to the standard output.
inline tracing::WriterPtr standard_output() { return tracing::to_sink(tracing::FdSink::duplicate_of(1)); }

/// Sets tracing up as a program does; without variables it prints everything to the standard output.
inline tracing::EnvGuard init(tracing::EnvOptions defaults = {}, tracing::RegistryBuilder builder = {}) {
  if (defaults.filter == tracing::EnvOptions().filter) defaults.filter = "trace";
  defaults.output = "stdout";
  return tracing::init_from_env(std::move(defaults), std::move(builder));
}

/// With `--tracing` returns a layer that writes a Chrome trace, trace-<microseconds since 1970>.json, and the guard
/// that completes the trace; otherwise returns null, which a registry ignores.
inline std::pair<std::unique_ptr<tracing::Layer>, tracing::ChromeGuard> trace_if_asked(int argc, char** argv) {
  if (argc < 2 || argv[1] != std::string_view("--tracing")) return {};
  auto made = tracing::chrome_layer();
  std::printf("the trace is in %s\n", made.second.path().c_str());
  return made;
}

}  // namespace examples
