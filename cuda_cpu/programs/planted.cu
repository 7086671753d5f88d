// Twelve mistakes, one for each argument, to compare what finds them: docs/cuda-without-a-gpu.md has the table.
#include <cstring>

#include "check.h"

namespace {

constexpr int kCount = 128;

__global__ void past_the_end(float* x, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= count) x[i] += 1;
}
__global__ void past_shared_memory(float* x) {
  extern __shared__ float values[];
  values[threadIdx.x + 1] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = values[threadIdx.x];
}
__global__ void sum_without_barrier(float* x) {
  __shared__ float sums[kCount];
  sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned half = kCount / 2; half > 0; half /= 2)
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  x[threadIdx.x] = sums[0];
}
__global__ void twice(float const* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void half_a_warp(float* x) {
  if (threadIdx.x >= 16) return;
  __syncwarp(0xffffffffu);
  x[threadIdx.x] = 1;
}
__global__ void barriers_in_both_branches(float* x) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    x[0] = 1;
    __syncthreads();
  }
  x[threadIdx.x] = 2;
}
__global__ void count_threads(int* counter) { ++*counter; }
__global__ void store_four(float4* x) { x[threadIdx.x] = make_float4(1, 2, 3, 4); }

}  // namespace

int main(int argc, char** argv) {
  auto const is = [&](char const* kind) { return argc > 1 && std::strcmp(argv[1], kind) == 0; };
  float *x = nullptr, *y = nullptr;
  CUDA(cudaMalloc(&x, kCount * sizeof(float)));
  CUDA(cudaMalloc(&y, kCount * sizeof(float)));
  if (!is("unwritten")) CUDA(cudaMemset(x, 0x3f, kCount * sizeof(float)));
  CUDA(cudaMemset(y, 0, kCount * sizeof(float)));
  if (is("past_the_end")) past_the_end<<<2, kCount>>>(x, kCount);
  if (is("past_shared_memory")) past_shared_memory<<<1, kCount, kCount * sizeof(float)>>>(x);
  if (is("missing_barrier")) sum_without_barrier<<<1, kCount>>>(x);
  if (is("unwritten")) twice<<<1, kCount>>>(x, y);
  if (is("freed")) {
    cudaFree(x);
    twice<<<1, kCount>>>(x, y);
  }
  if (is("freed_twice")) {
    cudaFree(x);
    cudaFree(x);
  }
  if (is("copied_too_much")) {
    char host[2 * kCount * sizeof(float)];
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  }
  if (is("half_a_warp")) half_a_warp<<<1, 32>>>(x);
  if (is("two_barriers")) barriers_in_both_branches<<<1, 64>>>(x);
  if (is("counter")) count_threads<<<4, 64>>>(reinterpret_cast<int*>(x));
  if (is("misaligned")) store_four<<<1, 8>>>(reinterpret_cast<float4*>(x + 1));
  cudaDeviceSynchronize();
  if (!is("leak") && !is("freed") && !is("freed_twice")) cudaFree(x);
  cudaFree(y);
}
