// A library with a bug: its kernel takes for granted that the last block is full.
#include "scale.h"

namespace {

__global__ void scale_all(float* values, float factor) { values[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }

}  // namespace

void scale(float* values, int count, float factor) {
  constexpr int kThreads = 32;
  float* device = nullptr;
  cudaMalloc(&device, count * sizeof(float));
  cudaMemcpy(device, values, count * sizeof(float), cudaMemcpyHostToDevice);
  scale_all<<<(count + kThreads - 1) / kThreads, kThreads>>>(device, factor);
  cudaMemcpy(values, device, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device);
}
