// Measures what a record costs in a test program, which captures it.
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <testlog/testlog.h>

#include <memory>

#include "tracing_core/benchmarks/support.h"
#include "tracing_core/benchmarks/workload.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace {

// The peer: spdlog's sink that keeps the last messages.
void log_to_ring(int rows, int columns) {
  static spdlog::logger logger("workload", std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(32768));
  logger.info("step rows={} columns={}", rows, columns);
}
void captured_spdlog(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) log_to_ring(i++, 2);
}
TRACING_BENCHMARK(captured_spdlog);
template <int kThreads>
void captured_spdlog_threads(benchmark::State& state) {
  bench::on_threads(state, kThreads, [](int i) { log_to_ring(i, 2); });
}
TRACING_THREADS_BENCHMARK(captured_spdlog_threads<2>)->Name("captured_spdlog_2_threads");
TRACING_THREADS_BENCHMARK(captured_spdlog_threads<4>)->Name("captured_spdlog_4_threads");

// The baseline: what no record can do without.
void counter(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tracing::support::ticks_now());
}
TRACING_BENCHMARK(counter);

// Makes an event inside three spans.
void captured_event(benchmark::State& state) {
  TRACE_SPAN(info, "outer", tracing::kv("id", 1));
  TRACE_SPAN(info, "middle", tracing::kv("id", 2));
  TRACE_SPAN(info, "inner", tracing::kv("id", 3));
  int i = 0;
  for (auto _ : state) workload::event(i++, 2);
}
TRACING_BENCHMARK(captured_event);
template <int kThreads>
void captured_event_threads(benchmark::State& state) {
  bench::on_threads(state, kThreads, [](int i) { workload::event(i, 2); });
}
TRACING_THREADS_BENCHMARK(captured_event_threads<2>)->Name("captured_event_2_threads");
TRACING_THREADS_BENCHMARK(captured_event_threads<4>)->Name("captured_event_4_threads");

void captured_span(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::span(i++, 2);
}
TRACING_BENCHMARK(captured_span);
template <int kThreads>
void captured_span_threads(benchmark::State& state) {
  bench::on_threads(state, kThreads, [](int i) { workload::span(i, 2); });
}
TRACING_THREADS_BENCHMARK(captured_span_threads<2>)->Name("captured_span_2_threads");

void captured_open_span(benchmark::State& state) {
  bench::time_open_span(state, [] { return workload::open_span(1, 2); });
}
TRACING_BENCHMARK(captured_open_span);

// Makes a span with three events.
void captured_request(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::request(i++, 2);
}
TRACING_BENCHMARK(captured_request);

// The benchmarks are a test, since testlog captures while tests run. Nothing is shown.
TEST_LOG(Benchmarks, Run, .default_filter = "off") { benchmark::RunSpecifiedBenchmarks(); }

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());  // standard output is for the benchmarks
  return RUN_ALL_TESTS();
}
