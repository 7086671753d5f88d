// In a scope, the records of one thread go to another subscriber. A test that does not use testlog can check its
// records in this way.
#include <cstdio>
#include <string>
#include <vector>

#include <tracing_core/tracing.h>

#include "collect.h"

int main() {
  auto const tracing_guard = examples::init();
  TRACE_INFO("to the process's subscriber");

  std::vector<std::string> lines;
  auto sink = tracing::make_sink([&lines](tracing::Level, std::string_view line) { lines.emplace_back(line); });
  auto const registry =
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = tracing::to_sink(std::move(sink))}))
          .build();
  tracing::with_default(registry, [] { TRACE_INFO("to the scoped one"); });
  {
    tracing::ScopedDefault const scope(registry);
    TRACE_WARN("also to the scoped one");
  }

  TRACE_INFO("to the process's subscriber again");
  for (std::string const& line : lines) std::printf("kept: %s", line.c_str());
}
