#include <cuda_runtime.h>

// Returns true if bytes survive a copy to the device and back.
bool device_keeps(unsigned char const* bytes, unsigned long count) {
  void* device = nullptr;
  unsigned char back[64] = {};
  if (count > sizeof(back) || cudaMalloc(&device, count) != cudaSuccess) return false;
  bool keeps = cudaMemcpy(device, bytes, count, cudaMemcpyHostToDevice) == cudaSuccess &&
               cudaMemcpy(back, device, count, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (unsigned long i = 0; i < count; ++i) keeps = keeps && back[i] == bytes[i];
  return cudaFree(device) == cudaSuccess && keeps;
}
