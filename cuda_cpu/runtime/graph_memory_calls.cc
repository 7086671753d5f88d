// Graph management: the memory that graphs allocate.
#include "cuda_cpu/graph/graph_memory.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return call([&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (value == nullptr) return cudaErrorInvalidValue;
    GraphMemory const sizes = graph_memory();
    auto* const out = static_cast<cuuint64_t*>(value);
    switch (attribute) {
      case cudaGraphMemAttrUsedMemCurrent: *out = sizes.used; return cudaSuccess;
      case cudaGraphMemAttrUsedMemHigh: *out = sizes.used_high; return cudaSuccess;
      case cudaGraphMemAttrReservedMemCurrent: *out = sizes.reserved; return cudaSuccess;
      case cudaGraphMemAttrReservedMemHigh: *out = sizes.reserved_high; return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return call([&]() -> cudaError_t {
    if (device != 0) return cudaErrorInvalidDevice;
    bool const is_high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (value == nullptr || !is_high || *static_cast<cuuint64_t*>(value) != 0)
      return refuse(cudaErrorInvalidValue,
                    "of the attributes of a graph's memory only the high marks can be set, and only to 0");
    if (attribute == cudaGraphMemAttrUsedMemHigh)
      reset_used_high();
    else
      reset_reserved_high();
    return cudaSuccess;
  });
}

// There is nothing to give back: memory returns to the device as soon as no graph has it.
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call([&] { return check_device(device); });
}

}  // extern "C"
