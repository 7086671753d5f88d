// An error of a kernel lasts: every later call returns it. It is found when the host waits.
#include "check.h"

namespace {

__global__ void store(int* to) { *to = 1; }

}  // namespace

int main() {
  int* good = nullptr;
  CUDA(cudaMalloc(&good, sizeof(int)));
  store<<<1, 1>>>(good);
  CUDA(cudaDeviceSynchronize());
  store<<<1, 1>>>(reinterpret_cast<int*>(8));
  CUDA(cudaPeekAtLastError());  // the launch itself succeeds
  CUDA_FAILS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  void* memory = nullptr;
  CUDA_FAILS(cudaErrorIllegalAddress, cudaMalloc(&memory, 4));
  CUDA_FAILS(cudaErrorIllegalAddress, cudaFree(good));
  CUDA_FAILS(cudaErrorIllegalAddress, cudaMalloc(&memory, 0));
  CUDA_FAILS(cudaErrorIllegalAddress, cudaSetDevice(0));
  store<<<1, 1>>>(good);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
}
