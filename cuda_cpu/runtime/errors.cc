// Error handling.
#include <fmt/format.h>

#include <string_view>

#include "cuda_cpu/process/exit_status.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/cuda/errors.h"

namespace {

// Errors that the driver does not have.
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

namespace cuda_cpu::runtime {

// Called by refused.cc, which declares it, too.
int refuse_call(char const* name, char const* reason) noexcept;
int refuse_call(char const* name, char const* reason) noexcept {
  return call([&] {
    std::string_view const why = reason;
    return refuse(cudaErrorNotSupported, fmt::format("{}() is not supported{}{}", name, why.empty() ? "" : ": ", why));
  });
}

}  // namespace cuda_cpu::runtime

extern "C" {

cudaError_t cudaGetLastError() {
  auto& thread = cuda_cpu::runtime::this_thread();
  cudaError_t const error = thread.last_error;
  cuda_cpu::runtime::note_asked();
  cuda_cpu::runtime::forget_refusal(error);
  // An error that lost the context stays: every later call returns it.
  if (tracing::cuda::lost_with(static_cast<CUresult>(error)) == tracing::cuda::Lost::nothing)
    thread.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  cuda_cpu::runtime::note_asked();
  return cuda_cpu::runtime::this_thread().last_error;
}

char const* cudaGetErrorName(cudaError_t error) { return cuda_cpu::runtime::error_name(error); }

char const* cudaGetErrorString(cudaError_t error) {
  for (auto const& [its, description] : kOfTheRuntime)
    if (its == error) return description;
  std::string_view const text = tracing::cuda::error_description(static_cast<CUresult>(error));
  return text.empty() ? cudaGetErrorName(error) : text.data();  // literals, so null-terminated
}

}  // extern "C"
