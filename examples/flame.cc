// Folded stacks of the spans in which threads spend their time: the input of flame graphs.
#include <cstdio>
#include <string>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace kernels {

void compile(int count) {
  TRACE_SPAN(debug, "compile", count);
  TRACE_SPAN(trace, "optimise; twice");  // a semicolon would end the frame
}

void launch() {
  TRACE_SPAN(info, "launch");
  compile(4);
}

}  // namespace kernels

namespace {

// Prints folded stacks without their durations, which differ each time.
tracing::WriterPtr without_numbers() {
  return tracing::to_sink(tracing::make_sink([](tracing::Level, std::string_view lines) {
    for (std::size_t end; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1)) {
      std::string_view const stack = lines.substr(0, lines.rfind(' ', end));
      std::printf("%.*s <ns>\n", static_cast<int>(stack.size()), stack.data());
    }
  }));
}

void record(tracing::FlameOptions const& options) {
  auto [layer, guard] = tracing::flame_layer(without_numbers(), options);
  tracing::with_default(tracing::RegistryBuilder().with(std::move(layer)).build(), kernels::launch);
}

}  // namespace

int main() {
  record({});
  std::printf("\nall threads as one, without the time in no span, names alone\n");
  record({.empty_samples = false, .threads_collapsed = true, .module_path = false});
}
