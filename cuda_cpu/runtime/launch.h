// The checks of a launch that the runtime makes before the driver's, and nvcc's way to find a kernel.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cuda_cpu::runtime {

/// Returns cudaErrorInvalidConfiguration, explained, if no device could run such a grid of a kernel. The driver has
/// other codes for this.
cudaError_t check_shape(CUfunction function, dim3 grid, dim3 block);

}  // namespace cuda_cpu::runtime

extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host_function);
