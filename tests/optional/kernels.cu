// Host code of a .cu file in C++17, without testlog: the calls and launches are made, the other statements do nothing.
#include "tracing_optional.h"

template <class T, int kFactor>
__global__ void scale(T* values) {
  values[threadIdx.x] *= kFactor;
}
__global__ void nothing() {}

bool scaled(float* values, int count) {
  TRACE_SPAN(debug, "scaled", count, tracing::kv("bytes", count * 4));
  if (TRACE_LAUNCH((scale<float, 4>), 1, count, 0, nullptr, values) != cudaSuccess) return false;
  TRACE_LAUNCH(nothing, 1, 1, 0, nullptr);
  TRACE_CUDA_CALL_THROW(cudaDeviceSynchronize());
  return TRACE_CUDA_CALL(cudaGetLastError()) == cudaSuccess;
}
