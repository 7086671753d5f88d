// Perf spans: durations, with a line for each span and a summary.
#include <chrono>
#include <cstdio>

#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

namespace machine {

void load(int bytes) {
  TRACE_PERF("cpu_ldg", bytes);
  examples::work_for(bytes * 21us);
}

void execute(int instructions) {
  TRACE_PERF("cpu_execute_program", instructions, tracing::kv("grid_size", 1), tracing::kv("block_size", 1));
  examples::work_for(300us);
  load(4);
  load(8);
}

}  // namespace machine

int main(int argc, char** argv) {
  auto [layer, filter, statistics] = tracing::perf_layer();
  auto print = tracing::print_layer({.writer = examples::standard_output()});
  auto [chrome, guard] = examples::trace_if_asked(argc, argv);
  auto const registry = tracing::RegistryBuilder()
                            .with(std::move(print))
                            .with(std::move(chrome))
                            .with(std::move(layer), std::move(filter))
                            .build();
  tracing::with_default(registry, [] {
    TRACE_SPAN(info, "launch", tracing::kv("stream", 7));
    machine::execute(3);
  });

  std::puts("");
  std::fflush(stdout);
  tracing::InlineTextBuffer<1024> table;
  append_perf_table(table, statistics->summary());
  std::fwrite(table.data(), 1, table.size(), stdout);
}
