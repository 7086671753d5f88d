// Measures how many PTX instructions per second the executor runs. Bounds are checked, tracing is off.
#include <benchmark/benchmark.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "cuda_cpu/executor/executor.h"
#include "cuda_cpu/ptx/parse.h"

namespace cuda_cpu { namespace {

class Bench {
 public:
  Bench(std::string const& file, std::string const& kernel, unsigned workers) : executor_({workers, 16}) {
    std::ifstream stream(std::string(TESTLOG_TEST_DIR) + "/testdata/" + file + ".75.ptx");
    auto parsed = ptx::parse(std::string{std::istreambuf_iterator<char>(stream), {}});
    program_ = Program::load(std::get<0>(parsed), memory_);
    kernel_ = program_->find_kernel(kernel);
  }

  std::uintptr_t array(std::size_t floats, float value) {
    auto const address = memory_.allocate(floats * sizeof(float));
    for (std::size_t i = 0; i < floats; ++i) reinterpret_cast<float*>(address)[i] = value;
    return address;
  }
  template <class T>
  void pass(T value) {
    std::size_t const begin = (parameters_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    parameters_.resize(begin + sizeof(T));
    std::memcpy(parameters_.data() + begin, &value, sizeof value);
  }

  template <class Before>
  void run(benchmark::State& state, LaunchShape const& shape, Before const& before) {
    RunStatistics statistics;
    std::clock_t const begin = std::clock();
    for (auto _ : state) {
      before();
      if (auto const fault = executor_.run(*kernel_, shape, parameters_, memory_, {}, &statistics))
        throw std::runtime_error(fault->message);
    }
    state.counters["instructions"] =
        benchmark::Counter(static_cast<double>(statistics.thread_instructions), benchmark::Counter::kIsRate);
    // Measures processor time, which other processes do not disturb.
    double const cpu_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    state.counters["per_core_second"] = static_cast<double>(statistics.thread_instructions) / cpu_seconds;
  }
  void run(benchmark::State& state, LaunchShape const& shape) {
    run(state, shape, [] {});
  }

 private:
  DeviceMemory memory_;
  Executor executor_;
  std::shared_ptr<Program const> program_;
  DecodedKernel const* kernel_ = nullptr;
  std::vector<std::byte> parameters_;
};

void matmul(benchmark::State& state) {
  int const size = 256;
  Bench bench("matmul", "_Z6matmulIfLi16EEvPKT_S2_PS0_iii", static_cast<unsigned>(state.range(0)));
  for (int i = 0; i < 3; ++i) bench.pass(bench.array(size * size, 0.5f));
  for (int i = 0; i < 3; ++i) bench.pass(size);
  bench.run(state, {{size / 16, size / 16}, {16, 16}, 0});
}
BENCHMARK(matmul)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void softmax(benchmark::State& state) {
  int const rows = 64, columns = 4096;
  Bench bench("softmax", "softmax", static_cast<unsigned>(state.range(0)));
  for (int i = 0; i < 2; ++i) bench.pass(bench.array(rows * columns, 1.5f));
  bench.pass(columns);
  bench.run(state, {{rows}, {256}, 0});
}
BENCHMARK(softmax)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void scan(benchmark::State& state) {
  unsigned const blocks = 1024, threads = 256;
  Bench bench("scan", "scan", static_cast<unsigned>(state.range(0)));
  bench.pass(bench.array(blocks * threads, 0));
  bench.pass(bench.array(blocks * threads, 0));
  auto const states = bench.array(blocks * 2, 0);
  bench.pass(states);
  bench.pass(static_cast<int>(blocks * threads));
  bench.run(state, {{blocks}, {threads}, threads * 4},
            [&] { std::memset(reinterpret_cast<void*>(states), 0, blocks * 8); });
}
BENCHMARK(scan)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void empty(benchmark::State& state) {
  Bench bench("faults", "empty", 1);
  bench.run(state, {{1}, {1}, 0});
}
BENCHMARK(empty)->UseRealTime();

}}  // namespace cuda_cpu
