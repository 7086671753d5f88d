// Memory pools. All allocate from the memory of the device and reserve nothing. Other settings of a program are kept
// and given back.
#define TRACE_TARGET "tracing::cuda::memory"
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/emit/for_callers.h"
#include "tracing_core/support/mutex.h"

using namespace cuda_cpu::runtime;

namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

using cuda_cpu::cpu::PoolUse;

struct Pool {
  std::uint64_t max_bytes = UINT64_MAX;
  bool is_managed = false;  // the memory is managed memory
  // Attributes that are not zero.
  std::map<cudaMemPoolAttr, cuuint64_t> attributes{{cudaMemPoolReuseFollowEventDependencies, 1},
                                                   {cudaMemPoolReuseAllowOpportunistic, 1},
                                                   {cudaMemPoolReuseAllowInternalDependencies, 1}};
};

struct Pools {
  Mutex mutex;
  std::map<cudaMemPool_t, Pool> pools TRACING_GUARDED_BY(mutex);
  std::uintptr_t next TRACING_GUARDED_BY(mutex) = 0x60000000;
  // The pools of a kind of memory that the device has from the beginning, and that cudaMallocAsync() uses.
  struct Chosen {
    cudaMemPool_t its_default = nullptr;
    cudaMemPool_t current = nullptr;
  };
  Chosen plain TRACING_GUARDED_BY(mutex);
  Chosen managed TRACING_GUARDED_BY(mutex);

  cudaMemPool_t add(std::size_t max_bytes, bool is_managed) TRACING_REQUIRES(mutex) {
    auto const pool = reinterpret_cast<cudaMemPool_t>(next);
    next += 16;
    Pool& made = pools[pool];
    if (max_bytes != 0) made.max_bytes = max_bytes;
    made.is_managed = is_managed;
    return pool;
  }
  Chosen& chosen(bool is_managed = false) TRACING_REQUIRES(mutex) {
    Chosen& its = is_managed ? managed : plain;
    if (its.its_default == nullptr) its.current = its.its_default = add(0, is_managed);
    return its;
  }
};

Pools& pools() {
  static auto& its = *new Pools;
  return its;
}

#if CUDART_VERSION >= 13000
constexpr auto kManaged = cudaMemAllocationTypeManaged;

// Calls `body(chosen)` with the pools of a kind of memory.
template <class Body>
cudaError_t on_chosen(cudaMemLocation const* location, cudaMemAllocationType type, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    if (location == nullptr || (type != kManaged && type != cudaMemAllocationTypePinned)) return cudaErrorInvalidValue;
    bool const is_device = location->type == cudaMemLocationTypeDevice;
    if (is_device && location->id != 0) return cudaErrorInvalidDevice;
    if (!is_device && type != kManaged)
      return refuse(cudaErrorNotSupported, "memory pools of the host are not supported");
    MutexLock const lock(pools().mutex);
    return body(pools().chosen(type == kManaged));
  });
}
#else
constexpr auto kManaged = static_cast<cudaMemAllocationType>(2);  // as CUDA 13 names it
#endif

bool is_wide(cudaMemPoolAttr attribute) noexcept { return attribute >= cudaMemPoolAttrReleaseThreshold; }

// Returns null for an attribute that is not a high mark.
std::uint64_t PoolUse::*high_mark(cudaMemPoolAttr attribute) noexcept {
  if (attribute == cudaMemPoolAttrUsedMemHigh) return &PoolUse::used_high;
  return attribute == cudaMemPoolAttrReservedMemHigh ? &PoolUse::reserved_high : nullptr;
}

bool is_current(cudaMemPoolAttr attribute) noexcept {
  return attribute == cudaMemPoolAttrUsedMemCurrent || attribute == cudaMemPoolAttrReservedMemCurrent;
}

