// Attributes of launches and of kernels: which of them the stand-ins accept.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_cpu::process {

/// Returns true if the attribute changes only how fast a kernel runs.
bool is_hint(cudaLaunchAttributeID attribute) noexcept;

/// Reads the attributes of a launch. Returns an error, explained, for an attribute that is not supported.
cudaError_t read_attributes(cudaLaunchAttribute const* attributes, unsigned count, bool& is_cooperative);

/// Returns cudaErrorInvalidClusterSize, explained, for an attribute of a kernel that makes clusters of several blocks.
cudaError_t check_attribute(cudaFuncAttribute attribute, int value);

}  // namespace cuda_cpu::process
