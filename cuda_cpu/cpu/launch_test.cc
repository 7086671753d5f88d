#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/cpu/cpu_test_support.h"
#include "tests/support/recording_subscriber.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu { namespace {

using std::chrono::milliseconds;

class CpuLaunch : public CpuDriver {
 protected:
  CpuLaunch() { EXPECT_EQ(api.module_load_data_ex(&module, kTestKernels, 0, nullptr, nullptr), CUDA_SUCCESS); }

  CUfunction function(char const* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(api.module_get_function(&found, module, name), CUDA_SUCCESS) << cpu_driver_last_message();
    return found;
  }
  // Launches one block of one thread.
  template <class... A>
  CUresult launch(CUstream stream, char const* name, A... arguments) {
    void* parameters[] = {&arguments..., nullptr};
    return api.launch_kernel(function(name), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  }
  CUresult launch_shape(char const* name, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
                        unsigned shared_bytes = 0) {
    CUdeviceptr target = allocate(64);
    void* parameters[] = {&target};
    return api.launch_kernel(function(name), grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes,
                             nullptr, parameters, nullptr);
  }

  CUmodule module = nullptr;
};

TEST_F(CpuLaunch, RunsAKernel) {
  auto const address = allocate(sizeof(int));
  EXPECT_EQ(launch(nullptr, "store", address, 41), CUDA_SUCCESS);
  EXPECT_EQ(launch(nullptr, "add_one", address), CUDA_SUCCESS);
  EXPECT_EQ(read(address), 42);
}

TEST_F(CpuLaunch, ReturnsBeforeTheKernelHasEnded) {
  auto const stream = make_stream();
  auto* const flag = allocate_pinned<unsigned>();
  *flag = 0;
  EXPECT_EQ(launch(stream, "wait_for", flag), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_NOT_READY);
  std::atomic_ref<unsigned>(*flag).store(1);
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
}

TEST_F(CpuLaunch, KernelsOfTwoStreamsRunAtTheSameTime) {
  auto const first = make_stream();
  auto const second = make_stream();
  auto const flag = allocate(sizeof(int));
  write(flag, 0);
  EXPECT_EQ(launch(first, "wait_for", flag), CUDA_SUCCESS);
  EXPECT_EQ(launch(second, "store", flag, 1), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_synchronize(first), CUDA_SUCCESS);
}

TEST_F(CpuLaunch, TakesParametersAsABuffer) {
  auto const address = allocate(sizeof(int));
  struct {
    CUdeviceptr to;
    int value;
  } parameters{address, 5};
  std::size_t size = sizeof(parameters);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  auto const store = function("store");
  EXPECT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(read(address), 5);
  size = 8;
  EXPECT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the parameter buffer is too small, missing, or followed by an unknown option");
  void* pointers[] = {&parameters.to, &parameters.value};
  EXPECT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, extra), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuLaunch, RequiresEveryParameter) {
  auto const store = function("store");
  EXPECT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "parameter 1 of store is missing");
  CUdeviceptr address = 0;
  void* pointers[] = {&address, nullptr};
  EXPECT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "parameter 2 of store is missing");
  EXPECT_EQ(api.launch_kernel(function("bound_to_64"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
}

TEST_F(CpuLaunch, RequiresAValidFunctionAndStream) {
  EXPECT_EQ(api.launch_kernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  auto const stream = make_stream();
  EXPECT_EQ(api.stream_destroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(launch(stream, "bound_to_64"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CpuLaunch, ChecksItsShape) {
  EXPECT_EQ(launch_shape("add_one", {1, 1, 1}, {1025, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the block is larger than 1024 threads, or than 1024 x 1024 x 64");
  EXPECT_EQ(launch_shape("add_one", {1, 1, 1}, {32, 32, 2}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape("add_one", {1, 1, 1}, {1, 1, 65}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape("add_one", {1, 1, 1}, {1u << 31, 2, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape("add_one", {1, 65536, 1}, {1, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape("add_one", {1u << 31, 1, 1}, {1, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape("add_one", {1, 0, 1}, {1, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape("add_one", {1, 1, 1}, {0, 1, 1}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the grid or the block is empty");
  EXPECT_EQ(launch_shape("bound_to_64", {1, 1, 1}, {65, 1, 1}), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_EQ(cpu_driver_last_message(), "the block has 65 threads; the limit of bound_to_64 is 64");
  EXPECT_EQ(launch_shape("bound_to_64", {1, 1, 1}, {64, 1, 1}), CUDA_SUCCESS);
}

TEST_F(CpuLaunch, AllowsMoreSharedMemoryOnlyOnRequest) {
  auto const shared = function("sum_shared");
  constexpr unsigned kUsual = 48 * 1024 - 16;
  EXPECT_EQ(launch_shape("sum_shared", {1, 1, 1}, {1, 1, 1}, kUsual), CUDA_SUCCESS);
  EXPECT_EQ(launch_shape("sum_shared", {1, 1, 1}, {1, 1, 1}, kUsual + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "49140 bytes of dynamic shared memory; the limit of sum_shared is 49136");
  EXPECT_EQ(api.func_set_attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kUsual + 4), CUDA_SUCCESS);
  EXPECT_EQ(launch_shape("sum_shared", {1, 1, 1}, {1, 1, 1}, kUsual + 4), CUDA_SUCCESS);
  EXPECT_EQ(api.ctx_synchronize(), CUDA_SUCCESS);
}

TEST_F(CpuLaunch, QueuedKernelOfAnUnloadedModuleStillRuns) {
  auto const stream = make_stream();
  auto const address = allocate(sizeof(int));
  HeldUp held(api, stream);
  EXPECT_EQ(launch(stream, "store", address, 3), CUDA_SUCCESS);
  EXPECT_EQ(api.module_unload(module), CUDA_SUCCESS);
  held.release();
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(read(address), 3);
}

TEST_F(CpuLaunch, PrintsWhenTheHostSynchronizes) {
  auto const stream = make_stream();
  auto const event = make_event();
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(launch(stream, "say", 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(stream, "say", 2), CUDA_SUCCESS);
  EXPECT_EQ(api.event_record(event, stream), CUDA_SUCCESS);
  while (api.event_query(event) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "") << "the host has not synchronized";
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "block 0 says 1\nblock 0 says 2\n");
}

// If the thread entered the span, `testlog stats` would count it twice, with the time of the kernel added to the time
// of the call.
TEST_F(CpuLaunch, IsNotEnteredByTheThreadThatRunsTheKernel) {
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  auto const stream = make_stream();
  auto const address = allocate(sizeof(int));
  tracing::with_default(subscriber, [&] {
    TRACE_SPAN(info, "launch");
    EXPECT_EQ(launch(stream, "store", address, 1), CUDA_SUCCESS);
    EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  });
  auto const lines = subscriber->take();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "enter 1"), 1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "exit 1"), 1);
}

}}  // namespace cuda_cpu
