// The formats of texels, as the runtime and the driver describe them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuda_cpu::process {

/// Returns false if the channels differ from each other, or if the driver lacks the format.
bool to_driver(cudaChannelFormatDesc const& channels, CUarray_format& format, unsigned& count);
cudaChannelFormatDesc to_runtime(CUarray_format format, unsigned count);

}  // namespace cuda_cpu::process