// Runs `body` on a pool.
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
    *pool = pools().chosen().its_default;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    if (pool == nullptr || device != 0) return pool == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    MutexLock const lock(pools().mutex);
    *pool = pools().chosen().current;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (device != 0) return finish(cudaErrorInvalidDevice);
  return on_pool(pool, [&](Pool const& its) TRACING_REQUIRES(pools().mutex) {
    if (its.is_managed) return cudaErrorInvalidValue;
    pools().chosen().current = pool;
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return on_chosen(location, type, [&](Pools::Chosen const& its) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = its.its_default;
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return on_chosen(location, type, [&](Pools::Chosen const& its) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    *pool = its.current;
    return cudaSuccess;
  });
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return on_chosen(location, type, [&](Pools::Chosen& its) TRACING_REQUIRES(pools().mutex) {
    auto const found = pools().pools.find(pool);
    if (found == pools().pools.end() || found->second.is_managed != (type == kManaged)) return cudaErrorInvalidValue;
    its.current = pool;
    return cudaSuccess;
  });
}
#endif

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, cudaMemPoolProps const* properties) {
  return call([&]() -> cudaError_t {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    tracing::Span const span = TRACE_MAKE_SPAN(trace, "mem_pool_create", tracing::kv("max_bytes", properties->maxSize),
                                               tracing::kv("pool", tracing::empty));
    auto const entered = span.enter();
    if (properties->handleTypes != cudaMemHandleTypeNone)
      return refuse(cudaErrorNotSupported, "a memory pool to share with other processes is not supported");
    MutexLock lock(pools().mutex);
    pools().chosen();
    *pool = pools().add(properties->maxSize, properties->allocType == kManaged);
    lock.unlock();
    span.record(tracing::kv("pool", static_cast<void const*>(*pool)));
    return cudaSuccess;
  });
}

// Memory from the pool stays allocated.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return release_call([&] {
    TRACE_SPAN(trace, "mem_pool_destroy", tracing::kv("pool", static_cast<void const*>(pool)));
    MutexLock const lock(pools().mutex);
    if (pool == pools().plain.its_default || pool == pools().managed.its_default || pools().pools.erase(pool) == 0)
      return cudaErrorInvalidValue;
    for (Pools::Chosen* const its : {&pools().plain, &pools().managed})
      if (its->current == pool) its->current = its->its_default;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return on_pool(pool, [&](Pool& its) {
    if (value == nullptr || is_current(attribute)) return cudaErrorInvalidValue;
    cuuint64_t number = 0;
    std::memcpy(&number, value, is_wide(attribute) ? sizeof(cuuint64_t) : sizeof(int));
    if (auto const high = high_mark(attribute)) {
      if (number != 0) return refuse(cudaErrorInvalidValue, "the high marks of a memory pool can only be set to 0");
      cuda_cpu::cpu::reset_high(pool, high);
    } else {
      its.attributes[attribute] = number;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return on_pool(pool, [&](Pool const& its) {
    if (value == nullptr) return cudaErrorInvalidValue;
    PoolUse const use = cuda_cpu::cpu::pool_use(pool);
    auto const high = high_mark(attribute);
    auto const found = its.attributes.find(attribute);
    cuuint64_t const number = high != nullptr                 ? use.*high
                              : is_current(attribute)         ? use.used
                              : found != its.attributes.end() ? found->second
                                                              : 0;
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
  std::uint64_t max_bytes = 0;
  bool is_managed = false;
  auto const find = [&](Pool const& its) {
    max_bytes = its.max_bytes;
    is_managed = its.is_managed;
    return pointer == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  };
  if (cudaError_t const error = on_pool(pool, find); error != cudaSuccess) return error;
  return call([&]() -> cudaError_t {
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;  // as for cudaMalloc()
    std::uint64_t const used = cuda_cpu::cpu::pool_use(pool).used;
    if (used > max_bytes || bytes > max_bytes - used)
      return refuse(cudaErrorMemoryAllocation,
                    fmt::format("{} bytes requested of a memory pool of at most {}, of which {} are in use", bytes,
                                max_bytes, used));
    auto* const address = reinterpret_cast<CUdeviceptr*>(pointer);
    CUresult const result = driver().mem_alloc_async(address, bytes, stream_of(stream));
    if (result == CUDA_SUCCESS) cuda_cpu::cpu::assign_to_pool(*address, pool, is_managed);
    return to_error(result);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  cudaMemPool_t pool = nullptr;
  cudaError_t const error = cudaDeviceGetMemPool(&pool, 0);
  return error == cudaSuccess ? cudaMallocFromPoolAsync(pointer, bytes, pool, stream) : error;
}

}  // extern "C"
