// Sets how often benchmarks repeat from the environment, to count instructions by the difference of two runs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>

namespace bench {

/// Returns the number that TRACING_BENCH_ITERATIONS gives, or `usual` if it is not set.
inline int count_or(int usual) {
  char const* const count = std::getenv("TRACING_BENCH_ITERATIONS");
  return count != nullptr ? std::atoi(count) : usual;
}

inline void count(benchmark::internal::Benchmark* one) {
  if (int const iterations = count_or(0)) one->Iterations(iterations);
}

/// Runs a benchmark once, because a process can measure it only once.
inline void once(benchmark::internal::Benchmark* one) { one->Iterations(1)->Repetitions(1)->UseManualTime(); }

}  // namespace bench

#define TRACING_BENCHMARK(f) BENCHMARK(f)->Apply(bench::count)
