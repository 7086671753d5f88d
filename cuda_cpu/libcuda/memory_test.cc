// Copies of arrays, by the calls of the driver.
#include <gtest/gtest.h>

#include <array>

#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda { namespace {

using DriverMemory = InContext;

TEST_F(DriverMemory, ArraysAreCopiedFromAndToEverything) {
  CUDA_ARRAY_DESCRIPTOR const descriptor{8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  CUarray first = nullptr;
  CUarray second = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuArrayCreate(&first, &descriptor), CUDA_SUCCESS);
  ASSERT_EQ(cuArrayCreate(&second, &descriptor), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&memory, 8), CUDA_SUCCESS);
  std::array<char, 8> const text{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
  EXPECT_EQ(cuMemcpyHtoA(first, 0, text.data(), 8), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoAAsync(first, 6, text.data(), 2, nullptr), CUDA_SUCCESS);  // abcdefab
  EXPECT_EQ(cuMemcpyAtoA(second, 0, first, 2, 6), CUDA_SUCCESS);                  // cdefab
  EXPECT_EQ(cuMemcpyAtoD(memory, second, 1, 4), CUDA_SUCCESS);                    // defa
  EXPECT_EQ(cuMemcpyDtoA(second, 4, memory, 4), CUDA_SUCCESS);                    // cdefdefa
  std::array<char, 8> found{};
  EXPECT_EQ(cuMemcpyAtoH(found.data(), second, 0, 8), CUDA_SUCCESS);
  EXPECT_EQ(found, (std::array<char, 8>{'c', 'd', 'e', 'f', 'd', 'e', 'f', 'a'}));
  EXPECT_EQ(cuMemcpyAtoHAsync(found.data(), first, 4, 4, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(found, (std::array<char, 8>{'e', 'f', 'a', 'b', 'd', 'e', 'f', 'a'}));
  EXPECT_EQ(cuMemcpyHtoA(first, 7, text.data(), 2), CUDA_ERROR_INVALID_VALUE) << "past its end";
  EXPECT_EQ(cuMemcpyAtoD(memory, second, 0, 9), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAtoA(first, 0, second, 0, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayDestroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(DriverMemory, ArraysGiveBackTheirDescriptors) {
  CUDA_ARRAY3D_DESCRIPTOR const made{4, 3, 2, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr;
  ASSERT_EQ(cuArray3DCreate(&array, &made), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR found{};
  EXPECT_EQ(cuArray3DGetDescriptor(&found, array), CUDA_SUCCESS);
  EXPECT_EQ(found.Width, 4u);
  EXPECT_EQ(found.Depth, 2u);
  EXPECT_EQ(found.Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
  CUDA_ARRAY_DESCRIPTOR flat{};
  EXPECT_EQ(cuArrayGetDescriptor(&flat, array), CUDA_SUCCESS);
  EXPECT_EQ(flat.Height, 3u);
  EXPECT_EQ(flat.Format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(flat.NumChannels, 2u);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayGetDescriptor(&flat, array), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverMemory, PeerCopiesUseTheOnlyContext) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(memory, 7, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyPeer(memory + 4, context, memory, context, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyPeerAsync(memory + 4, context, memory, nullptr, 4, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  int found = 0;
  EXPECT_EQ(cuMemcpyDtoH(&found, memory + 4, 4), CUDA_SUCCESS);
  EXPECT_EQ(found, 7);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
}

}}  // namespace cuda_cpu::libcuda
