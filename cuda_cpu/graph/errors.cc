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

// What cudaGetErrorString() returns for the errors that the device can have. Programs and tests search for these texts.
constexpr struct {
  cudaError_t error;
  char const* text;
} kStrings[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInitializationError, "initialization error"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "invalid device context"},
    {cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"},
    {cudaErrorInvalidPtx, "a PTX JIT compilation failed"},
    {cudaErrorFileNotFound, "file not found"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorIllegalState, "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "named symbol not found"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "the launch timed out and was terminated"},
    {cudaErrorContextIsDestroyed, "context is destroyed"},
    {cudaErrorAssert, "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"},
    {cudaErrorIllegalInstruction, "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "misaligned address"},
    {cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"},
    {cudaErrorInvalidPc, "invalid program counter"},
    {cudaErrorLaunchFailure, "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "operation not permitted"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorTimeout, "wait operation timed out"},
    {cudaErrorGraphExecUpdateFailure,
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
    {cudaErrorUnknown, "unknown error"},
};

}  // namespace

char const* error_string(cudaError_t error) noexcept {
  for (auto const& [its, text] : kStrings)
    if (its == error) return text;
  return error_description(error).data();
}

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
