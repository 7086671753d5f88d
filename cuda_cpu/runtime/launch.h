// The checks of a launch that are the runtime's, not the driver's.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cuda_cpu::runtime {

/// Whether a device could run such a grid of a kernel: cudaErrorInvalidConfiguration, explained, if not.
cudaError_t check_shape(CUfunction function, dim3 grid, dim3 block);

/// Whether the attribute changes how fast a kernel runs, not what it does.
bool is_hint(cudaLaunchAttributeID attribute) noexcept;
/// Reads the attributes of a launch. An error, explained, for one that is not supported.
cudaError_t read_attributes(cudaLaunchAttribute const* attributes, unsigned count, bool& is_cooperative);

/// cudaErrorInvalidClusterSize, explained, for an attribute of a kernel that makes clusters of more than one block.
cudaError_t check_attribute(cudaFuncAttribute attribute, int value);

/// How many blocks of a kernel a multiprocessor holds by the limits that its attributes name.
int resident_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes);
/// The same; 0 for a block of more threads than the kernel may have.
int active_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes);
/// The dynamic shared memory of a block if a multiprocessor holds so many of them.
std::size_t available_shared_bytes(CUfunction function, int blocks);
/// cudaErrorCooperativeLaunchTooLarge, explained, if the device does not hold all blocks of a grid at the same time.
cudaError_t check_cooperative(CUfunction function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes);

}  // namespace cuda_cpu::runtime
