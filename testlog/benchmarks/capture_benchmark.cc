// Measures what a record costs in a test program that captures it and shows nothing.
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <testlog/testlog.h>

#include <memory>

#include "testlog/benchmarks/captured.h"
#include "tracing_core/support/span_clock.h"

namespace {

// The peer: spdlog's sink that keeps the last messages.
spdlog::logger& ring() {
  static spdlog::logger logger("workload", std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(32768));
  return logger;
}
void log_to_ring(int rows, int columns) { ring().info("step rows={} columns={}", rows, columns); }
void captured_spdlog(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) log_to_ring(i++, 2);
}
TRACING_BENCHMARK(captured_spdlog);
void captured_spdlog_text(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) ring().info("step rows={} name={}", i++, "checked");
}
TRACING_BENCHMARK(captured_spdlog_text);
void captured_spdlog_five(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) ring().info("step a={} b={} c={} d={} e={}", i++, 2, 3, 4, 5);
}
TRACING_BENCHMARK(captured_spdlog_five);
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

TRACING_BENCHMARK(captured::event)->Name("captured_event");
TRACING_BENCHMARK(captured::text_event)->Name("captured_event_text");
TRACING_BENCHMARK(captured::five_event)->Name("captured_event_five");
TRACING_BENCHMARK(captured::span)->Name("captured_span");
TRACING_BENCHMARK(captured::text_span)->Name("captured_span_text");
TRACING_BENCHMARK(captured::request)->Name("captured_request");

template <int kThreads>
void captured_event_threads(benchmark::State& state) {
  bench::on_threads(state, kThreads, [](int i) { workload::event(i, 2); });
}
TRACING_THREADS_BENCHMARK(captured_event_threads<2>)->Name("captured_event_2_threads");
TRACING_THREADS_BENCHMARK(captured_event_threads<4>)->Name("captured_event_4_threads");

template <int kThreads>
void captured_span_threads(benchmark::State& state) {
  bench::on_threads(state, kThreads, [](int i) { workload::span(i, 2); });
}
TRACING_THREADS_BENCHMARK(captured_span_threads<2>)->Name("captured_span_2_threads");

void captured_open_span(benchmark::State& state) {
  bench::time_open_span(state, [] { return workload::open_span(1, 2); });
}
TRACING_BENCHMARK(captured_open_span);

TEST_LOG(Benchmarks, Run, .default_filter = "off") { benchmark::RunSpecifiedBenchmarks(); }

}  // namespace
