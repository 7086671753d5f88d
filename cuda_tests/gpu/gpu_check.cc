// What tracing::cuda promises about a real GPU, one question a test. tools/gpu_check.sh runs each test in a process of
// its own, because an error of a kernel breaks the context for good. Lines that begin with INFO are measured, not
// judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/printed.h"
#include "tracing_core/cuda/compile.h"
#include "tracing_core/cuda/device_times.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/driver_library.h"
#include "tracing_core/cuda/nvrtc_library.h"
#include "tracing_core/format/event_format.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda { namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kSource[] = R"(
extern "C" __global__ void empty() {}
extern "C" __global__ void wait(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begin < ns);
}
extern "C" __global__ void add_one(int* x) { atomicAdd(x, 1); }
extern "C" __global__ void out_of_bounds(int* x) { x[1ull << 36] = 1; }
extern "C" __global__ void misaligned(char* x) { *(int*)(x + 1) = 1; }
extern "C" __global__ void failing_assert(int x) { assert(x != 0); }
extern "C" __global__ void trap() { asm volatile("trap;"); }
extern "C" __global__ void ranks(unsigned* out) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  out[blockIdx.x] = rank;
}
)";

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// Everything is printed into a text, so that a test can look for lines. `spans` also prints when spans close.
class Printed {
 public:
  explicit Printed(SpanEvents spans = SpanEvents::none) {
    PrintOptions options;
    options.span_events = spans;
    options.writer = to_sink(make_sink([this](Level, std::string_view line) { text.append(line); }));
    set_global_default(RegistryBuilder().with(print_layer(std::move(options))).build());
  }
  std::string text;
};

