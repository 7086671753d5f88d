// Unified addressing: managed and registered memory, and what a pointer points to. All memory is the host's, so advice
// and prefetches change nothing.
#define TRACE_TARGET "tracing::cuda::memory"
#include <fmt/format.h>

#include <string>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/runtime/memory_ranges.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::runtime;

namespace {

using cuda_cpu::cpu::MemoryOwner;
using cuda_cpu::cpu::pointer_info;

void apply(cudaMemoryAdvise its, cudaMemLocation const& place, Advice& advice) noexcept {
  bool Advice::*const by =
      place.type == cudaMemLocationTypeDevice ? &Advice::accessed_by_device : &Advice::accessed_by_host;
  switch (its) {
    case cudaMemAdviseSetReadMostly: advice.read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: advice.read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: advice.preferred = place; break;
    case cudaMemAdviseUnsetPreferredLocation: advice.preferred = {}; break;
    case cudaMemAdviseSetAccessedBy: advice.*by = true; break;
    case cudaMemAdviseUnsetAccessedBy: advice.*by = false; break;
  }
}

// Checks managed memory and changes what is known of it.
cudaError_t advise(void const* memory, std::size_t bytes, Change const& change) {
  cudaError_t const error = check_managed(memory, bytes);
  if (error == cudaSuccess) change_advice(memory, bytes, change);
  return error;
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
    CUresult const result = driver().mem_alloc_managed(reinterpret_cast<CUdeviceptr*>(pointer), bytes, flags);
    // Earlier memory may have had this address.
    if (result == CUDA_SUCCESS) change_advice(*pointer, bytes, [](Advice& advice) { advice = {}; });
    return to_error(result);
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
    return advise(memory, bytes, [&](Advice& its) { apply(advice, location, its); });
  });
}
cudaError_t cudaMemPrefetchAsync(void const* memory, std::size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t stream) {
  return call([&] {
    TRACE_SPAN(trace, "mem_prefetch_async", tracing::kv("pointer", memory), bytes,
               tracing::kv("location", text_of(location)),
               tracing::kv("stream", driver().number_of(stream_of(stream))));
    return advise(memory, bytes, [&](Advice& its) { its.prefetched = location; });
  });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, std::size_t bytes, unsigned flags) {
  return call([&] {
    TRACE_SPAN(trace, "stream_attach_mem_async", tracing::kv("pointer", static_cast<void const*>(memory)), bytes, flags,
               tracing::kv("stream", driver().number_of(stream_of(stream))));
    return check_managed(memory, 0);
  });
}

}  // extern "C"
