// Measures the cost of a span with two integer fields, from new to close, when nothing is printed.
#include "support.h"
#include "workload.h"

namespace {

using tracing::RegistryBuilder;

void span_registry(benchmark::State& state) {
  bench::use(state, [] { return RegistryBuilder().build(); });
  int i = 0;
  for (auto _ : state) workload::span(i++, 2);
}
TRACING_BENCHMARK(span_registry);
void span_registry_2_threads(benchmark::State& state) {
  bench::use(state, [] { return RegistryBuilder().build(); });
  bench::on_threads(state, 2, [](int i) { workload::span(i, 2); });
}
TRACING_THREADS_BENCHMARK(span_registry_2_threads);

void open_span(benchmark::State& state) {
  bench::use(state, [] { return RegistryBuilder().build(); });
  bench::time_open_span(state, [] { return workload::open_span(1, 2); });
}
TRACING_BENCHMARK(open_span);

void span_full(benchmark::State& state) {
  bench::use(state, [] {
    auto const sink = std::make_shared<bench::CountingSink>();
    return RegistryBuilder().with(tracing::print_layer({.writer = tracing::to_sink(sink)})).build();
  });
  int i = 0;
  for (auto _ : state) workload::span(i++, 2);
}
TRACING_BENCHMARK(span_full);

}  // namespace
