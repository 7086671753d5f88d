#include "blur.h"

#include <memory>

#include <tracing_core/cuda/check.h>
#include <tracing_core/tracing.h>

namespace blur {
namespace {

__global__ void box_kernel(float const* in, float* out, int count, int radius) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  int terms = 0;
  for (int j = max(i - radius, 0); j <= min(i + radius, count - 1); ++j) {
    sum += in[j];
    ++terms;
  }
  out[i] = sum / terms;
}

struct Free {
  void operator()(float* memory) const { TRACE_CUDA_CALL(cudaFree(memory)); }
};
using Buffer = std::unique_ptr<float, Free>;

Buffer allocate(std::size_t count) {
  float* memory = nullptr;
  TRACE_CUDA_CALL_THROW(cudaMalloc(&memory, count * sizeof(float)));
  return Buffer(memory);
}

}  // namespace

std::vector<float> box(std::vector<float> const& values, int radius) {
  int const count = static_cast<int>(values.size());
  TRACE_SPAN(debug, "box", count, radius);
  if (count == 0) return {};
  Buffer const in = allocate(values.size()), out = allocate(values.size());
  TRACE_CUDA_CALL_THROW(cudaMemcpy(in.get(), values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  TRACE_LAUNCH(box_kernel, (count + 127) / 128, 128, 0, nullptr, in.get(), out.get(), count, radius);
  std::vector<float> result(values.size());
  TRACE_CUDA_CALL_THROW(cudaMemcpy(result.data(), out.get(), count * sizeof(float), cudaMemcpyDeviceToHost));
  return result;
}

}  // namespace blur
