// A Chrome trace of what the threads were doing: with --tracing a file for chrome://tracing or ui.perfetto.dev, otherwise the
// text of one on the standard output.
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/tracing.h>

#include "collect.h"

namespace model {

void attention(int layer) {
  TRACE_FN(trace, layer);
  TRACE_DEBUG("{} heads", 8, tracing::kv("head_size", 64));
}

void forward(int layers) {
  TRACE_FN(info, layers, tracing::kv("loss", tracing::empty));
  for (int layer = 0; layer < layers; ++layer) attention(layer);
  tracing::Span::current().record(tracing::kv("loss", 0.25));
}

}  // namespace model

int main(int argc, char** argv) {
  tracing::ChromeOptions options;
  if (argc < 2 || argv[1] != std::string_view("--tracing")) {
    options.sink = tracing::FdSink::duplicate_of(1);
    options.include_locations = false;
  }
  auto [chrome, guard] = tracing::chrome_layer(std::move(options));
  tracing::set_global_default(tracing::RegistryBuilder().with(std::move(chrome)).build());

  model::forward(2);
  std::thread([] {
    tracing::set_thread_name("loader");
    TRACE_SPAN(info, "read", tracing::kv("file", "weights.bin"));
  }).join();
  if (!guard.path().empty()) std::printf("the trace is in %s\n", guard.path().c_str());
}  // the guard completes the trace
