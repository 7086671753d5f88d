// The stand-in for the driver's library defines the functions of cuda.h over the process's tracing::cuda::Driver, for
// programs that call the driver directly. Declares their common parts. The runtime's calls are in cuda_cpu/runtime.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <utility>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/process/call.h"
#include "cuda_cpu/process/driver.h"

namespace cuda_cpu::libcuda {

using process::driver;

inline tracing::cuda::DriverApi const& api() { return driver().api(); }

/// Explains on stderr why the call failed, or how the context was lost, if no subscriber gets errors. Returns `result`.
inline CUresult done(CUresult result) noexcept {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) [[unlikely]] {
    process::explain_if_lost(result);
    process::report_failed_call(result);
  }
  return result;
}

/// Reports the error of a call that has no method in Driver. Returns `result`.
[[gnu::always_inline]] inline CUresult check(CUresult result, std::string_view call) {
  cpu::CallerScope const caller;
  return done(driver().check(result, call));
}

/// Returns the line for a program or library of this name, in which NVIDIA's runtime library is linked: what to do.
std::string foreign_runtime_text(std::string_view file);

/// Makes a call of the runtime. If the program has a context, the call runs in it, and the runtime does not retain it.
/// Errors that exist only in the runtime become CUDA_ERROR_INVALID_VALUE. Leaves cudaGetLastError() unchanged.
template <class Call, class... Arguments>
[[gnu::always_inline]] inline CUresult forward(Call call, Arguments... arguments) noexcept {
  cpu::CallerScope const caller;
  process::RuntimeThreadState& thread = process::this_thread();
  auto const [before, was_current] = std::pair(thread.last_error, thread.is_current);
  bool const has_context = cpu::this_thread().current != nullptr;
  if (has_context) thread.is_current = true;
  cudaError_t const error = call(arguments...);
  thread.last_error = before;
  if (has_context) thread.is_current = was_current;
  bool const is_runtimes = error == cudaErrorInvalidPitchValue || error == cudaErrorInvalidMemcpyDirection ||
                           error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidDeviceFunction ||
                           error == cudaErrorInvalidChannelDescriptor;
  return is_runtimes ? CUDA_ERROR_INVALID_VALUE : static_cast<CUresult>(error);
}

// Attributes of streams and kernels have equal numbers and values in the driver and in the runtime.
inline cudaLaunchAttributeID to_runtime(CUlaunchAttributeID id) noexcept {
  return static_cast<cudaLaunchAttributeID>(id);
}
inline cudaLaunchAttributeValue* to_runtime(CUlaunchAttributeValue* value) noexcept {
  return reinterpret_cast<cudaLaunchAttributeValue*>(value);
}
inline cudaLaunchAttributeValue const* to_runtime(CUlaunchAttributeValue const* value) noexcept {
  return reinterpret_cast<cudaLaunchAttributeValue const*>(value);
}
static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));

}  // namespace cuda_cpu::libcuda
