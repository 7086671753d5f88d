// Memory pools, memory of graphs, and advice about managed memory: the runtime's calls.
#include "cuda_cpu/libcuda/libcuda.h"

using namespace cuda_cpu::libcuda;

namespace {

void* pointer(CUdeviceptr address) noexcept { return reinterpret_cast<void*>(address); }

// The kinds of places have the runtime's numbers.
cudaMemLocation place(CUmemLocation const& its) noexcept {
  cudaMemLocation out{};
  out.type = static_cast<cudaMemLocationType>(its.type);
  out.id = its.id;
  return out;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return forward(cudaDeviceGetDefaultMemPool, pool, device);
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) { return forward(cudaDeviceGetMemPool, pool, device); }
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) { return forward(cudaDeviceSetMemPool, device, pool); }

#if CUDA_VERSION >= 13000
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaMemLocation its = place(*location);
  return forward(cudaMemGetDefaultMemPool, pool, &its, static_cast<cudaMemAllocationType>(type));
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaMemLocation its = place(*location);
  return forward(cudaMemGetMemPool, pool, &its, static_cast<cudaMemAllocationType>(type));
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaMemLocation its = place(*location);
  return forward(cudaMemSetMemPool, &its, static_cast<cudaMemAllocationType>(type), pool);
}
#endif

CUresult cuMemPoolCreate(CUmemoryPool* pool, CUmemPoolProps const* properties) {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaMemPoolProps its{};
  its.handleTypes = static_cast<cudaMemAllocationHandleType>(properties->handleTypes);
  its.allocType = static_cast<cudaMemAllocationType>(properties->allocType);
  its.maxSize = properties->maxSize;
  return forward(cudaMemPoolCreate, pool, &its);
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) { return forward(cudaMemPoolDestroy, pool); }
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return forward(cudaMemPoolSetAttribute, pool, static_cast<cudaMemPoolAttr>(attribute), value);
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return forward(cudaMemPoolGetAttribute, pool, static_cast<cudaMemPoolAttr>(attribute), value);
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) { return forward(cudaMemPoolTrimTo, pool, bytes); }
CUresult cuMemPoolSetAccess(CUmemoryPool pool, CUmemAccessDesc const*, std::size_t count) {
  return forward(cudaMemPoolSetAccess, pool, nullptr, count);
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation*) {
  cudaMemAccessFlags its{};
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaMemPoolGetAccess, &its, pool, nullptr);
  if (result == CUDA_SUCCESS) *flags = static_cast<CUmemAccess_flags>(its);
  return result;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  void* memory = nullptr;
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult const result = cuda_cpu::cpu::check_context(); result != CUDA_SUCCESS)
    return check(result, "cuMemAllocFromPoolAsync()");
  CUresult const result = forward(cudaMallocFromPoolAsync, &memory, bytes, pool, stream);
  if (result == CUDA_SUCCESS) *address = reinterpret_cast<CUdeviceptr>(memory);
  return result;
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  CUmemoryPool pool = nullptr;
  CUresult const result = cuDeviceGetMemPool(&pool, 0);
  return result == CUDA_SUCCESS ? cuMemAllocFromPoolAsync(address, bytes, pool, stream) : result;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return forward(cudaDeviceGetGraphMemAttribute, device, static_cast<cudaGraphMemAttributeType>(attribute), value);
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return forward(cudaDeviceSetGraphMemAttribute, device, static_cast<cudaGraphMemAttributeType>(attribute), value);
}
CUresult cuDeviceGraphMemTrim(CUdevice device) { return forward(cudaDeviceGraphMemTrim, device); }

CUresult cuMemAdvise(CUdeviceptr memory, std::size_t bytes, CUmem_advise advice, CUmemLocation at) {
  return forward(cudaMemAdvise, pointer(memory), bytes, static_cast<cudaMemoryAdvise>(advice), place(at));
}
CUresult cuMemPrefetchAsync(CUdeviceptr memory, std::size_t bytes, CUmemLocation to, unsigned flags, CUstream stream) {
  return forward(cudaMemPrefetchAsync, pointer(memory), bytes, place(to), flags, stream);
}
CUresult cuMemRangeGetAttribute(void* data, std::size_t data_bytes, CUmem_range_attribute attribute, CUdeviceptr memory,
                                std::size_t bytes) {
  return forward(cudaMemRangeGetAttribute, data, data_bytes, static_cast<cudaMemRangeAttribute>(attribute),
                 pointer(memory), bytes);
}
CUresult cuMemRangeGetAttributes(void** data, std::size_t* data_bytes, CUmem_range_attribute* attributes,
                                 std::size_t count, CUdeviceptr memory, std::size_t bytes) {
  // The attributes have the runtime's numbers.
  return forward(cudaMemRangeGetAttributes, data, data_bytes, reinterpret_cast<cudaMemRangeAttribute*>(attributes),
                 count, pointer(memory), bytes);
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr memory, std::size_t bytes, unsigned flags) {
  return forward(cudaStreamAttachMemAsync, stream, pointer(memory), bytes, flags);
}

}  // extern "C"
