#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_support.h"

namespace cuda_cpu { namespace {

TEST_F(CpuDriver, ImplementsEveryCallOfTheTable) {
#define CUDA_CPU_IS_THERE(member, symbol, version) EXPECT_NE(api.member, nullptr) << #symbol;
  TRACING_CUDA_BASIC_DRIVER_CALLS(CUDA_CPU_IS_THERE)
#undef CUDA_CPU_IS_THERE
}

TEST(CpuDriverDeathTest, CallsBeforeInitFail) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const body = [] {
    auto const api = cpu_driver_api();
    int version = 0;
    int devices = 0;
    CUdeviceptr address = 0;
    char const* name = nullptr;
    if (api.driver_get_version(&version) != CUDA_SUCCESS || version != 13000) _exit(1);
    if (api.get_error_name(CUDA_ERROR_NOT_READY, &name) != CUDA_SUCCESS) _exit(2);
    if (api.device_get_count(&devices) != CUDA_ERROR_NOT_INITIALIZED) _exit(3);
    if (api.mem_alloc(&address, 1) != CUDA_ERROR_NOT_INITIALIZED) _exit(4);
    if (api.ctx_synchronize() != CUDA_ERROR_NOT_INITIALIZED) _exit(5);
    if (api.init(1) != CUDA_ERROR_INVALID_VALUE) _exit(6);
    if (api.init(0) != CUDA_SUCCESS || api.device_get_count(&devices) != CUDA_SUCCESS) _exit(7);
    _exit(0);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "");
}

TEST(CpuDriverDeathTest, OptionsConfigureTheDeviceBeforeInit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const body = [] {
    auto const api = cpu_driver_api();
    if (!set_cpu_driver_options({.memory_bytes = 4096, .workers = 3})) _exit(1);
    std::size_t bytes = 0;
    int workers = 0;
    api.init(0);
    if (api.device_total_mem(&bytes, 0) != CUDA_SUCCESS || bytes != 4096) _exit(2);
    api.device_get_attribute(&workers, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    if (workers != 3) _exit(3);
    _exit(set_cpu_driver_options({}) ? 4 : 0);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "");
}

TEST_F(CpuDriver, DescribesItsDevice) {
  int devices = 0;
  EXPECT_EQ(api.device_get_count(&devices), CUDA_SUCCESS);
  EXPECT_EQ(devices, 1);
  CUdevice device = -1;
  EXPECT_EQ(api.device_get(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.device_get(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  char name[64];
  EXPECT_EQ(api.device_get_name(name, sizeof(name), device), CUDA_SUCCESS);
  EXPECT_STREQ(name, "testlog CPU device");
  EXPECT_EQ(api.device_get_name(name, 8, device), CUDA_SUCCESS);
  EXPECT_STREQ(name, "testlog") << "truncated to the buffer";
  EXPECT_EQ(api.device_get_name(name, sizeof(name), 1), CUDA_ERROR_INVALID_DEVICE);
  auto const attribute = [this](CUdevice_attribute which) {
    int value = -1;
    EXPECT_EQ(api.device_get_attribute(&value, which, 0), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 232448);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 0) << "not supported";
  int value = 0;
  EXPECT_EQ(api.device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuDriver, NamesErrors) {
  char const* text = nullptr;
  EXPECT_EQ(api.get_error_name(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(api.get_error_string(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "a kernel read or wrote an invalid address");
  EXPECT_EQ(api.get_error_name(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(CpuDriver, CurrentContextBelongsToTheThread) {
  CUcontext current = nullptr;
  EXPECT_EQ(api.ctx_get_current(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  CUdevice device = -1;
  EXPECT_EQ(api.ctx_get_device(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  std::thread([this] {
    CUcontext none = context;
    EXPECT_EQ(api.ctx_get_current(&none), CUDA_SUCCESS);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(api.ctx_synchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(api.ctx_set_current(context), CUDA_SUCCESS);
    EXPECT_EQ(api.ctx_synchronize(), CUDA_SUCCESS);
  }).join();
  int other = 0;
  EXPECT_EQ(api.ctx_set_current(reinterpret_cast<CUcontext>(&other)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(api.ctx_set_current(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.ctx_synchronize(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(CpuDriver, ContextIsDestroyedByTheLastRelease) {
  auto const address = allocate(4);
  auto const stream = make_stream();
  CUcontext again = nullptr;
  EXPECT_EQ(api.device_primary_ctx_retain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(again, context);
  EXPECT_EQ(api.device_primary_ctx_release(0), CUDA_SUCCESS);
  EXPECT_EQ(read(address), read(address)) << "the context is still retained";
  EXPECT_EQ(api.device_primary_ctx_release(0), CUDA_SUCCESS);
  EXPECT_EQ(api.device_primary_ctx_release(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(api.mem_free(address), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(api.device_primary_ctx_retain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free(address), CUDA_ERROR_INVALID_VALUE) << "freed with the context";
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CpuDriver, CallsInAForkedChildFail) {
  auto const address = allocate(4);
  pid_t const child = fork();
  if (child == 0) {
    int devices = 0;
    CUdeviceptr other = 0;
    if (api.init(0) != CUDA_ERROR_NOT_INITIALIZED) _exit(1);
    if (api.device_get_count(&devices) != CUDA_ERROR_NOT_INITIALIZED) _exit(2);
    if (api.mem_alloc(&other, 4) != CUDA_ERROR_NOT_INITIALIZED) _exit(3);
    if (api.mem_free(address) != CUDA_ERROR_NOT_INITIALIZED) _exit(4);
    if (cpu_driver_last_message() != "this process was forked from one that had used CUDA") _exit(7);
    if (api.ctx_synchronize() != CUDA_ERROR_NOT_INITIALIZED) _exit(5);
    if (api.stream_synchronize(nullptr) != CUDA_ERROR_NOT_INITIALIZED) _exit(6);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
  EXPECT_EQ(api.mem_free(address), CUDA_SUCCESS) << "the parent is not affected";
}

}}  // namespace cuda_cpu
