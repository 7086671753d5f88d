// The checks of a launch that are the runtime's, not the driver's.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_cpu::runtime {

/// Whether a device could run such a grid: cudaErrorInvalidConfiguration, explained, if not.
cudaError_t check_shape(dim3 grid, dim3 block);

}  // namespace cuda_cpu::runtime
