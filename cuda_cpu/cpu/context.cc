// Implements the calls about the driver, its device and the primary context.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "cuda_cpu/cpu/device.h"
#include "tracing_core/cuda/errors.h"

namespace cuda_cpu::cpu {
namespace {

// The texts are literals, so they are null-terminated.
CUresult give_text(std::string_view text, char const** out) noexcept {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = text.empty() ? nullptr : text.data();
  return text.empty() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

struct Attribute {
  CUdevice_attribute attribute;
  int value;
};

// The attributes that are not zero, except the number of multiprocessors, which is the number of workers.
constexpr Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kMaxThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, kMaxThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, kMaxThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, kMaxBlockZ},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, kMaxGridX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, kMaxGridYZ},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, kMaxGridYZ},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kSharedBytes},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kSharedBytesOnRequest},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 * 1024},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, kMaxBlocksPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, kTexturePitchAlignment},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, kMaxLinearTexels},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, kMaxTextureSide},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, kCapability / 10},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, kCapability % 10},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
};

CUresult check_device(CUdevice device) noexcept { return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

}  // namespace

CUresult init(unsigned flags) {
  return guarded([&] { return Device::start(flags); });
}

CUresult driver_get_version(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult get_error_name(CUresult code, char const** text) { return give_text(tracing::cuda::error_name(code), text); }

CUresult get_error_string(CUresult code, char const** text) {
  return give_text(tracing::cuda::error_description(code), text);
}

CUresult device_get_count(int* count) {
  return after_init([&](Device&) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

CUresult device_get(CUdevice* device, int ordinal) {
  return after_init([&](Device&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult device_get_name(char* name, int capacity, CUdevice device) {
  return after_init([&](Device&) {
    if (name == nullptr || capacity <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (check_device(device) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
    std::string_view const own = kDeviceName;
    name[own.copy(name, static_cast<std::size_t>(capacity) - 1)] = '\0';
    return CUDA_SUCCESS;
  });
}

CUresult device_get_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return after_init([&](Device& own) {
    if (value == nullptr || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    if (check_device(device) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
    auto const* const row = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                         [&](Attribute const& known) { return known.attribute == attribute; });
    *value = row == std::end(kAttributes) ? 0 : row->value;
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *value = static_cast<int>(own.multiprocessors());
    return CUDA_SUCCESS;
  });
}

CUresult device_total_mem(std::size_t* bytes, CUdevice device) {
  return after_init([&](Device& own) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (check_device(device) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = own.memory.capacity_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult device_primary_ctx_retain(CUcontext* context, CUdevice device) {
  return after_init([&](Device& own) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (check_device(device) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
    if (own.sticky() != CUDA_SUCCESS) return own.sticky();
    ++own.retained;
    *context = primary_context();
    return CUDA_SUCCESS;
  });
}

CUresult device_primary_ctx_release(CUdevice device) {
  return after_init([&](Device& own) {
    if (check_device(device) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_DEVICE;
    auto count = own.retained.load();
    do {
      if (count == 0) return CUDA_ERROR_INVALID_CONTEXT;
    } while (!own.retained.compare_exchange_weak(count, count - 1));
    if (count == 1) own.clear();
    return CUDA_SUCCESS;
  });
}

CUresult ctx_get_current(CUcontext* context) {
  return after_init([&](Device&) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = this_thread().current;
    return CUDA_SUCCESS;
  });
}

CUresult ctx_set_current(CUcontext context) {
  return after_init([&](Device&) {
    if (context != nullptr && context != primary_context()) return CUDA_ERROR_INVALID_CONTEXT;
    this_thread().current = context;
    return CUDA_SUCCESS;
  });
}

CUresult ctx_get_device(CUdevice* device) {
  return in_context([&](Device&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult ctx_synchronize() {
  return in_context([&](Device& device) { return device.wait(device.streams.end_of_all()); });
}

}  // namespace cuda_cpu::cpu
