#include "saxpy.h"

#include "../check.h"

namespace library {
namespace {

__device__ int call_count;

__global__ void kernel(float a, float const* x, float* y, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
  if (i == 0) ++call_count;
}

}  // namespace

void saxpy(float a, float const* x, float* y, int count) {
  std::size_t const bytes = count * sizeof(float);
  float* on_device = nullptr;
  CUDA(cudaMalloc(&on_device, 2 * bytes));
  CUDA(cudaMemcpy(on_device, x, bytes, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(on_device + count, y, bytes, cudaMemcpyHostToDevice));
  kernel<<<(count + 127) / 128, 128>>>(a, on_device, on_device + count, count);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(y, on_device + count, bytes, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(on_device));
}

int calls() {
  int count = 0;
  CUDA(cudaMemcpyFromSymbol(&count, call_count, sizeof(count)));
  return count;
}

}  // namespace library
