// Unified addressing: managed and registered memory, and what a pointer points to. All memory is the host's, so advice
// and prefetches change nothing.
#include "cuda_cpu/cpu/further_calls.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

using cuda_cpu::cpu::MemoryOwner;
using cuda_cpu::cpu::pointer_info;

// For calls that name memory and change nothing.
cudaError_t check_memory(void const* memory, std::size_t bytes) noexcept {
  return call([&]() -> cudaError_t {
    auto const info = pointer_info(memory);
    auto const offset = reinterpret_cast<CUdeviceptr>(memory) - info.begin;
    bool const is_within = info.owner == MemoryOwner::managed && bytes <= info.bytes - offset;
    return is_within ? cudaSuccess : refuse(cudaErrorInvalidValue, "the memory is not of one managed allocation");
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return call([&]() -> cudaError_t {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    return to_error(driver().mem_alloc_managed(reinterpret_cast<CUdeviceptr*>(pointer), bytes, flags));
  });
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return call([&] { return driver().mem_host_register(memory, bytes, flags); });
}
cudaError_t cudaHostUnregister(void* memory) {
  return call([&] { return driver().mem_host_unregister(memory); });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* memory) {
  return call([&] { return driver().check(cuda_cpu::cpu::host_memory_flags(flags, memory), "cuMemHostGetFlags()"); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* pointer) {
  return call([&]() -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    auto const owner = pointer_info(pointer).owner;
    *attributes = {};
    attributes->type = owner == MemoryOwner::device    ? cudaMemoryTypeDevice
                       : owner == MemoryOwner::managed ? cudaMemoryTypeManaged
                       : owner == MemoryOwner::pinned  ? cudaMemoryTypeHost
                                                       : cudaMemoryTypeUnregistered;
    attributes->device = owner == MemoryOwner::unknown ? -2 : 0;
    if (owner != MemoryOwner::unknown) attributes->devicePointer = const_cast<void*>(pointer);
    if (owner != MemoryOwner::device) attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  });
}

cudaError_t cudaMemAdvise(void const* memory, std::size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  return check_memory(memory, bytes);
}
cudaError_t cudaMemPrefetchAsync(void const* memory, std::size_t bytes, cudaMemLocation, unsigned, cudaStream_t) {
  return check_memory(memory, bytes);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* memory, std::size_t, unsigned) {
  return check_memory(memory, 0);
}

}  // extern "C"
