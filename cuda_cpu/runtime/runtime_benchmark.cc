// Measures the calls of the runtime library's stand-in for which programs wait: launches, and loads of modules. Run
// each benchmark in a process of its own, so that load_first is the first load. runtime_launch_captured needs
// TRACE_RECORD.
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tracing_core/benchmarks/count.h"

namespace {

std::string read(char const* name) {
  std::ifstream file(std::string(TESTLOG_TEST_DIR) + "/../executor/testdata/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As kernel<<<1, 1, 0, stream>>>() with every hundredth launch waited for.
void runtime_launch(benchmark::State& state) {
  constexpr char kEmptyKernel[] = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n";
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaStream_t stream = nullptr;
  cudaLibraryLoadData(&library, kEmptyKernel, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, library, "empty");
  cudaStreamCreate(&stream);
  int i = 0;
  for (auto _ : state) {
    if (cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, stream) != cudaSuccess)
      state.SkipWithError("the launch failed");
    if (++i % 100 == 0) cudaStreamSynchronize(stream);
  }
  cudaStreamSynchronize(stream);
}
TRACING_BENCHMARK(runtime_launch);
TRACING_BENCHMARK(runtime_launch)->Name("runtime_launch_captured");

// With the first kernel looked up, which a launch needs, too.
void load(benchmark::State& state, char const* file, char const* name) {
  std::string const ptx = read(file);
  for (auto _ : state) {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (cudaLibraryGetKernel(&kernel, library, name) != cudaSuccess) state.SkipWithError("the load failed");
    state.PauseTiming();
    cudaLibraryUnload(library);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(ptx.size()) * state.iterations());
}

void runtime_load_first(benchmark::State& state) {
  cudaFree(nullptr);  // opens the device
  load(state, "softmax.75.ptx", "softmax");
}
BENCHMARK(runtime_load_first)->Iterations(1);

void runtime_load_further(benchmark::State& state) { load(state, "matmul.75.ptx", "_Z6matmulIfLi16EEvPKT_S2_PS0_iii"); }
BENCHMARK(runtime_load_further);

}  // namespace
