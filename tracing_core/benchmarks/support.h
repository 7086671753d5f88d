// Helpers of the benchmarks. Every benchmark runs in its own process, because only a process with one subscriber uses
// the fast path of the dispatcher.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/setup.h"

namespace bench {

/// Sets the process's subscriber to the result of `make()` in the first call; a benchmark is called many times. Fails
/// if another benchmark of the process has set it.
template <class F>
void use(benchmark::State& state, F make) {
  static bool const first = tracing::set_global_default(make());
  if (!first) state.SkipWithError("run each benchmark in its own process: tools/bench.sh does");
}

/// Reports the bytes per record, and fails if there are none.
inline void expect_bytes(benchmark::State& state, tracing::CountingSink const& sink) {
  if (state.thread_index() != 0) return;
  if (sink.bytes() == 0) state.SkipWithError("no bytes written");
  state.counters["bytes_per_record"] =
      static_cast<double>(sink.bytes()) / static_cast<double>(state.iterations() * state.threads());
}

/// Sets the number of iterations from the environment, to count instructions by the difference of two runs.
inline void count(benchmark::internal::Benchmark* one) {
  if (char const* const iterations = std::getenv("TRACING_BENCH_ITERATIONS")) one->Iterations(std::atol(iterations));
}

}  // namespace bench

#define TRACING_BENCHMARK(f) BENCHMARK(f)->Apply(bench::count)
