// What a record costs in a test program, which captures it.
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ringbuffer_sink.h>

#include <memory>

#include "tracing_core/benchmarks/support.h"
#include "tracing_core/benchmarks/workload.h"

namespace {

// The peer: spdlog's sink that keeps the last messages.
void captured_spdlog(benchmark::State& state) {
  static spdlog::logger logger("workload", std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(32768));
  int i = 0;
  for (auto _ : state) logger.info("step rows={} columns={}", i++, 2);
}
TRACING_BENCHMARK(captured_spdlog);
TRACING_BENCHMARK(captured_spdlog)->Name("captured_spdlog_2_threads")->Threads(2)->UseRealTime();
TRACING_BENCHMARK(captured_spdlog)->Name("captured_spdlog_4_threads")->Threads(4)->UseRealTime();

void captured_event(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::event(i++, 2);
}
TRACING_BENCHMARK(captured_event);
// The time between two events of any threads.
TRACING_BENCHMARK(captured_event)->Name("captured_event_2_threads")->Threads(2)->UseRealTime();
TRACING_BENCHMARK(captured_event)->Name("captured_event_4_threads")->Threads(4)->UseRealTime();

void captured_span(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::span(i++, 2);
}
TRACING_BENCHMARK(captured_span);

void captured_open_span(benchmark::State& state) {
  bench::time_open_span(state, [] { return workload::open_span(1, 2); });
}
TRACING_BENCHMARK(captured_open_span);

// A span with three events.
void captured_request(benchmark::State& state) {
  int i = 0;
  for (auto _ : state) workload::request(i++, 2);
}
TRACING_BENCHMARK(captured_request);

// The benchmarks are a test, since testlog captures while tests run.
TEST(Benchmarks, Run) { benchmark::RunSpecifiedBenchmarks(); }

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());  // standard output is for the benchmarks
  return RUN_ALL_TESTS();
}
