// Perf spans: durations, with a line for each span and a summary.
#include <chrono>
#include <thread>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace machine {

void load(int bytes) { TRACE_PERF("cpu_ldg", bytes); }

void execute(int instructions) {
  TRACE_PERF("cpu_execute_program", instructions, tracing::kv("grid_size", 1), tracing::kv("block_size", 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // to be the slowest on any machine
  load(4);
  load(4);
}

}  // namespace machine

int main(int argc, char** argv) {
  auto [chrome, chrome_guard] = examples::trace_if_asked(argc, argv);
  auto const tracing_guard = examples::init({.perf = {.report = true, .summary = true}},
                                            tracing::RegistryBuilder().with(std::move(chrome)));
  TRACE_SPAN(info, "launch", tracing::kv("stream", 7));
  machine::execute(3);
}
