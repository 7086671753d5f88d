// Memory pools. All of them allocate from the memory of the device; what a program sets is kept and given back.
#include <cstring>
#include <map>
#include <memory>

#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/internal/mutex.h"

using namespace cuda_cpu::runtime;

namespace {

using tracing::internal::Mutex;
using tracing::internal::MutexLock;

struct Pools {
  Mutex mutex;
  // The attributes of each pool that are not zero.
  std::map<cudaMemPool_t, std::map<cudaMemPoolAttr, cuuint64_t>> pools TRACING_GUARDED_BY(mutex);
  std::uintptr_t next TRACING_GUARDED_BY(mutex) = 0x60000000;
  cudaMemPool_t default_pool TRACING_GUARDED_BY(mutex) = nullptr;
  cudaMemPool_t current TRACING_GUARDED_BY(mutex) = nullptr;

  cudaMemPool_t add() TRACING_REQUIRES(mutex) {
    auto const pool = reinterpret_cast<cudaMemPool_t>(next);
    next += 16;
    pools[pool] = {{cudaMemPoolReuseFollowEventDependencies, 1}, {cudaMemPoolReuseAllowOpportunistic, 1},
                   {cudaMemPoolReuseAllowInternalDependencies, 1}};
    return pool;
  }
  cudaMemPool_t the_default() TRACING_REQUIRES(mutex) {
    if (default_pool == nullptr) current = default_pool = add();
    return default_pool;
  }
};

Pools& pools() {
  static auto& its = *new Pools;
  return its;
}

bool is_wide(cudaMemPoolAttr attribute) noexcept { return attribute >= cudaMemPoolAttrReleaseThreshold; }

// Runs `body` on the attributes of a pool.
template <class Body>
cudaError_t on_pool(cudaMemPool_t pool, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    MutexLock const lock(pools().mutex);
    auto const found = pools().pools.find(pool);
    return found == pools().pools.end() ? cudaErrorInvalidValue : body(found->second);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    if (pool == nullptr || device != 0) return pool == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    MutexLock const lock(pools().mutex);
    *pool = pools().the_default();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    if (pool == nullptr || device != 0) return pool == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    MutexLock const lock(pools().mutex);
    pools().the_default();
    *pool = pools().current;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (device != 0) return finish(cudaErrorInvalidDevice);
  return on_pool(pool, [&](auto&) TRACING_REQUIRES(pools().mutex) {
    pools().current = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, cudaMemPoolProps const* properties) {
  return call([&]() -> cudaError_t {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone)
      return refuse(cudaErrorNotSupported, "a memory pool to share with other processes is not supported");
    MutexLock const lock(pools().mutex);
    pools().the_default();
    *pool = pools().add();
    return cudaSuccess;
  });
}

// What was allocated from it stays allocated.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] {
    MutexLock const lock(pools().mutex);
    if (pool == pools().default_pool || pools().pools.erase(pool) == 0) return cudaErrorInvalidValue;
    if (pools().current == pool) pools().current = pools().default_pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return on_pool(pool, [&](auto& attributes) {
    if (value == nullptr) return cudaErrorInvalidValue;
    cuuint64_t number = 0;
    std::memcpy(&number, value, is_wide(attribute) ? sizeof(cuuint64_t) : sizeof(int));
    attributes[attribute] = number;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return on_pool(pool, [&](auto& attributes) {
    if (value == nullptr) return cudaErrorInvalidValue;
    cuuint64_t number = attributes.contains(attribute) ? attributes[attribute] : 0;
    std::size_t free = 0;
    std::size_t total = 0;
    bool const is_size = attribute == cudaMemPoolAttrUsedMemCurrent || attribute == cudaMemPoolAttrReservedMemCurrent;
    if (is_size && driver().api().mem_get_info(&free, &total) == CUDA_SUCCESS) number = total - free;
    std::memcpy(value, &number, is_wide(attribute) ? sizeof(cuuint64_t) : sizeof(int));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return on_pool(pool, [](auto&) { return cudaSuccess; });
}

// The only device has access to everything.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, cudaMemAccessDesc const*, std::size_t) {
  return on_pool(pool, [](auto&) { return cudaSuccess; });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation*) {
  return on_pool(pool, [&](auto&) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  cudaError_t const error = on_pool(pool, [](auto&) { return cudaSuccess; });
  return error == cudaSuccess ? cudaMallocAsync(pointer, bytes, stream) : error;
}

}  // extern "C"
