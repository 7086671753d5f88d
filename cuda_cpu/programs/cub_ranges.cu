// A sum by CUB, which puts an NVTX range around each call of an algorithm.
#include <cub/device/device_reduce.cuh>

#include "check.h"

extern "C" long sum_on_device(int const* numbers, int count) {
  int* on_device = nullptr;
  long* sum_of_device = nullptr;
  void* storage = nullptr;
  std::size_t bytes = 0;
  long sum = 0;
  CUDA(cudaMalloc(&on_device, count * sizeof(int)));
  CUDA(cudaMalloc(&sum_of_device, sizeof(long)));
  CUDA(cudaMemcpy(on_device, numbers, count * sizeof(int), cudaMemcpyHostToDevice));
  CUDA(cub::DeviceReduce::Sum(storage, bytes, on_device, sum_of_device, count));
  CUDA(cudaMalloc(&storage, bytes));
  CUDA(cub::DeviceReduce::Sum(storage, bytes, on_device, sum_of_device, count));
  CUDA(cudaMemcpy(&sum, sum_of_device, sizeof(long), cudaMemcpyDeviceToHost));
  CUDA(cudaFree(storage));
  CUDA(cudaFree(sum_of_device));
  CUDA(cudaFree(on_device));
  return sum;
}
