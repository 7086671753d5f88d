// A test of CUDA code, on any machine: linked with testlog::cuda_cpu, as here, its kernels run on the CPU; linked with
// CUDA's own runtime library, the same file runs them on a GPU. One test fails on purpose.
#include <vector>

#include <testlog/testlog.h>
#include <tracing_core/cuda/check.h>
#include <tracing_core/tracing.h>

namespace images {
namespace {

__global__ void scale(float* values, unsigned count, float factor) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

void brighten(std::vector<float>& pixels, float factor) {
  TRACE_FN(debug, tracing::kv("pixels", pixels.size()), factor);
  unsigned const count = static_cast<unsigned>(pixels.size()), threads = 32;
  float* values = nullptr;
  TRACE_CUDA_CALL_THROW(cudaMalloc(&values, count * sizeof(float)));
  TRACE_CUDA_CALL_THROW(cudaMemcpy(values, pixels.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  TRACE_LAUNCH(scale, count / threads, threads, 0, nullptr, values, count, factor);  // the bug: not rounded up
  TRACE_CUDA_CALL_THROW(cudaMemcpy(pixels.data(), values, count * sizeof(float), cudaMemcpyDeviceToHost));
  TRACE_CUDA_CALL_THROW(cudaFree(values));
}

TEST_LOG(Brighten, TakesBlocksOfPixels, .default_filter = "images=trace") {
  std::vector<float> pixels(64, 1.0f);
  brighten(pixels, 2.0f);
  EXPECT_EQ(pixels.back(), 2.0f);
}

TEST_LOG(Brighten, TakesAnyNumberOfPixels) {
  std::vector<float> pixels(100, 1.0f);
  brighten(pixels, 2.0f);
  EXPECT_EQ(pixels.back(), 2.0f);
}

}  // namespace
}  // namespace images
