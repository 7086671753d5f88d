// Device management: limits, flags, peers, and the end of the context.
#define TRACE_TARGET "tracing::cuda"
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::runtime;

namespace {

constexpr char const* kBusId = "0000:00:00.0";

// cudaDeviceGetLimit() returns the limits that the program set; only the heap size has an effect. The executor's own
// limits are in docs/cuda-without-a-gpu.md.
std::array<std::atomic<std::size_t>, cudaLimitPersistingL2CacheSize + 1> limits{1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
std::atomic<unsigned> device_flags{cudaDeviceScheduleAuto};

// There is one device, which cannot be its own peer.
cudaError_t no_peer(char const* name, int device) noexcept {
  if (device == 0) return finish(cudaErrorInvalidDevice);
  return call(
      [&] { return refuse(cudaErrorPeerAccessUnsupported, fmt::format("{}({}): there is one device", name, device)); });
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceReset() {
  return call([&]() -> cudaError_t {
    TRACE_SPAN(trace, "device_reset", tracing::kv("device", 0));
    end_all_captures();
    if (CUresult const result = driver().ctx_synchronize(); result != CUDA_SUCCESS) return to_error(result);
    registry().forget_loaded();
    cuda_cpu::cpu::Device::get()->clear();  // also if the program has retained the context
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call([&] { return check_device(device); });
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  device_flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return finish(cudaErrorInvalidValue);
  *flags = device_flags;
  return cudaSuccess;
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return finish(cudaErrorInvalidDevice);
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, cudaDeviceProp const*) { return cudaGetDevice(device); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (static_cast<std::size_t>(limit) >= limits.size()) return finish(cudaErrorUnsupportedLimit);
  limits[limit] = value;
  if (limit != cudaLimitMallocHeapSize) return cudaSuccess;
  return call([&] { return to_error(cuda_cpu::cpu::set_heap_limit(value)); });
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (static_cast<std::size_t>(limit) >= limits.size()) return finish(cudaErrorUnsupportedLimit);
  *value = limits[limit];
  return cudaSuccess;
}

// Preferences that change nothing here.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) {
  if (preference == nullptr) return finish(cudaErrorInvalidValue);
  *preference = cudaFuncCachePreferNone;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* configuration) {
  if (configuration == nullptr) return finish(cudaErrorInvalidValue);
  *configuration = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaFuncSetSharedMemConfig(void const*, cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget, cudaFlushGPUDirectRDMAWritesScope) {
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int capacity, int device) {
  if (id == nullptr || capacity <= static_cast<int>(std::strlen(kBusId))) return finish(cudaErrorInvalidValue);
  std::strcpy(id, kBusId);
  return finish(check_device(device));
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, char const* id) {
  if (device == nullptr || id == nullptr) return finish(cudaErrorInvalidValue);
  *device = 0;
  return finish(std::string_view(id) == kBusId ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (can_access == nullptr) return finish(cudaErrorInvalidValue);
  *can_access = 0;
  return finish(check_device(device == 0 ? peer : device));
}
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned) { return no_peer("cudaDeviceEnablePeerAccess", device); }
cudaError_t cudaDeviceDisablePeerAccess(int device) { return no_peer("cudaDeviceDisablePeerAccess", device); }

// A copy from the device to itself.
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, void const* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) return finish(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, void const* from, int from_device, std::size_t bytes) {
  if (to_device != 0 || from_device != 0) return finish(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

// tracing::profile and the variables of testlog decide which part of a program is profiled.
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
