// Unified addressing: managed and registered memory, and what a pointer points to. All memory is the host's, so advice
// and prefetches change nothing.
#define TRACE_TARGET "tracing::cuda"
#include <fmt/format.h>

#include <string>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/tracing.h"

using namespace cuda_cpu::runtime;

namespace {

using cuda_cpu::cpu::MemoryOwner;
using cuda_cpu::cpu::pointer_info;

// For calls that name memory and change nothing.
cudaError_t check_memory(void const* memory, std::size_t bytes) {
  auto const info = pointer_info(memory);
  auto const offset = reinterpret_cast<CUdeviceptr>(memory) - info.begin;
  bool const is_within = info.owner == MemoryOwner::managed && bytes <= info.bytes - offset;
  return is_within ? cudaSuccess : refuse(cudaErrorInvalidValue, "the memory is not of one managed allocation");
}

std::string text_of(cudaMemLocation const& its) {
  if (its.type == cudaMemLocationTypeDevice) return fmt::format("device {}", its.id);
  return its.type == cudaMemLocationTypeHostNuma ? fmt::format("host node {}", its.id) : "host";
}

std::string text_of(cudaMemoryAdvise advice) {
  switch (advice) {
    case cudaMemAdviseSetReadMostly: return "set_read_mostly";
    case cudaMemAdviseUnsetReadMostly: return "unset_read_mostly";
    case cudaMemAdviseSetPreferredLocation: return "set_preferred_location";
    case cudaMemAdviseUnsetPreferredLocation: return "unset_preferred_location";
    case cudaMemAdviseSetAccessedBy: return "set_accessed_by";
    case cudaMemAdviseUnsetAccessedBy: return "unset_accessed_by";
  }
  return std::to_string(static_cast<int>(advice));
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
  return release_call([&] { return driver().mem_host_unregister(memory); });
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

cudaError_t cudaMemAdvise(void const* memory, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return call([&] {
    TRACE_SPAN(trace, "mem_advise", tracing::kv("pointer", memory), bytes, tracing::kv("advice", text_of(advice)),
               tracing::kv("location", text_of(location)));
    return check_memory(memory, bytes);
  });
}
cudaError_t cudaMemPrefetchAsync(void const* memory, std::size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t stream) {
  return call([&] {
    TRACE_SPAN(trace, "mem_prefetch_async", tracing::kv("pointer", memory), bytes,
               tracing::kv("location", text_of(location)),
               tracing::kv("stream", driver().number_of(stream_of(stream))));
    return check_memory(memory, bytes);
  });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, std::size_t bytes, unsigned flags) {
  return call([&] {
    TRACE_SPAN(trace, "stream_attach_mem_async", tracing::kv("pointer", static_cast<void const*>(memory)), bytes, flags,
               tracing::kv("stream", driver().number_of(stream_of(stream))));
    return check_memory(memory, 0);
  });
}

}  // extern "C"