class GpuCheck : public testing::Test {
 protected:
  void open() {
    static DriverLibrary const library = load_driver();
    if (!library) GTEST_SKIP() << library.explanation;
    static NvrtcLibrary const nvrtc = load_nvrtc();
    ASSERT_TRUE(nvrtc) << nvrtc.explanation;
    driver = std::make_unique<Driver>(library.api);
    ASSERT_EQ(driver->open_device(0), CUDA_SUCCESS);
    int major = 0, minor = 0;
    driver->api().device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    driver->api().device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
    capability = major * 10 + minor;
    char const* const arch = std::getenv("GPU_CHECK_ARCH");  // compute_90: for the CPU device, which runs PTX
    CompileRequest request{.name = "gpu_check.cu", .source = kSource};
    request.arch = arch == nullptr ? "sm_" + std::to_string(capability) : arch;
    CompiledKernel const kernel = compile(nvrtc.api, request);
    std::string const& image = kernel.cubin.empty() ? kernel.ptx : kernel.cubin;
    ASSERT_EQ(driver->module_load(&module, image.data(), "gpu_check.cu", image.size()), CUDA_SUCCESS);
    ASSERT_EQ(driver->stream_create(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  CUfunction kernel(char const* name) {
    CUfunction function = nullptr;
    EXPECT_EQ(driver->module_get_function(&function, module, name), CUDA_SUCCESS);
    return function;
  }
  template <class... A>
  CUresult launch(char const* name, A... arguments) {
    void* parameters[] = {&arguments..., nullptr};
    return driver->launch_kernel(kernel(name), {}, {}, 0, stream, parameters);
  }
  // Launches the kernel between two others that are right, and expects one of these codes at the synchronisation.
  template <class Codes, class... A>
  void expect_fault(char const* name, Codes const& codes, A... arguments) {
    CUdeviceptr memory = 0;
    ASSERT_EQ(driver->mem_alloc(&memory, 64), CUDA_SUCCESS);
    CUfunction const bad = kernel(name);
    launch("wait", 200'000ULL);
    void* parameters[] = {&arguments..., nullptr};
    driver->launch_kernel(bad, {}, {}, 0, stream, parameters);
    launch("add_one", memory);
    EXPECT_THAT(driver->stream_synchronize(stream), codes);
    ASSERT_TRUE(driver->loss());
    EXPECT_THAT(driver->loss()->to_string(), HasSubstr(name));
    std::printf("INFO %s\n", driver->loss()->to_string().c_str());
  }

  std::unique_ptr<Driver> driver;
  CUmodule module = nullptr;
  CUstream stream = nullptr;
  int capability = 0;
};

#define OPEN()             \
  open();                  \
  if (IsSkipped()) return; \
  if (HasFatalFailure()) return

TEST_F(GpuCheck, RunsAKernelAndObservesItsEnd) {
  Printed printed;
  OPEN();
  CUdeviceptr memory = 0;
  int x = 0;
  ASSERT_EQ(driver->mem_alloc(&memory, 4), CUDA_SUCCESS);
  ASSERT_EQ(driver->memset_d32(memory, 41, 1), CUDA_SUCCESS);
  void* parameters[] = {&memory};
  ASSERT_EQ(driver->launch_kernel(kernel("add_one"), {}, {}, 0, nullptr, parameters), CUDA_SUCCESS);
  ASSERT_EQ(driver->memcpy_dtoh(&x, memory, 4), CUDA_SUCCESS);
  EXPECT_EQ(x, 42);
  EXPECT_THAT(printed.text, HasSubstr("observed_by=cuMemcpyDtoH"));
  EXPECT_THAT(printed.text, ContainsRegex("kernel.name=add_one registers="));
}

TEST_F(GpuCheck, CallsAHostFunctionInTheSpanOfItsCaller) {
  Printed printed;
  OPEN();
  {
    TRACE_SPAN(info, "request");
    launch("wait", 2'000'000ULL);
    driver->launch_host_func(
        stream, [](void*) { TRACE_INFO("called"); }, nullptr);
    driver->stream_synchronize(stream);
  }
  EXPECT_THAT(printed.text, HasSubstr("request:launch_host_func"));
}

TEST_F(GpuCheck, FollowsAGraphToItsEnd) {
  Printed printed;
  OPEN();
  CUdeviceptr memory = 0;
  int x = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(driver->mem_alloc(&memory, 4), CUDA_SUCCESS);
  ASSERT_EQ(driver->memset_d32_async(memory, 0, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  launch("add_one", memory);
  launch("add_one", memory);
  ASSERT_EQ(driver->stream_end_capture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(driver->graph_instantiate(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver->graph_launch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->graph_launch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->stream_synchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->memcpy_dtoh(&x, memory, 4), CUDA_SUCCESS);
  EXPECT_EQ(x, 4);
  EXPECT_THAT(printed.text, HasSubstr("graph_launch{graph=1 nodes=2 stream=1 launch="));
  EXPECT_TRUE(driver->outstanding_launches().empty());
}

TEST_F(GpuCheck, NamesTheGraphWhoseKernelFailed) {
  OPEN();
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(driver->mem_alloc(&memory, 4), CUDA_SUCCESS);
  ASSERT_EQ(driver->stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  launch("out_of_bounds", memory);
  ASSERT_EQ(driver->stream_end_capture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(driver->graph_instantiate(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver->graph_launch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_TRUE(driver->loss());
  EXPECT_THAT(driver->loss()->to_string(), HasSubstr("graph 1"));
}

TEST_F(GpuCheck, CopiesRowsAndAllocatesFromAPool) {
  OPEN();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(driver->mem_pool_create(&pool, properties), CUDA_SUCCESS);
  ASSERT_EQ(driver->mem_alloc_from_pool_async(&memory, 64, pool, stream), CUDA_SUCCESS);
  std::vector<unsigned char> from(16), to(16);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = 16;
  copy.WidthInBytes = 4;
  copy.Height = 4;
  ASSERT_EQ(driver->memcpy_2d_async(copy, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->stream_synchronize(stream), CUDA_SUCCESS);
  copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to.data();
  copy.dstPitch = 4;
  copy.WidthInBytes = 4;
  copy.Height = 4;
  ASSERT_EQ(driver->memcpy_2d(copy), CUDA_SUCCESS);
  EXPECT_EQ(to, from);
  EXPECT_EQ(driver->mem_free_async(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->mem_pool_destroy(pool), CUDA_SUCCESS);
}

TEST_F(GpuCheck, LaunchesAClusterOfTwoBlocks) {
  OPEN();
  if (capability < 90) GTEST_SKIP() << "clusters need compute capability 9.0";
  CUdeviceptr memory = 0;
  unsigned ranks[4] = {9, 9, 9, 9};
  ASSERT_EQ(driver->mem_alloc(&memory, sizeof(ranks)), CUDA_SUCCESS);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 4;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* parameters[] = {&memory};
  ASSERT_EQ(driver->launch_kernel_ex(config, kernel("ranks"), parameters), CUDA_SUCCESS);
  ASSERT_EQ(driver->stream_synchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->memcpy_dtoh(ranks, memory, sizeof(ranks)), CUDA_SUCCESS);
  EXPECT_THAT(ranks, ::testing::ElementsAre(0, 1, 0, 1));
}

TEST_F(GpuCheck, NamesALaunchThatReadsOutOfBounds) {
  OPEN();
  expect_fault("out_of_bounds", CUDA_ERROR_ILLEGAL_ADDRESS, CUdeviceptr{0});
}
TEST_F(GpuCheck, NamesALaunchThatIsMisaligned) {
  OPEN();
  CUdeviceptr memory = 0;
  driver->mem_alloc(&memory, 64);
  expect_fault("misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, memory);
}
TEST_F(GpuCheck, NamesALaunchWhoseAssertionFails) {
  OPEN();
  expect_fault("failing_assert", CUDA_ERROR_ASSERT, 0);
}
// A GPU says CUDA_ERROR_LAUNCH_FAILED, the CPU device CUDA_ERROR_ILLEGAL_INSTRUCTION.
TEST_F(GpuCheck, NamesALaunchThatTraps) {
  OPEN();
  expect_fault("trap", AnyOf(CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ILLEGAL_INSTRUCTION));
}
TEST_F(GpuCheck, NamesTheLaunchExactlyIfLaunchesBlock) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  OPEN();
  launch("wait", 1'000ULL);
  EXPECT_EQ(launch("out_of_bounds", CUdeviceptr{0}), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_TRUE(driver->loss());
  EXPECT_THAT(driver->loss()->to_string(), ContainsRegex("caused by launch [0-9]+ of out_of_bounds$"));
}

// Collects the kernels that the device reports.
class KernelLayer final : public Layer {
 public:
  struct Ran {
    Instant begin, end;
  };
  explicit KernelLayer(std::vector<Ran>& ran) : ran_(ran) {}
  void on_enter(SpanRef span, Context const& context) noexcept override {
    if (span.metadata().name() == "kernel" && context.is_dated()) begin_ = context.time();
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    if (span.metadata().name() == "kernel" && context.is_dated()) ran_.push_back({begin_, context.time()});
  }

 private:
  Instant begin_;
  std::vector<Ran>& ran_;
};

// Compares the device's own times with the time that a kernel waits, with events around it, and with our clock.
TEST_F(GpuCheck, KnowsWhenTheDeviceRanAKernel) {
  if (!start_device_times().empty()) GTEST_SKIP() << start_device_times();
  std::vector<KernelLayer::Ran> ran;
  set_global_default(RegistryBuilder().with(std::make_unique<KernelLayer>(ran)).build());
  OPEN();
  CUevent before = nullptr, after = nullptr;
  driver->event_create(&before, 0);
  driver->event_create(&after, 0);
  CUfunction const wait = kernel("wait");
  for (unsigned long long ns : {5'000ULL, 50'000ULL, 500'000ULL, 5'000'000ULL}) {
    std::vector<double> device_us, event_us, host_us, lead_us;
    for (int i = 0; i < 21; ++i) {
      void* parameters[] = {&ns};
      ran.clear();
      driver->event_record(before, stream);
      double const begin = now_us();
      driver->launch_kernel(wait, {}, {}, 0, stream, parameters);
      driver->event_record(after, stream);
      driver->stream_synchronize(stream);
      double const end = now_us();
      float ms = 0;
      driver->event_elapsed_time(&ms, before, after);
      ASSERT_EQ(ran.size(), 1u) << "one record for each launch, when its stream was waited for";
      double const kernel_begin = static_cast<double>(ran[0].begin.ns) / 1e3;
      double const kernel_end = static_cast<double>(ran[0].end.ns) / 1e3;
      EXPECT_GT(kernel_begin, begin - 2) << "a kernel begins after its launch, on our clock";
      EXPECT_LT(kernel_end, end + 2) << "a kernel ends before the synchronisation returns, on our clock";
      device_us.push_back(kernel_end - kernel_begin);
      event_us.push_back(ms * 1e3);
      host_us.push_back(end - begin);
      lead_us.push_back(kernel_begin - begin);
    }
    double const waits = static_cast<double>(ns) / 1e3;
    EXPECT_GE(median(device_us), waits - 1.5);
    EXPECT_LE(median(device_us), waits + 3);
    std::printf(
        "INFO kernel of %.0f us: device %.2f us, events %.2f, launch to synchronisation %.2f, begins %.2f after its "
        "launch\n",
        waits, median(device_us), median(event_us), median(host_us), median(lead_us));
  }
}

TEST_F(GpuCheck, AddsTheTimeOfTheKernelToItsLaunch) {
  if (!start_device_times().empty()) GTEST_SKIP() << start_device_times();
  Printed printed(SpanEvents::close);
  OPEN();
  launch("wait", 50'000ULL);
  driver->stream_synchronize(stream);
  EXPECT_THAT(printed.text, ContainsRegex("launch.kernel.name=wait [^}]*gpu.time=5[0-9.]+µs.: tracing::cuda: close"));
  EXPECT_THAT(printed.text, HasSubstr("kernel{kernel.name=wait grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0"));
}

// Returns the time of a launch, in microseconds, with a wait for the stream after each 500.
double launch_us(Driver& driver, CUfunction function, CUstream stream, bool directly) {
  constexpr int kLaunches = 5'000;
  DriverApi const& api = driver.api();
  double const begin = now_us();
  for (int i = 0; i < kLaunches; ++i) {
    if (directly) {
      api.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
    } else {
      driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
    }
    if (i % 500 == 499) directly ? api.stream_synchronize(stream) : driver.stream_synchronize(stream);
  }
  return (now_us() - begin) / kLaunches;
}

class LaunchCost : public GpuCheck {
 protected:
  // Prints what a launch through a Driver costs more than the driver alone. In turns: the clock of a GPU changes.
  double measure(char const* how) {
    CUfunction const empty = kernel("empty");
    std::vector<double> alone, through;
    for (int i = 0; i < 8; ++i) {
      double const a = launch_us(*driver, empty, stream, true), b = launch_us(*driver, empty, stream, false);
      if (i == 0) continue;  // warms up
      alone.push_back(a);
      through.push_back(b);
    }
    double const more = median(through) - median(alone);
    std::printf("INFO %s: a launch takes %.3f us, the driver alone %.3f us: %+.3f us (%+.0f %%)\n", how,
                median(through), median(alone), more, 100 * more / median(alone));
    return more / median(alone);
  }
};

TEST_F(LaunchCost, IsAtMostFivePercentWhileNothingIsRecorded) {
  OPEN();
  EXPECT_LT(measure("off"), 0.05);
}
TEST_F(LaunchCost, IsMeasuredWhileEverythingIsCaptured) {
  using namespace tracing::internal;
  auto const store = std::make_shared<RecordStore>(Region::make_anonymous(std::size_t{256} << 20));
  set_global_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build());
  OPEN();
  measure("captured");
}
TEST_F(LaunchCost, IsMeasuredWhileEverythingIsPrinted) {
  Printed printed;
  OPEN();
  printed.text.reserve(std::size_t{64} << 20);
  measure("printed");
}
TEST_F(LaunchCost, IsMeasuredWithDeviceTimes) {
  if (!start_device_times().empty()) GTEST_SKIP() << start_device_times();
  using namespace tracing::internal;
  auto const store = std::make_shared<RecordStore>(Region::make_anonymous(std::size_t{256} << 20));
  set_global_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build());
  OPEN();
  measure("captured, with device times");
}

}}  // namespace tracing::cuda
