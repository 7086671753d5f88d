// Tests that do not free memory, whose names TRACE_CUDA_CHECK=leak reports.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tracing_core/cuda/allow_leaks.h"
#include "tracing_core/tracing.h"

namespace {

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  return memory;
}

class SharedPool : public testing::Test {
 protected:
  static void TearDownTestSuite() { EXPECT_EQ(cudaFree(kept_), cudaSuccess); }
  static inline void* kept_ = nullptr;
};

TEST(Pool, Grows) {
  TRACE_SPAN(info, "load", tracing::kv("layer", 3));
  allocate(1024);
}

TEST(Pool, PinsMemory) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocHost(&memory, 512), cudaSuccess);
}

TEST_F(SharedPool, IsFreedWithItsSuite) { kept_ = allocate(64); }

TEST(Pool, MeansToKeepMemory) {
  {
    tracing::cuda::AllowLeaks const allow;
    allocate(128);
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocHost(&memory, 128), cudaSuccess);
  }
  EXPECT_EQ(cudaFree(allocate(256)), cudaSuccess);
}

}  // namespace
