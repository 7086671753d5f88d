// CUDA source that calls the runtime API and launches kernels. Without a driver every call fails and is reported.
#include <cstdio>

#include <tracing_core/cuda/check.h>
#include <tracing_core/tracing.h>

#include "kernels.h"

// As the statement macros of GoogleTest do.
#define FORWARD(statement) FORWARD_AGAIN(statement)
#define FORWARD_AGAIN(statement) statement

namespace gpu {
namespace {

__global__ void nothing() {}

template <class T, int kFactor>
__global__ void scale(T* values, int count) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= kFactor;
}

template <class T>
cudaError_t in_a_template(T* values) {
  return TRACE_LAUNCH((scale<T, 4>), dim3(4, 2), 128, 0, nullptr, values, 512);
}

}  // namespace

void work() {
  if (cudaGetDeviceCount(nullptr) != cudaErrorInsufficientDriver) {
    std::puts("skipped: this machine has a driver");
    return;
  }
  cudaGetLastError();
  TRACE_FN(info);
  float* values = nullptr;
  cudaError_t const failed = TRACE_CUDA_CALL(cudaMalloc(&values, 512 * sizeof(float)));
  TRACE_INFO("the value of the check", tracing::kv("code", static_cast<int>(failed)));
  FORWARD(TRACE_LAUNCH(nothing, 1, 1, 16, 0));  // after a failed call, whose error is pending
  in_a_template(values);
  unsigned const blocks = 3;
  if (TRACE_LAUNCH((scale<float, 2>), blocks, 32, 0, nullptr, values, 96) != cudaSuccess)
    TRACE_INFO("the value of the launch");
  try {
    TRACE_CUDA_CALL_THROW(cudaFree(values));
  } catch (tracing::cuda::CallError const& e) {
    TRACE_INFO("thrown", tracing::kv("what", e.what()));
  }
  TRACE_CUDA_CALL(cudaErrorNotReady);
}

}  // namespace gpu
