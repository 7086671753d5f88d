// What does a line of spdlog's cost that becomes an event in three spans and is printed there, beside the same call by spdlog
// alone? A program of its own: in it the bridge stands before spdlog's functions, which the peer of other rows is not to pay
// for.
#include <spdlog/logger.h>

#include <memory>
#include <utility>

#include "support.h"
#include "tracing_core/bridge/spdlog.h"
#include "workload.h"

namespace {

using tracing::CountingSink;

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

// The logger has no sink of its own, as where the console is muted.
void spdlog_bridged(benchmark::State& state) {
  static auto const sink = std::make_shared<CountingSink>();
  bench::use(state, [] {
    tracing::PrintOptions options;
    options.writer = tracing::to_sink(sink);
    return tracing::RegistryBuilder().with(tracing::print_layer(std::move(options))).build();
  });
  tracing::bridge::install_spdlog();
  spdlog::logger logger("workload", {});
  workload::in_three_spans([&] { log_lines(state, logger); });
  bench::expect_bytes(state, *sink);
}
TRACING_BENCHMARK(spdlog_bridged);

}  // namespace
