// Measures the cost of a perf span with two integer fields: off, below the threshold, in the summary only, printed.
#include <chrono>
#include <utility>

#include "support.h"
#include "tracing_core/perf/perf_layer.h"
#include "workload.h"

namespace {

using bench::CountingSink;
using tracing::RegistryBuilder;

std::shared_ptr<tracing::Registry> collecting(tracing::PerfOptions options, std::shared_ptr<CountingSink> const& sink) {
  auto [layer, filter, statistics] = tracing::perf_layer(std::move(options));
  return RegistryBuilder()
      .with(tracing::print_layer({.writer = tracing::to_sink(sink)}))
      .with(std::move(layer), std::move(filter))
      .build();
}

// Has a print layer, which does not receive perf spans.
void perf_off(benchmark::State& state) {
  bench::use(state, [] {
    return RegistryBuilder()
        .with(tracing::print_layer({.writer = tracing::to_sink(std::make_shared<CountingSink>())}))
        .build();
  });
  int i = 0;
  for (auto _ : state) workload::perf_span(i++, 2);
}
TRACING_BENCHMARK(perf_off);

void perf_below(benchmark::State& state) {
  bench::use(state, [] { return collecting({.threshold = std::chrono::hours(1)}, std::make_shared<CountingSink>()); });
  int i = 0;
  for (auto _ : state) workload::perf_span(i++, 2);
}
TRACING_BENCHMARK(perf_below);

void perf_summary(benchmark::State& state) {
  bench::use(state, [] { return collecting({.report = false}, std::make_shared<CountingSink>()); });
  int i = 0;
  for (auto _ : state) workload::perf_span(i++, 2);
}
TRACING_BENCHMARK(perf_summary);
void perf_summary_2_threads(benchmark::State& state) {
  bench::use(state, [] { return collecting({.report = false}, std::make_shared<CountingSink>()); });
  bench::on_threads(state, 2, [](int i) { workload::perf_span(i, 2); });
}
TRACING_THREADS_BENCHMARK(perf_summary_2_threads);

// Prints inside three spans with two fields each, like the lines that it is compared with.
void perf_printed(benchmark::State& state) {
  static auto const sink = std::make_shared<CountingSink>();
  bench::use(state, [] { return collecting({}, sink); });
  int i = 0;
  workload::in_three_spans([&] {
    for (auto _ : state) workload::perf_span(i++, 2);
  });
  bench::expect_bytes(state, *sink);
}
TRACING_BENCHMARK(perf_printed);

}  // namespace
