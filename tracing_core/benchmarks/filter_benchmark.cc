// Measures the cost of a filter's decision: by a dynamic directive for each record, and by many directives once.
#include <deque>

#include "support.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/tracing.h"
#include "workload.h"

namespace {

using tracing::EnvFilter;
using tracing::RegistryBuilder;

// A layer without hooks, so that only the decision and the way to the registry are measured.
struct NoHooks : tracing::Layer {
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::none; }
};

std::shared_ptr<tracing::Registry> with_dynamic_directive() {
  return RegistryBuilder()
      .with(std::make_unique<NoHooks>(), std::make_unique<EnvFilter>("[chosen]=debug,info"))
      .build();
}

void dynamic_on(benchmark::State& state) {
  bench::use(state, with_dynamic_directive);
  TRACE_SPAN(info, "chosen");
  int i = 0;
  for (auto _ : state) workload::event(i++, 2);
}
TRACING_BENCHMARK(dynamic_on);

void dynamic_off(benchmark::State& state) {
  bench::use(state, with_dynamic_directive);
  TRACE_SPAN(info, "other");
  int i = 0;
  for (auto _ : state) workload::event(i++, 2);
}
TRACING_BENCHMARK(dynamic_off);

// Makes spans while the filter has 1,000 directives for spans of other targets.
void span_foreign_1000(benchmark::State& state) {
  bench::use(state, [] {
    std::string text = "info";
    for (int i = 0; i < 1000; ++i) text += ",foreign" + std::to_string(i) + "[span{x=1}]=trace";
    return RegistryBuilder().with(std::make_unique<NoHooks>(), std::make_unique<EnvFilter>(text)).build();
  });
  int i = 0;
  for (auto _ : state) workload::span(i++, 2);
}
TRACING_BENCHMARK(span_foreign_1000);

std::string directives(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "crate_" + std::to_string(i) + "::module=" + (i % 2 == 0 ? "debug" : "info") + ",";
  return text;
}

void parse_100_directives(benchmark::State& state) {
  std::string const text = directives(100);
  for (auto _ : state) benchmark::DoNotOptimize(EnvFilter::parse_lossy(text));
}
TRACING_BENCHMARK(parse_100_directives);

// Takes too long for the iterations of TRACING_BENCH_ITERATIONS.
void parse_100000_directives(benchmark::State& state) {
  std::string const text = directives(100'000);
  for (auto _ : state) benchmark::DoNotOptimize(EnvFilter::parse_lossy(text));
}
BENCHMARK(parse_100000_directives);

void register_against_100(benchmark::State& state) {
  EnvFilter filter = EnvFilter::parse_lossy(directives(100));
  tracing::RuntimeCallsite const callsite(
      {.target = "crate_50::module::inner", .level = tracing::Level::debug, .fields = {"message"}});
  for (auto _ : state) benchmark::DoNotOptimize(filter.callsite_enabled(callsite.metadata()));
}
TRACING_BENCHMARK(register_against_100);

// Makes and reaches a callsite at run time, beside 40,000 others, and frees the oldest of them.
void runtime_callsite_40000(benchmark::State& state) {
  bench::use(state, [] { return RegistryBuilder().with(std::make_unique<NoHooks>()).build(); });
  std::deque<tracing::RuntimeCallsite> callsites;
  auto const add = [&callsites] { callsites.emplace_back(tracing::CallsiteDescription{}).callsite().enabled(); };
  for (int i = 0; i < 40'000; ++i) add();
  for (auto _ : state) {
    add();
    callsites.pop_front();
  }
}
TRACING_BENCHMARK(runtime_callsite_40000);

}  // namespace
