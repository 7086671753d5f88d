// Attributes of kernels, and occupancy.
#include "cuda_cpu/process/launch_attributes.h"
#include "cuda_cpu/process/occupancy.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void const* host_function) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (cudaError_t const error = find_function(host_function, &function); error != cudaSuccess) return error;
    cudaFuncAttributes its{};
    its.sharedSizeBytes = static_cast<std::size_t>(attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    its.constSizeBytes = static_cast<std::size_t>(attribute_of(function, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    its.localSizeBytes = static_cast<std::size_t>(attribute_of(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    its.maxThreadsPerBlock = attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    its.numRegs = attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    its.ptxVersion = attribute_of(function, CU_FUNC_ATTRIBUTE_PTX_VERSION);
    its.binaryVersion = attribute_of(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    its.maxDynamicSharedSizeBytes = attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    its.preferredShmemCarveout = attribute_of(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    *attributes = its;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(void const* host_function, cudaFuncAttribute attribute, int value) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t const error = find_function(host_function, &function); error != cudaSuccess) return error;
    if (cudaError_t const error = check_attribute(attribute, value); error != cudaSuccess) return error;
    // The attributes of the runtime have the numbers of the driver's.
    return to_error(
        driver().check(driver().api().func_set_attribute(function, static_cast<CUfunction_attribute>(attribute), value),
                       "cuFuncSetAttribute()"));
  });
}

cudaError_t cudaFuncGetName(char const** name, void const* host_function) {
  return call([&]() -> cudaError_t {
    Kernel const* const kernel = registry().find_kernel(host_function);
    if (name == nullptr) return cudaErrorInvalidValue;
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *name = kernel->name.c_str();
    return cudaSuccess;
  });
}

// Preferences that change nothing here.
cudaError_t cudaFuncSetCacheConfig(void const* host_function, cudaFuncCache) {
  return call([&] {
    CUfunction function = nullptr;
    return find_function(host_function, &function);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void const* host_function,
                                                                   int block_threads, std::size_t dynamic_shared_bytes,
                                                                   unsigned) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (blocks == nullptr || block_threads <= 0) return cudaErrorInvalidValue;
    if (cudaError_t const error = find_function(host_function, &function); error != cudaSuccess) return error;
    *blocks = active_blocks(function, block_threads, dynamic_shared_bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void const* host_function, int block_threads,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host_function, block_threads,
                                                                dynamic_shared_bytes, 0);
}

// Gives the shared memory that each block can have while a multiprocessor holds `blocks` of them.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void const* host_function, int blocks, int) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (bytes == nullptr || blocks <= 0) return cudaErrorInvalidValue;
    if (cudaError_t const error = find_function(host_function, &function); error != cudaSuccess) return error;
    *bytes = available_shared_bytes(function, blocks);
    return cudaSuccess;
  });
}

}  // extern "C"
