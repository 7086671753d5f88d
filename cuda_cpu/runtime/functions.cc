// Attributes of kernels, and occupancy.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cuda_cpu/runtime/launch.h"
#include "cuda_cpu/runtime/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  driver().api().func_get_attribute(&value, attribute, function);
  return value;
}

int attribute_of_device(CUdevice_attribute attribute) {
  int value = 0;
  driver().api().device_get_attribute(&value, attribute, 0);
  return value;
}

}  // namespace

namespace cuda_cpu::runtime {

int resident_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes) {
  int const warps = (block_threads + 31) / 32;
  std::size_t const shared =
      static_cast<std::size_t>(attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)) + dynamic_shared_bytes +
      static_cast<std::size_t>(attribute_of_device(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  int const registers = std::max(attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS), 1) * warps * 32;
  return std::min({attribute_of_device(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                   attribute_of_device(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (warps * 32),
                   attribute_of_device(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) / registers,
                   static_cast<int>(static_cast<std::size_t>(attribute_of_device(
                                        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)) / shared)});
}

int active_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes) {
  return block_threads > attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
             ? 0
             : resident_blocks(function, block_threads, dynamic_shared_bytes);
}

std::size_t available_shared_bytes(CUfunction function, int blocks) {
  int const share = attribute_of_device(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / blocks -
                    attribute_of_device(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) -
                    attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  return static_cast<std::size_t>(
      std::clamp(share, 0, attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)));
}

cudaError_t check_cooperative(CUfunction function, dim3 grid, dim3 block, std::size_t dynamic_shared_bytes) {
  int const threads = static_cast<int>(block.x * block.y * block.z);
  auto const max_blocks = static_cast<std::uint64_t>(resident_blocks(function, threads, dynamic_shared_bytes)) *
                    static_cast<std::uint64_t>(attribute_of_device(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  std::uint64_t const blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (blocks <= max_blocks) return cudaSuccess;
  return refuse(cudaErrorCooperativeLaunchTooLarge,
                fmt::format("a cooperative launch of {} blocks, of which {} run at the same time", blocks, max_blocks));
}

}  // namespace cuda_cpu::runtime

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
    return to_error(driver().check(
        driver().api().func_set_attribute(function, static_cast<CUfunction_attribute>(attribute), value),
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

// With blocks of this size and number on a multiprocessor.
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
