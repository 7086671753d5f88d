// The peer quill: what a statement costs on its thread. The lines are made by another part of quill, which runs between
// the measurements, before the thread's queue is full.
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/NullSink.h>

#include <memory>

#include "tracing_core/benchmarks/count.h"

namespace {

// A queue that neither grows nor moves.
struct QueueOptions : quill::FrontendOptions {
  static constexpr quill::QueueType queue_type = quill::QueueType::BoundedDropping;
  static constexpr std::size_t initial_queue_capacity = std::size_t{4} << 20;
};
using Frontend = quill::FrontendImpl<QueueOptions>;
using Logger = quill::LoggerImpl<QueueOptions>;
constexpr int kStatementsBetweenPolls = 4096;  // of at most 1 KiB

quill::ManualBackendWorker& backend() {
  static quill::ManualBackendWorker& worker = []() -> quill::ManualBackendWorker& {
    auto* const made = quill::Backend::acquire_manual_backend_worker();
    made->init({});
    return *made;
  }();
  return worker;
}

// Calls `log(logger, i)`. Without the backend if instructions are counted, since it would make the lines at exit; the
// queue has room for as many statements.
template <class F>
void time_statements(benchmark::State& state, F log) {
  quill::ManualBackendWorker* const worker = bench::count_or(0) == 0 ? &backend() : nullptr;
  Logger* const logger =
      Frontend::create_or_get_logger("workload", Frontend::create_or_get_sink<quill::NullSink>("null"));
  logger->set_log_level(quill::LogLevel::Debug);
  int i = 0;
  for (auto _ : state) {
    log(logger, ++i);
    if (worker == nullptr || i % kStatementsBetweenPolls != 0) continue;
    state.PauseTiming();
    worker->poll();
    state.ResumeTiming();
  }
  if (worker != nullptr) worker->poll();
}

[[gnu::noinline]] void log_off(Logger* logger, int i) { QUILL_LOG_TRACE_L1(logger, "step {} {}", i, 2); }
[[gnu::noinline]] void log_event(Logger* logger, int i, int j) { QUILL_LOG_DEBUG(logger, "step {} {}", i, j); }
[[gnu::noinline]] void log_text(Logger* logger, int i, char const* name) {
  QUILL_LOG_DEBUG(logger, "step {} {}", i, name);
}
[[gnu::noinline]] void log_five(Logger* logger, int i, int b, int c, int d, int e) {
  QUILL_LOG_DEBUG(logger, "step {} {} {} {} {}", i, b, c, d, e);
}
[[gnu::noinline]] void log_line(Logger* logger, int i) {
  QUILL_LOG_INFO(logger,
                 "server{{device={} stream={}}}:launch{{count={} mode=\"{}\"}}:compile{{grid={} cached={}}}: moved the "
                 "block moved={} ratio={}",
                 0, 7, 64, "checked", 16, true, i, i * 0.5);
}

void off(benchmark::State& state) { time_statements(state, log_off); }
TRACING_BENCHMARK(off);
void event(benchmark::State& state) {
  time_statements(state, [](Logger* logger, int i) { log_event(logger, i, 2); });
}
TRACING_BENCHMARK(event);
void text(benchmark::State& state) {
  time_statements(state, [](Logger* logger, int i) { log_text(logger, i, "checked"); });
}
TRACING_BENCHMARK(text);
void five(benchmark::State& state) {
  time_statements(state, [](Logger* logger, int i) { log_five(logger, i, 2, 3, 4, 5); });
}
TRACING_BENCHMARK(five);
// As many statements as a span and three events are records.
void request(benchmark::State& state) {
  time_statements(state, [](Logger* logger, int i) {
    for (int record = 0; record < 5; ++record) log_event(logger, i, record);
  });
}
TRACING_BENCHMARK(request);
void line(benchmark::State& state) { time_statements(state, log_line); }
TRACING_BENCHMARK(line);

}  // namespace
