// Writes a Chrome trace of all threads: with --tracing a file for chrome://tracing or ui.perfetto.dev, otherwise its
// text to the standard output.
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/tracing.h>

#include "collect.h"

using namespace std::chrono_literals;

namespace model {

void attention(int layer) {
  TRACE_FN(trace, layer);
  examples::work_for(2ms);
  TRACE_DEBUG("{} heads", 8, tracing::kv("head_size", 64));
}

void forward(int layers) {
  TRACE_FN(info, layers, tracing::kv("loss", tracing::empty));
  for (int layer = 0; layer < layers; ++layer) attention(layer);
  tracing::Span::current().record(tracing::kv("loss", 0.25));
}

}  // namespace model

int main(int argc, char** argv) {
  auto [chrome, guard] = examples::trace_if_asked(argc, argv);
  if (chrome == nullptr) {
    std::tie(chrome, guard) =
        tracing::chrome_layer({.sink = tracing::FdSink::duplicate_of(1), .include_locations = false});
  }
  tracing::set_global_default(tracing::RegistryBuilder().with(std::move(chrome)).build());

  model::forward(2);
  std::thread([] {
    tracing::set_thread_name("loader");
    examples::work_for(500us);
    TRACE_SPAN(info, "read", tracing::kv("file", "weights.bin"));
    examples::work_for(1ms);
  }).join();
}  // the guard completes the trace
