// Measures the launch of an empty kernel on the CPU backend: with the driver's own call, through a Driver that records
// nothing, with spans captured in a ring, with the end of launches printed, and with spans printed. Kernels run on
// another thread, and every hundredth launch waits for them.
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

// A driver with an open device, and the kernel.
struct Loaded {
  Loaded() {
    driver.open_device(0);
    CUmodule module = nullptr;
    driver.module_load(&module, kEmptyKernel, "empty.ptx", sizeof kEmptyKernel);
    driver.module_get_function(&function, module, "empty");
    driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  }

  tracing::cuda::Driver driver{cuda_cpu::cpu_driver_api()};
  CUfunction function = nullptr;
  CUstream stream = nullptr;
};

template <class F>
void launches(benchmark::State& state, F launch) {
  static auto& loaded = *new Loaded;
  int i = 0;
  for (auto _ : state) {
    if (launch(loaded) != CUDA_SUCCESS) state.SkipWithError("the launch failed");
    if (++i % 100 == 0) loaded.driver.stream_synchronize(loaded.stream);
  }
  loaded.driver.stream_synchronize(loaded.stream);
}

void through_driver(benchmark::State& state) {
  launches(state, [](Loaded& loaded) {
    return loaded.driver.launch_kernel(loaded.function, {}, {}, 0, loaded.stream, nullptr);
  });
}

#if defined(TRACING_DISABLED)
void launch_compiled_out(benchmark::State& state) { through_driver(state); }
TRACING_BENCHMARK(launch_compiled_out);
#else
void launch_raw(benchmark::State& state) {
  launches(state, [](Loaded& loaded) {
    return loaded.driver.api().launch_kernel(loaded.function, 1, 1, 1, 1, 1, 1, 0, loaded.stream, nullptr, nullptr);
  });
}
TRACING_BENCHMARK(launch_raw);

void launch_off(benchmark::State& state) { through_driver(state); }
TRACING_BENCHMARK(launch_off);

void launch_captured(benchmark::State& state) {
  using namespace tracing::internal;
  static auto const store = std::make_shared<RecordStore>(Region::make_anonymous(std::size_t{64} << 20));
  bench::use(state, [] { return RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(); });
  through_driver(state);
}
TRACING_BENCHMARK(launch_captured);

void printed(benchmark::State& state, tracing::SpanEvents span_events) {
  static auto const sink = std::make_shared<CountingSink>();
  bench::use(state, [&] {
    return RegistryBuilder()
        .with(tracing::print_layer({.span_events = span_events, .writer = tracing::to_sink(sink)}))
        .build();
  });
  through_driver(state);
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
