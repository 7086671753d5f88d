// Device management and versions. There is one device.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/runtime/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

cudaError_t check_device(int device) noexcept { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

int attribute_of(CUdevice_attribute attribute) {
  int value = 0;
  driver().api().device_get_attribute(&value, attribute, 0);
  return value;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&] { return check_device(device); });
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return finish(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return call([&] { return driver().ctx_synchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&] {
    return driver().check(driver().api().device_get_attribute(value, static_cast<CUdevice_attribute>(attribute), device),
                          "cuDeviceGetAttribute()");
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&]() -> cudaError_t {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (cudaError_t const error = check_device(device); error != cudaSuccess) return error;
    cudaDeviceProp its{};
    driver().api().device_get_name(its.name, sizeof its.name, 0);
    driver().api().device_total_mem(&its.totalGlobalMem, 0);
    its.sharedMemPerBlock = static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    its.regsPerBlock = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    its.warpSize = attribute_of(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    its.memPitch = static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
    its.maxThreadsPerBlock = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    its.maxThreadsDim[0] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    its.maxThreadsDim[1] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    its.maxThreadsDim[2] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    its.maxGridSize[0] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    its.maxGridSize[1] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    its.maxGridSize[2] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    its.totalConstMem = static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
    its.major = attribute_of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    its.minor = attribute_of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    its.textureAlignment = static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
    its.multiProcessorCount = attribute_of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    its.integrated = attribute_of(CU_DEVICE_ATTRIBUTE_INTEGRATED);
    its.canMapHostMemory = attribute_of(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    its.concurrentKernels = attribute_of(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    its.asyncEngineCount = attribute_of(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    its.unifiedAddressing = attribute_of(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    its.memoryBusWidth = attribute_of(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    its.maxThreadsPerMultiProcessor = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    its.sharedMemPerMultiprocessor =
        static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
    its.regsPerMultiprocessor = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    its.managedMemory = attribute_of(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    its.concurrentManagedAccess = attribute_of(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    its.pageableMemoryAccess = attribute_of(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    its.hostNativeAtomicSupported = attribute_of(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    its.computePreemptionSupported = attribute_of(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
    its.canUseHostPointerForRegisteredMem =
        attribute_of(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
    its.hostRegisterSupported = attribute_of(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
    its.cooperativeLaunch = attribute_of(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
    its.sharedMemPerBlockOptin =
        static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    its.maxBlocksPerMultiProcessor = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    its.reservedSharedMemPerBlock =
        static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
    its.memoryPoolsSupported = attribute_of(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    *properties = its;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  *version = cuda_cpu::cpu::kDriverVersion;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

}  // extern "C"
