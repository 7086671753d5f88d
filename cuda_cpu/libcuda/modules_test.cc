// Functions, libraries and their kernels, by the calls of the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda { namespace {

class DriverModules : public InContext {
 protected:
  DriverModules() { EXPECT_EQ(cuMemAlloc(&value, sizeof(int)), CUDA_SUCCESS); }
  ~DriverModules() override { EXPECT_EQ(cuMemFree(value), CUDA_SUCCESS); }

  int read() const {
    int found = -1;
    EXPECT_EQ(cuMemcpyDtoH(&found, value, sizeof found), CUDA_SUCCESS);
    return found;
  }

  CUdeviceptr value = 0;
};

TEST_F(DriverModules, FunctionsHaveNamesAndOccupancy) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kTestKernels), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "bound_to_64"), CUDA_SUCCESS);
  char const* name = nullptr;
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "bound_to_64");
  EXPECT_EQ(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE), CUDA_SUCCESS);
  int blocks = -1;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 32);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 100000), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 2) << "of 228 KiB";
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 65, 0, CU_OCCUPANCY_DEFAULT),
            CUDA_SUCCESS);
  EXPECT_EQ(blocks, 0);
  std::size_t bytes = 0;
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 8, 64), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 228 * 1024 / 8 - 1024u);
  int multiprocessors = 0;
  int grid = 0;
  int block = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 64);
  EXPECT_EQ(grid, 32 * multiprocessors);
  auto const bytes_of = [](int threads) -> std::size_t { return threads > 32 ? 100000 : 0; };
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, bytes_of, 0, 48, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 32) << "32 of them have more threads than two of 48";
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverModules, KernelsOfLibrariesAreLaunched) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, kTestKernels, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  int number = 5;
  std::array<void*, 2> arguments{&value, &number};
  auto* const as_function = reinterpret_cast<CUfunction>(kernel);
  EXPECT_EQ(cuLaunchKernel(as_function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(read(), 5);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  number = 6;
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(read(), 6);

  char const* name = nullptr;
  EXPECT_EQ(cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  EXPECT_STREQ(name, "store");
  int carveout = 0;
  EXPECT_EQ(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50, kernel, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetAttribute(&carveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kernel, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(carveout, 50);
  EXPECT_EQ(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0), CUDA_SUCCESS);

  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS params{};
  params.kern = kernel;
  params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments.data();
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeGetParams(node, &params), CUDA_SUCCESS);
  EXPECT_EQ(params.func, function);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverModules, LibrariesHaveVariables) {
  std::string const path = ::testing::TempDir() + "cuda_cpu_libcuda_library.ptx";
  std::ofstream(path) << kTestKernels;
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  std::remove(path.c_str());
  CUdeviceptr counter = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuLibraryGetGlobal(&counter, &bytes, library, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, sizeof(int));
  EXPECT_EQ(cuMemcpyDtoD(value, counter, sizeof(int)), CUDA_SUCCESS);
  EXPECT_EQ(read(), 7);
  EXPECT_EQ(cuLibraryGetManaged(&counter, &bytes, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("could not read"));
}

}}  // namespace cuda_cpu::libcuda
