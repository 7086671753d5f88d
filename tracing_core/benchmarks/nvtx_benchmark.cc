// Measures the cost of the bridge to and from NVTX, compared with a push and a pop of NVTX alone.
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <utility>

#include "support.h"
#include "tracing_core/bridge/nvtx.h"
#include "tracing_core/tracing.h"

namespace {

void push_and_pop(benchmark::State& state) {
  nvtxDomainHandle_t const domain = nvtxDomainCreateA("benchmark");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "work");
  for (auto _ : state) {
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
  }
}

void run_under_tool() { setenv("NVTX_INJECTION64_PATH", NVTX_NULL_TOOL, 1); }

// NVTX without a tool: the functions are null.
void nvtx_alone(benchmark::State& state) { push_and_pop(state); }
TRACING_BENCHMARK(nvtx_alone);

// NVTX with a tool whose functions do nothing.
void nvtx_tool(benchmark::State& state) {
  run_under_tool();
  push_and_pop(state);
}
TRACING_BENCHMARK(nvtx_tool);

void in_spans(benchmark::State& state) {
  for (auto _ : state) {
    TRACE_SPAN(info, "work");
  }
}

// A span that is a range, with this tool.
void nvtx_out(benchmark::State& state) {
  run_under_tool();
  bench::use(state, [] { return tracing::RegistryBuilder().with(tracing::bridge::nvtx_layer()).build(); });
  in_spans(state);
}
TRACING_BENCHMARK(nvtx_out);

// The same without a tool, and so without the layer.
void nvtx_out_without_tool(benchmark::State& state) {
  bench::use(state, [] { return tracing::RegistryBuilder().with(tracing::bridge::nvtx_layer()).build(); });
  in_spans(state);
}
TRACING_BENCHMARK(nvtx_out_without_tool);

void receive(benchmark::State& state, tracing::LevelFilter level) {
  unsetenv("NVTX_INJECTION64_PATH");
  if (!tracing::bridge::receive_nvtx().empty()) state.SkipWithError("not received");
  bench::use(state, [level] { return tracing::RegistryBuilder().with_filter(tracing::level_filter(level)).build(); });
  push_and_pop(state);
}

// A range that is a span.
void nvtx_in(benchmark::State& state) { receive(state, tracing::LevelFilter::trace); }
TRACING_BENCHMARK(nvtx_in);

// A range that no filter wants.
void nvtx_in_off(benchmark::State& state) { receive(state, tracing::LevelFilter::off); }
TRACING_BENCHMARK(nvtx_in_off);

}  // namespace
