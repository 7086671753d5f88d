// Error handling.
#include <cstdint>
#include <string_view>

#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/cuda/errors.h"

namespace {

// Those that the driver does not have.
constexpr struct {
  cudaError_t error;
  char const* description;
} kOfTheRuntime[] = {
    {cudaErrorInvalidConfiguration, "the grid or the block of a launch is empty or too large"},
    {cudaErrorInvalidPitchValue, "a pitch is out of range"},
    {cudaErrorInvalidSymbol, "no variable of the device is registered for this symbol"},
    {cudaErrorInvalidTexture, "the texture is invalid"},
    {cudaErrorInvalidTextureBinding, "the texture is not bound"},
    {cudaErrorInvalidChannelDescriptor, "the channel descriptor is invalid"},
    {cudaErrorInvalidMemcpyDirection, "the direction of the copy is not one of cudaMemcpyKind"},
    {cudaErrorMissingConfiguration, "a kernel's function was called without <<<...>>>"},
    {cudaErrorInvalidDeviceFunction, "no kernel is registered for this function"},
    {cudaErrorInvalidSurface, "the surface is invalid"},
};

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() {
  auto& thread = cuda_cpu::runtime::this_thread();
  cudaError_t const error = thread.last_error;
  // An error that lost the context stays: every later call returns it.
  if (tracing::cuda::lost_with(static_cast<CUresult>(error)) == tracing::cuda::Lost::nothing)
    thread.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return cuda_cpu::runtime::this_thread().last_error; }

char const* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define CUDA_CPU_ERROR(name, number) \
  case number:                       \
    return #name;
#include "cuda_cpu/runtime/errors.inc"
#undef CUDA_CPU_ERROR
    default:
      return "unrecognized error code";
  }
}

char const* cudaGetErrorString(cudaError_t error) {
  for (auto const& [its, description] : kOfTheRuntime)
    if (its == error) return description;
  std::string_view const text = tracing::cuda::error_description(static_cast<CUresult>(error));
  return text.empty() ? cudaGetErrorName(error) : text.data();  // literals, so null-terminated
}

}  // extern "C"
