// Measures what a test program pays by default: the filter shows the spans, which are at info, and not the events,
// which are at debug; everything is captured. tools/bench_table.py sets TRACE_ variables for some of the benchmarks.
#include <gtest/gtest.h>
#include <testlog/testlog.h>

#include <ctime>

#include "testlog/benchmarks/captured.h"
#include "testlog/benchmarks/store.h"
#include "testlog/records.h"

namespace {

// Returns the processor time of the calling thread, since other programs share the machine.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TRACING_BENCHMARK(captured::event)->Name("shown_event");
TRACING_BENCHMARK(captured::text_event)->Name("shown_event_text");
TRACING_BENCHMARK(captured::five_event)->Name("shown_event_five");
TRACING_BENCHMARK(captured::event_below<100>)->Name("shown_event_below_100");
TRACING_BENCHMARK(captured::event_below<1'000>)->Name("shown_event_below_1000");
TRACING_BENCHMARK(captured::event_below<10'000>)->Name("shown_event_below_10000");
TRACING_BENCHMARK(captured::span)->Name("shown_span");
TRACING_BENCHMARK(captured::text_span)->Name("shown_span_text");
TRACING_BENCHMARK(captured::request)->Name("shown_request");

void shown_span_2_threads(benchmark::State& state) {
  bench::on_threads(state, 2, [](int i) { workload::span(i, 2); });
}
TRACING_THREADS_BENCHMARK(shown_span_2_threads);

// Measures records in memory that is used for the first time. The recording of 64 MiB has room for all of them.
void first_lap(benchmark::State& state, void (*record)(int, int)) {
  int const records = bench::count_or(500'000);
  for (auto _ : state) {
    double const begin = thread_seconds();
    for (int i = 0; i < records; ++i) record(i, 2);
    state.SetIterationTime((thread_seconds() - begin) / records);
  }
}
void shown_event_first_lap(benchmark::State& state) { first_lap(state, workload::event); }
BENCHMARK(shown_event_first_lap)->Apply(bench::once);
void shown_span_first_lap(benchmark::State& state) { first_lap(state, workload::span); }
BENCHMARK(shown_span_first_lap)->Apply(bench::once);

// Measures an event whose field takes a microsecond to make, and this field alone.
void field_function(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(workload::describe(i++));
}
TRACING_BENCHMARK(field_function);
void field_evaluated(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::described_event(i++);
}
TRACING_BENCHMARK(field_evaluated);
TRACING_BENCHMARK(field_evaluated)->Name("field_capture_info");  // with TRACE_CAPTURE=info

// Measures records() after as many events, for each record that it returns. Not counted in instructions: a further call
// executes a few for all records together.
void call_records(benchmark::State& state, int unmeasured_calls) {
  constexpr int kRecords = 100'000;
  for (auto _ : state) {
    for (int i = 0; i < kRecords; ++i) workload::event(i, 2);
    std::size_t found = 0;
    for (int i = 0; i < unmeasured_calls; ++i) found += testlog::records().size();
    double const begin = thread_seconds();
    found = testlog::records().size();
    state.SetIterationTime((thread_seconds() - begin) / kRecords);
    if (found != static_cast<std::size_t>(kRecords)) state.SkipWithError("records are missing");
  }
}
void records_first(benchmark::State& state) { call_records(state, 0); }
BENCHMARK(records_first)->Apply(bench::once);
void records_again(benchmark::State& state) { call_records(state, 1); }
BENCHMARK(records_again)->Apply(bench::once);

// Measures an operation of a store in memory, with about 16 records.
void run_store(benchmark::State& state, int (*run)(int operations)) {
  int const operations = bench::count_or(200'000);
  for (auto _ : state) {
    double const begin = thread_seconds();
    int const wrong = run(operations);
    state.SetIterationTime((thread_seconds() - begin) / operations);
    if (wrong != 0) state.SkipWithError("the store returned a wrong value");
  }
}
void store_without(benchmark::State& state) { run_store(state, store_plain::run); }
void store(benchmark::State& state) { run_store(state, store_traced::run); }
BENCHMARK(store_without)->Apply(bench::once);
BENCHMARK(store)->Name("store_off")->Apply(bench::once);            // with TRACE_CAPTURE=off TRACE_FILTER=off
BENCHMARK(store)->Name("store_capture_info")->Apply(bench::once);   // with TRACE_CAPTURE=info
BENCHMARK(store)->Name("store_capture_debug")->Apply(bench::once);  // with TRACE_CAPTURE=debug
BENCHMARK(store)->Name("store_captured")->Apply(bench::once);
BENCHMARK(store)->Name("store_shown")->Apply(bench::once);  // with TRACE_FILTER=trace, in a file

TEST(Benchmarks, Run) { benchmark::RunSpecifiedBenchmarks(); }

}  // namespace
