// What the calls of the stand-in for the driver's library share. It defines the functions of cuda.h over the process's
// tracing::cuda::Driver, for programs that call the driver directly; the runtime's calls are in cuda_cpu/runtime.
#pragma once

#include <cuda.h>

#include <string_view>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::libcuda {

using runtime::driver;

inline tracing::cuda::DriverApi const& api() { return driver().api(); }

/// Explains on stderr how the context was lost, if no subscriber gets errors. Returns `result`.
inline CUresult done(CUresult result) noexcept {
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) [[unlikely]]
    runtime::explain_if_lost(result);
  return result;
}

/// For calls without a method of Driver: reports an error.
inline CUresult check(CUresult result, std::string_view call) { return done(driver().check(result, call)); }

}  // namespace cuda_cpu::libcuda
