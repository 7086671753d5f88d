#include "cuda_cpu/process/launch_attributes.h"

#include <fmt/format.h>

#include "cuda_cpu/graph/errors.h"

namespace cuda_cpu::process {
namespace {

cudaError_t refuse_cluster() {
  return graph::refuse(cudaErrorInvalidClusterSize, "a cluster of more than one block, which is not supported");
}

}  // namespace

bool is_hint(cudaLaunchAttributeID attribute) noexcept {
  return attribute == cudaLaunchAttributePriority || attribute == cudaLaunchAttributeAccessPolicyWindow ||
         attribute == cudaLaunchAttributeMemSyncDomain || attribute == cudaLaunchAttributeMemSyncDomainMap ||
         attribute == cudaLaunchAttributePreferredSharedMemoryCarveout;
}

cudaError_t check_attribute(cudaFuncAttribute attribute, int value) {
  bool const is_size = attribute == cudaFuncAttributeRequiredClusterWidth ||
                       attribute == cudaFuncAttributeRequiredClusterHeight ||
                       attribute == cudaFuncAttributeRequiredClusterDepth;
  bool const allows_more = attribute == cudaFuncAttributeNonPortableClusterSizeAllowed && value != 0;
  return (is_size && value > 1) || allows_more ? refuse_cluster() : cudaSuccess;
}

cudaError_t read_attributes(cudaLaunchAttribute const* attributes, unsigned count, bool& is_cooperative) {
  for (unsigned i = 0; i < count; ++i) {
    auto const& [id, pad, value] = attributes[i];
    switch (id) {
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributeProgrammaticStreamSerialization:  // kernels of a stream follow each other anyway
      case cudaLaunchAttributeClusterSchedulingPolicyPreference: break;
      case cudaLaunchAttributeCooperative: is_cooperative = value.cooperative != 0; break;
      case cudaLaunchAttributeClusterDimension:
        if (value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1) return refuse_cluster();
        break;
      default:
        if (!is_hint(id))
          return graph::refuse(cudaErrorNotSupported,
                               fmt::format("launch attribute {} is not supported", static_cast<int>(id)));
    }
  }
  return cudaSuccess;
}

}  // namespace cuda_cpu::process
