// Folded stacks of the spans in which threads spend their time: the input of flame graphs.
#include <chrono>
#include <cstdio>

#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

namespace kernels {

void compile(int count) {
  TRACE_SPAN(debug, "compile", count);
  examples::work_for(40us);
  TRACE_SPAN(trace, "optimise; twice");  // a semicolon would end the frame
  examples::work_for(160us);
}

void launch() {
  TRACE_SPAN(info, "launch");
  compile(4);
  examples::work_for(20us);
}

}  // namespace kernels

namespace {

void record(tracing::FlameOptions const& options) {
  auto [layer, guard] = tracing::flame_layer(examples::standard_output(), options);
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), kernels::launch);
}

}  // namespace

int main() {
  record({});
  std::printf("\nall threads as one, without the time in no span, names alone\n");
  std::fflush(stdout);
  record({.empty_samples = false, .threads_collapsed = true, .module_path = false});
}
