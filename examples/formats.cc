// The same records in each of the four formats.
#include <cstdio>
#include <utility>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace kernels {

void compile(int count) {
  TRACE_SPAN(debug, "compile", count, tracing::kv("kernel.name", "double"));
  TRACE_INFO("Compiling kernel");
  TRACE_ERROR("{} registers are too many", 300, tracing::kv("limit", 255));
}

void launch() {
  TRACE_SPAN(info, "launch", tracing::kv("stream", 7));
  compile(4);
}

}  // namespace kernels

void print_with(char const* title, tracing::FormatOptions options) {
  std::printf("%s:\n", title);
  std::fflush(stdout);
  auto const registry =
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = std::move(options), .writer = examples::standard_output()}))
          .build();
  tracing::with_default(registry, [] { kernels::launch(); });
}

int main() {
  using tracing::FormatKind;
  print_with("full", {});
  print_with("compact", {.kind = FormatKind::compact});
  print_with("pretty", {.kind = FormatKind::pretty});
  print_with("json", {.kind = FormatKind::json});
  print_with("full with everything", {.file = true, .line_number = true, .thread_ids = true, .thread_names = true});
  print_with("json, flattened", {.kind = FormatKind::json, .flatten_event = true, .span_list = false});
  print_with("full, in colour, without the time", {.ansi = true, .timer = nullptr});
}
