// The second unit: kernels and variables of the same names as in the first one, with other bodies.
#include "../check.h"
#include "scale.h"

static __device__ int own = 2;

static __global__ void work(int* values, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1000;
}

namespace {

__global__ void hidden(int* to) { *to = own * 200; }

}  // namespace

void run_other_unit(int* values, int count) {
  work<<<1, 64>>>(values, count);
  negate<<<1, 64>>>(values, count);
  CUDA(cudaGetLastError());
}

int own_of_other_unit() {
  int* to = nullptr;
  int value = 0;
  CUDA(cudaMalloc(&to, sizeof(int)));
  hidden<<<1, 1>>>(to);
  CUDA(cudaMemcpy(&value, to, sizeof(int), cudaMemcpyDeviceToHost));
  CUDA(cudaFree(to));
  return value;
}
