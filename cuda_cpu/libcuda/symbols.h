// The functions of the driver's library by name and version of CUDA.
#pragma once

#include <cuda.h>

#include <string_view>

namespace cuda_cpu::libcuda {

/// Finds the function of a name, such as cuMemAlloc, with its signature in a version of CUDA, such as 12040; null if
/// there is none. If the function exists only with the signature of a newer version, a message says so. `per_thread`
/// chooses the form whose stream 0 is the default stream of the thread.
CUdriverProcAddressQueryResult find_symbol(std::string_view name, int version, bool per_thread,
                                           void** function) noexcept;

}  // namespace cuda_cpu::libcuda
