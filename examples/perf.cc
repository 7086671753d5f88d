// Perf spans: durations, with a line for each span and a summary.
#include <chrono>

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
  auto [chrome, chrome_guard] = examples::trace_if_asked(argc, argv);
  auto const tracing_guard =
      examples::init({.perf = {.report = true, .summary = true}}, tracing::RegistryBuilder().with(std::move(chrome)));
  TRACE_SPAN(info, "launch", tracing::kv("stream", 7));
  machine::execute(3);
}
