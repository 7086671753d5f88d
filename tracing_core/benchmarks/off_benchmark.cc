// Measures the cost of a callsite that is off.
#include "support.h"
#include "workload.h"

namespace {

void loop_and_call(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::nothing(i++, 2);
}
TRACING_BENCHMARK(loop_and_call);

void off_event(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::event(i++, 2);
}
TRACING_BENCHMARK(off_event);

void off_span(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::span(i++, 2);
}
TRACING_BENCHMARK(off_span);

}  // namespace
