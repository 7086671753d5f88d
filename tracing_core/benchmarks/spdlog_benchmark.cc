// Measures the cost of a spdlog message that becomes an event in three spans and is printed, compared with this call
// and spdlog alone.
#include <spdlog/logger.h>

#include <memory>
#include <utility>

#include "support.h"
#include "tracing_core/bridge/spdlog.h"
#include "workload.h"

namespace {

using bench::CountingSink;

void log_lines(benchmark::State& state, spdlog::logger& logger) {
  int i = 0;
  for (auto _ : state) {
    ++i;
    logger.info("moved the block moved={} ratio={}", i, i * 0.5);
  }
}

void spdlog_alone(benchmark::State& state) {
  auto const sink = std::make_shared<CountingSink>();
  spdlog::logger logger("workload", sink);
  logger.set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %n: %v");
  log_lines(state, logger);
  bench::expect_bytes(state, *sink);
}
TRACING_BENCHMARK(spdlog_alone);

// Has a logger without other sinks, like an attached logger whose console sinks are set aside.
void spdlog_bridged(benchmark::State& state) {
  static auto const sink = std::make_shared<CountingSink>();
  bench::use(state, [] {
    tracing::PrintOptions options;
    options.writer = tracing::to_sink(sink);
    return tracing::RegistryBuilder().with(tracing::print_layer(std::move(options))).build();
  });
  spdlog::logger logger("workload", tracing::bridge::spdlog_sink());
  workload::in_three_spans([&] { log_lines(state, logger); });
  bench::expect_bytes(state, *sink);
}
TRACING_BENCHMARK(spdlog_bridged);

}  // namespace
