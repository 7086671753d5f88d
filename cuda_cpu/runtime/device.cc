// Device management and versions. There is one device.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/process/occupancy.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

template <class T>
struct Property {
  T cudaDeviceProp::*member;
  CUdevice_attribute attribute;
};
constexpr Property<int> kNumbers[] = {
    {&cudaDeviceProp::regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&cudaDeviceProp::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&cudaDeviceProp::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&cudaDeviceProp::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&cudaDeviceProp::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&cudaDeviceProp::multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {&cudaDeviceProp::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {&cudaDeviceProp::canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {&cudaDeviceProp::concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {&cudaDeviceProp::asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {&cudaDeviceProp::unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {&cudaDeviceProp::memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {&cudaDeviceProp::concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {&cudaDeviceProp::pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {&cudaDeviceProp::hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
    {&cudaDeviceProp::computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
    {&cudaDeviceProp::canUseHostPointerForRegisteredMem, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {&cudaDeviceProp::hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
};
constexpr Property<std::size_t> kSizes[] = {
    {&cudaDeviceProp::sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {&cudaDeviceProp::memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {&cudaDeviceProp::totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {&cudaDeviceProp::textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {&cudaDeviceProp::sharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {&cudaDeviceProp::reservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
};

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
    return driver().check(
        driver().api().device_get_attribute(value, static_cast<CUdevice_attribute>(attribute), device),
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
    its.maxThreadsDim[0] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    its.maxThreadsDim[1] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    its.maxThreadsDim[2] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    its.maxGridSize[0] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    its.maxGridSize[1] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    its.maxGridSize[2] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    for (auto const& [member, attribute] : kNumbers) its.*member = attribute_of(attribute);
    for (auto const& [member, attribute] : kSizes) its.*member = static_cast<std::size_t>(attribute_of(attribute));
    its.texturePitchAlignment = cuda_cpu::cpu::kTexturePitchAlignment;
    its.maxTexture1D = cuda_cpu::cpu::kMaxTextureSide;
    std::fill_n(its.maxTexture2D, 2, cuda_cpu::cpu::kMaxTextureSide);
    std::fill_n(its.maxTexture2DLinear, 2, cuda_cpu::cpu::kMaxTextureSide);
    its.maxTexture2DLinear[2] = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    std::fill_n(its.maxTexture3D, 3, cuda_cpu::cpu::kMaxTextureSide);
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
