// The device and its context, by the calls of the driver.
#include <gtest/gtest.h>

#include <array>

#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda { namespace {

using DriverDevice = InContext;

TEST_F(DriverDevice, IsFoundByItsBus) {
  std::array<char, 32> id{};
  CUdevice device = 9;
  EXPECT_EQ(cuDeviceGetPCIBusId(id.data(), 32, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, id.data()), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "0000:17:00.0"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetPCIBusId(id.data(), 4, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverDevice, HasAComputeCapability) {
  int major = 0;
  int minor = -1;
  EXPECT_EQ(cuDeviceComputeCapability(&major, &minor, 0), CUDA_SUCCESS);
  EXPECT_EQ(major, 9);
  EXPECT_EQ(minor, 0);
  EXPECT_EQ(cuDeviceComputeCapability(&major, &minor, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverDevice, LimitsAndFlagsOfTheContextAreGivenBack) {
  std::size_t before = 0;
  std::size_t value = 0;
  EXPECT_EQ(cuCtxGetLimit(&before, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(value, 4096u);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, before), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);

  unsigned flags = 0;
  int is_active = 0;
  EXPECT_EQ(cuCtxSetFlags(CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_YIELD});
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &is_active), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_YIELD});
  EXPECT_EQ(is_active, 1);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_AUTO), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_AUTO});
}

TEST_F(DriverDevice, PreferencesAreAccepted) {
  CUfunc_cache cache{};
  CUsharedconfig banks{};
  EXPECT_EQ(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCacheConfig(&cache), CUDA_SUCCESS);
  EXPECT_EQ(cache, CU_FUNC_CACHE_PREFER_NONE);
  EXPECT_EQ(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetSharedMemConfig(&banks), CUDA_SUCCESS);
  EXPECT_EQ(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  EXPECT_EQ(cuCtxResetPersistingL2Cache(), CUDA_SUCCESS);
  EXPECT_EQ(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                       CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER),
            CUDA_SUCCESS);
}

TEST_F(DriverDevice, HasNoPeer) {
  EXPECT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDisablePeerAccess(context), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(DriverDevice, LosesItsMemoryWhenTheContextIsReset) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverDevice, SaysHowLongTexturesOfLinearMemoryAre) {
  std::size_t texels = 0;
  EXPECT_EQ(cuDeviceGetTexture1DLinearMaxWidth(&texels, CU_AD_FORMAT_FLOAT, 4, 0), CUDA_SUCCESS);
  EXPECT_EQ(texels, std::size_t{1} << 28);
  EXPECT_EQ(cuDeviceGetTexture1DLinearMaxWidth(&texels, CU_AD_FORMAT_FLOAT, 4, 1), CUDA_ERROR_INVALID_DEVICE);
}

}}  // namespace cuda_cpu::libcuda
