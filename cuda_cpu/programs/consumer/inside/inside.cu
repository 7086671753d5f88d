#include <cstdio>

__global__ void twice(int* value) { *value *= 2; }

int main() {
  int* value = nullptr;
  if (cudaMallocManaged(&value, sizeof *value) != cudaSuccess) return 1;
  *value = 21;
  twice<<<1, 1>>>(value);
  if (cudaDeviceSynchronize() != cudaSuccess || *value != 42) return 1;
  cudaFree(value);
  std::puts("42");
}
