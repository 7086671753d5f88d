// Memory pools, memory of graphs and managed memory, by the calls of the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda { namespace {

using DriverPools = InContext;

cuuint64_t used(CUmemoryPool pool) {
  cuuint64_t bytes = 99;
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes), CUDA_SUCCESS);
  return bytes;
}

#if CUDA_VERSION >= 13000
TEST_F(DriverPools, GiveManagedMemoryIfTheyAreOfIt) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool managed = nullptr;
  CUmemoryPool plain = nullptr;
  CUmemoryPool of_device = nullptr;
  ASSERT_EQ(cuMemGetDefaultMemPool(&managed, &device, CU_MEM_ALLOCATION_TYPE_MANAGED), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetDefaultMemPool(&plain, &device, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&of_device, 0), CUDA_SUCCESS);
  EXPECT_EQ(plain, of_device);
  EXPECT_NE(managed, plain);

  for (bool const is_managed : {true, false}) {
    CUdeviceptr memory = 0;
    unsigned found = 2;
    ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, is_managed ? managed : plain, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory), CUDA_SUCCESS);
    EXPECT_EQ(found, is_managed ? 1u : 0u);
    EXPECT_EQ(cuMemFreeAsync(memory, nullptr), CUDA_SUCCESS);
  }
}

TEST_F(DriverPools, AreChosenByTheKindOfTheirMemory) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  properties.location = device;
  CUmemoryPool pool = nullptr;
  CUmemoryPool current = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_MANAGED, pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&current, &device, CU_MEM_ALLOCATION_TYPE_MANAGED), CUDA_SUCCESS);
  EXPECT_EQ(current, pool);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetMemPool(&current, &device, CU_MEM_ALLOCATION_TYPE_MANAGED), CUDA_SUCCESS);
  EXPECT_NE(current, pool) << "the default pool is the current pool again";
}
#endif

TEST_F(DriverPools, CountWhatIsAllocatedFromThem) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.maxSize = 100;
  CUmemoryPool pool = nullptr;
  CUmemoryPool of_device = nullptr;
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocFromPoolAsync(&first, 64, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 64u);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 64, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("of a memory pool of at most 100"));
  EXPECT_EQ(cuMemAllocFromPoolAsync(&second, 0, pool, nullptr), CUDA_ERROR_INVALID_VALUE);

  EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocAsync(&second, 16, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 80u);
  EXPECT_EQ(cuDeviceGetMemPool(&of_device, 0), CUDA_SUCCESS);
  EXPECT_EQ(of_device, pool);
  EXPECT_EQ(cuMemFreeAsync(first, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(second, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(used(pool), 0u);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetDefaultMemPool(&of_device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetMemPool(&pool, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverPools, GiveBackTheirAttributesAndAccess) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  cuuint64_t threshold = 4096;
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold), CUDA_SUCCESS);
  threshold = 0;
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold), CUDA_SUCCESS);
  EXPECT_EQ(threshold, 4096u);
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccessDesc const access{location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
  CUmemAccess_flags flags{};
  EXPECT_EQ(cuMemPoolGetAccess(&flags, pool, &location), CUDA_SUCCESS);
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(DriverPools, TrimMemoryOfGraphs) {
  cuuint64_t bytes = 99;
  EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGraphMemTrim(1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverPools, AdviceIsAboutManagedMemory) {
  CUdeviceptr managed = 0;
  CUdeviceptr other = 0;
  CUmemLocation const location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&other, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAdvise(managed, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, location), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 64, location, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemPrefetchAsync(managed, 65, location, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAdvise(other, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, location), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("the memory is not of one managed allocation"));
  EXPECT_EQ(cuMemFree(managed), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(other), CUDA_SUCCESS);
}

}}  // namespace cuda_cpu::libcuda
