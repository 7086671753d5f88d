// Measures what a Driver adds to a launch: compiled out, recording nothing, with spans captured in a ring, with the end
// of launches printed, and with spans printed. The driver's own launch returns at once and runs nothing: the CPU
// backend wakes a thread, which takes microseconds that vary more than what is measured here.
#include <memory>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "tracing_core/benchmarks/support.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/record/ring/record_layer.h"

namespace {

using bench::CountingSink;
using tracing::RegistryBuilder;

constexpr char kEmptyKernel[] = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry empty()
{
  ret;
}
)";

CUresult CUDAAPI launch_nothing(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                CUstream, void**, void**) {
  return CUDA_SUCCESS;
}

tracing::cuda::DriverApi api_without_launches() {
  tracing::cuda::DriverApi api = cuda_cpu::cpu_driver_api();
  api.launch_kernel = launch_nothing;
  return api;
}

// A driver with an open device, and the kernel.
struct Loaded {
  Loaded() {
    driver.open_device(0);
    CUmodule module = nullptr;
    driver.module_load(&module, kEmptyKernel, "empty.ptx", sizeof kEmptyKernel);
    driver.module_get_function(&function, module, "empty");
    driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  }

  tracing::cuda::Driver driver{api_without_launches()};
  CUfunction function = nullptr;
  CUstream stream = nullptr;
};

void launch(benchmark::State& state) {
  static auto& loaded = *new Loaded;
  for (auto _ : state) {
    if (loaded.driver.launch_kernel(loaded.function, {}, {}, 0, loaded.stream, nullptr) != CUDA_SUCCESS) {
      state.SkipWithError("the launch failed");
    }
  }
}

#if defined(TRACING_DISABLED)
void launch_compiled_out(benchmark::State& state) { launch(state); }
TRACING_BENCHMARK(launch_compiled_out);
#else
void launch_off(benchmark::State& state) { launch(state); }
TRACING_BENCHMARK(launch_off);

void launch_captured(benchmark::State& state) {
  using namespace tracing::internal;
  // Small, so that launches soon write to memory that is in use: recorded_span_first_lap measures first use.
  static auto const store = std::make_shared<RecordStore>(Region::make_anonymous(Region::kMinBytes));
  bench::use(state, [] { return RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(); });
  launch(state);
}
TRACING_BENCHMARK(launch_captured);

void printed(benchmark::State& state, tracing::SpanEvents span_events) {
  static auto const sink = std::make_shared<CountingSink>();
  bench::use(state, [&] {
    return RegistryBuilder()
        .with(tracing::print_layer({.span_events = span_events, .writer = tracing::to_sink(sink)}))
        .build();
  });
  launch(state);
  bench::expect_bytes(state, *sink);
}
void launch_printed(benchmark::State& state) { printed(state, tracing::SpanEvents::none); }
TRACING_BENCHMARK(launch_printed);

void launch_spans_printed(benchmark::State& state) {
  printed(state, tracing::SpanEvents::new_span | tracing::SpanEvents::close);
}
TRACING_BENCHMARK(launch_spans_printed);
#endif

}  // namespace
