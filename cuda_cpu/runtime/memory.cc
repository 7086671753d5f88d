// Memory management: allocation.
#include <algorithm>

#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

// Zero bytes are an error for the driver. Here they succeed, and the pointer is null.
template <class Allocate>
[[gnu::always_inline]] inline cudaError_t allocate(void** pointer, std::size_t bytes, Allocate const& allocate_bytes,
                                                   Where const& where = Where::current()) noexcept {
  auto const body = [&]() -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    return bytes == 0 ? cudaSuccess : to_error(allocate_bytes());
  };
  return call(body, where);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes, [&] { return driver().mem_alloc(reinterpret_cast<CUdeviceptr*>(pointer), bytes); });
}

cudaError_t cudaFree(void* pointer) {
  return release_call([&] { return driver().mem_free(reinterpret_cast<CUdeviceptr>(pointer)); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return release_call(
      [&] { return driver().mem_free_async(reinterpret_cast<CUdeviceptr>(pointer), stream_of(stream)); });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate(pointer, bytes, [&] { return driver().mem_host_alloc(pointer, bytes, flags); });
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
  return release_call([&] { return pointer == nullptr ? CUDA_SUCCESS : driver().mem_free_host(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return call([&] {
    return driver().check(
        driver().api().mem_host_get_device_pointer(reinterpret_cast<CUdeviceptr*>(device_pointer), pointer, flags),
        "cuMemHostGetDevicePointer()");
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&] { return driver().check(driver().api().mem_get_info(free, total), "cuMemGetInfo()"); });
}

cudaError_t cudaGetSymbolAddress(void** pointer, void const* symbol) {
  return call([&]() -> cudaError_t {
    Variable* const variable = registry().find_variable(symbol);
    if (variable == nullptr || pointer == nullptr)
      return variable == nullptr ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    return to_error(variable->find(reinterpret_cast<CUdeviceptr*>(pointer)));
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, void const* symbol) {
  return call([&]() -> cudaError_t {
    Variable* const variable = registry().find_variable(symbol);
    if (variable == nullptr || bytes == nullptr)
      return variable == nullptr ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    *bytes = variable->bytes;
    return cudaSuccess;
  });
}

}  // extern "C"
