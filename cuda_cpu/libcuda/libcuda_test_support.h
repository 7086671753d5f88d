// For tests of the driver's functions: a context.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // some of the functions that are tested

namespace cuda_cpu::libcuda {

class InContext : public ::testing::Test {
 protected:
  InContext() {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  ~InContext() override { EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS); }

  CUcontext context = nullptr;
};

}  // namespace cuda_cpu::libcuda
