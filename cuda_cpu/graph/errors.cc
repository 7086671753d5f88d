#define TRACE_TARGET "tracing::cuda"
#include "cuda_cpu/graph/errors.h"

#include <fmt/format.h>

#include <cstdio>

#include "tracing_core/cuda/errors.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::graph {
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

char const* error_name(cudaError_t error) noexcept {
  switch (static_cast<int>(error)) {
#define CUDA_CPU_ERROR(name, number) \
  case number:                       \
    return #name;
#include "cuda_cpu/graph/errors.inc"
#undef CUDA_CPU_ERROR
    default: return "unrecognized error code";
  }
}

std::string_view error_description(cudaError_t error) noexcept {
  for (auto const& [its, description] : kOfTheRuntime)
    if (its == error) return description;
  std::string_view const text = tracing::cuda::error_description(static_cast<CUresult>(error));
  return text.empty() ? error_name(error) : text;
}

cudaError_t refuse(cudaError_t error, std::string_view message) noexcept {
  tracing::internal::SilenceScope const heard(false);  // only the device knows the reason
  try {
    TRACE_ERROR("{}", message, tracing::kv("error", tracing::display(error_name(error))),
                tracing::kv("code", static_cast<int>(error)));
    explain(fmt::format("{} ({})", message, error_name(error)));
  } catch (...) {  // out of memory
  }
  return error;
}

bool& was_explained() noexcept {
  constinit static thread_local bool its = false;
  return its;
}

void explain(std::string_view message) noexcept {
  was_explained() = true;
  tracing::internal::SilenceScope const heard(false);
  if (!TRACE_ENABLED(error)) std::fprintf(stderr, "testlog: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace cuda_cpu::graph
