// The formats of texels, as the runtime and the driver describe them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuda_cpu::runtime {

/// False if the channels differ, or if there is no such format.
bool to_driver(cudaChannelFormatDesc const& channels, CUarray_format& format, unsigned& count);
cudaChannelFormatDesc to_runtime(CUarray_format format, unsigned count);

}  // namespace cuda_cpu::runtime
