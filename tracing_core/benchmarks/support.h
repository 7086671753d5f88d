// Declares how a benchmark makes the subscriber of its process: every benchmark runs in a process of its own, because only
// the process's one subscriber has the short way through the dispatcher.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/setup.h"

namespace bench {

/// Makes what `make()` returns the process's subscriber, the first time; a benchmark is called many times. Fails where
/// another benchmark of the process was there before.
template <class F>
void use(benchmark::State& state, F make) {
  static bool const first = tracing::set_global_default(make());
  if (!first) state.SkipWithError("run each benchmark in its own process: tools/bench.sh does");
}

/// Reports bytes, and fails where none arrived: a benchmark of nothing would look very fast.
inline void expect_bytes(benchmark::State& state, tracing::CountingSink const& sink) {
  if (state.thread_index() != 0) return;
  if (sink.bytes() == 0) state.SkipWithError("no byte arrived");
  state.counters["bytes_per_record"] =
      static_cast<double>(sink.bytes()) / static_cast<double>(state.iterations() * state.threads());
}

/// Runs as often as the environment says: two runs of known length differ by the instructions of their iterations.
inline void count(benchmark::internal::Benchmark* one) {
  if (char const* const iterations = std::getenv("TRACING_BENCH_ITERATIONS")) one->Iterations(std::atol(iterations));
}

}  // namespace bench

#define TRACING_BENCHMARK(f) BENCHMARK(f)->Apply(bench::count)
