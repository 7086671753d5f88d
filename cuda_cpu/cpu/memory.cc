// Implements the calls that allocate memory. Device addresses are host addresses.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/cpu/span_text.h"

namespace cuda_cpu::cpu {
namespace {

// Allocates memory. Memory freed in stream order is in use until the stream reaches the free, so if memory is short and
// such frees are pending, waits for all streams.
std::uintptr_t allocate_or_wait(Device& device, std::uint64_t bytes) {
  MemoryNote const note = span_note("allocated");
  if (auto const address = device.memory.allocate(bytes, false, note); address != 0) return address;
  if (device.pending_frees > 0) device.streams.wait(device.streams.end_of_all());
  return device.memory.allocate(bytes, false, note);
}

MemoryNote pinned_note() {
  MemoryNote note = span_note("allocated");
  note.text = note.empty() ? "of host memory" : "of host memory " + note.text;
  return note;
}

// Begins to track which bytes of a new allocation are written.
CUresult tracked(Device& device, CUdeviceptr const* address, CUresult result) {
  if (result == CUDA_SUCCESS && device.options.checks.init) device.memory.track_writes(*address);
  return result;
}

CUresult allocate(Device& device, CUdeviceptr* out, std::size_t bytes, bool is_ordered) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  auto const address = allocate_or_wait(device, bytes);
  if (address == 0) {
    auto const free = device.memory.capacity_bytes() - device.memory.used_bytes();
    return refuse(CUDA_ERROR_OUT_OF_MEMORY,
                  fmt::format("{} bytes requested, {} bytes free of the {} that TRACE_CUDA_MEMORY sets", bytes, free,
                              device.memory.capacity_bytes()));
  }
  if (device.options.checks.race) device.races.forget(address, bytes);
  MutexLock const lock(device.allocations_mutex);
  device.allocations.emplace(address, Allocation{.bytes = bytes, .is_ordered = is_ordered});
  *out = address;
  return CUDA_SUCCESS;
}

// Removes an allocation. Returns false if it is unknown, or if it must be stream-ordered and is not.
bool take(Device& device, CUdeviceptr address, bool must_be_ordered) {
  MutexLock const lock(device.allocations_mutex);
  auto const found = device.allocations.find(address);
  if (found == device.allocations.end() || (must_be_ordered && !found->second.is_ordered)) return false;
  if (found->second.pool != nullptr) device.pools[found->second.pool].used -= found->second.bytes;
  device.allocations.erase(found);
  return true;
}

CUresult refuse_free(Device& device, CUdeviceptr address) {
  {
    MutexLock const lock(device.allocations_mutex);
    if (device.allocations.contains(address))
      return refuse_memory(fmt::format("the allocation at 0x{:x} was not made in stream order", address));
  }
  std::string const where = device.memory.describe(address, 1);
  return refuse_memory(
      fmt::format("no allocation of the device begins at 0x{:x}{}{}", address, where.empty() ? "" : ": ", where));
}

}  // namespace

CUresult mem_alloc(CUdeviceptr* address, std::size_t bytes) {
  return in_context([&](Device& device) { return tracked(device, address, allocate(device, address, bytes, false)); });
}

CUresult mem_free(CUdeviceptr address) {
  return in_context([&](Device& device) {
    if (address == 0) return CUDA_SUCCESS;
    if (!take(device, address, false)) return refuse_free(device, address);
    auto const result = device.wait(device.streams.end_of_all());  // waits like the driver
    device.memory.free(address, span_note("freed"));
    return result;
  });
}

CUresult mem_alloc_async(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return on_stream(
      stream, [&](Device& device, auto&) { return tracked(device, address, allocate(device, address, bytes, true)); });
}

CUresult mem_free_async(CUdeviceptr address, CUstream handle) {
  return on_stream(handle, [&](Device& device, auto& stream) {
    if (address == 0) return CUDA_SUCCESS;
    if (!take(device, address, true)) return refuse_free(device, address);
    ++device.pending_frees;
    device.streams.submit_short(stream, [&device, address, note = span_note("freed")]() mutable {
      device.memory.free(address, std::move(note));
      --device.pending_frees;
    });
    return CUDA_SUCCESS;
  });
}

CUresult mem_get_info(std::size_t* free, std::size_t* total) {
  return in_context([&](Device& device) {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *total = device.memory.capacity_bytes();
    *free = *total - device.memory.used_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult mem_get_address_range(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  return in_context([&](Device& device) {
    auto const range = device.memory.find(address, 1);
    if (!range || range->storage == nullptr) return CUDA_ERROR_NOT_FOUND;  // memory of the host
    if (begin != nullptr) *begin = range->begin;
    if (bytes != nullptr) *bytes = range->end - range->begin;
    return CUDA_SUCCESS;
  });
}

CUresult mem_host_alloc(void** out, std::size_t bytes, unsigned flags) {
  return in_context([&](Device& device) {
    constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    constexpr std::align_val_t kPage{4096};
    if (out == nullptr || bytes == 0 || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (bytes > SIZE_MAX - DeviceMemory::kAlignment) return CUDA_ERROR_OUT_OF_MEMORY;
    // The memory is followed by a gap, like memory of the device.
    std::shared_ptr<void> held(::operator new(bytes + DeviceMemory::kAlignment, kPage, std::nothrow),
                               [=](void* memory) { ::operator delete(memory, kPage); });
    if (held == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    device.memory.map_host(held.get(), bytes, pinned_note());
    *out = held.get();
    MutexLock const lock(device.allocations_mutex);
    device.host_memory.emplace(reinterpret_cast<std::uintptr_t>(*out), PinnedMemory{std::move(held), flags});
    return CUDA_SUCCESS;
  });
}

CUresult mem_free_host(void* memory) {
  return in_context([&](Device& device) {
    MutexLock lock(device.allocations_mutex);
    // Deallocated when the call returns.
    auto const held = device.host_memory.extract(reinterpret_cast<std::uintptr_t>(memory));
    lock.unlock();
    if (held.empty()) return refuse_memory(fmt::format("no pinned memory begins at {}", memory));
    auto const result = device.wait(device.streams.end_of_all());
    device.memory.unmap_host(memory);
    return result;
  });
}

CUresult mem_host_get_device_pointer(CUdeviceptr* address, void* memory, unsigned flags) {
  return in_context([&](Device& device) {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    auto const range = device.memory.find(reinterpret_cast<std::uintptr_t>(memory), 1);
    MutexLock const lock(device.allocations_mutex);
    if (!range || (!device.host_memory.contains(range->begin) && !device.registered.contains(range->begin)))
      return CUDA_ERROR_INVALID_VALUE;
    *address = reinterpret_cast<std::uintptr_t>(memory);
    return CUDA_SUCCESS;
  });
}

CUresult mem_alloc_managed(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return in_context([&](Device& device) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
    auto const result = allocate(device, address, bytes, false);
    if (result != CUDA_SUCCESS) return result;
    MutexLock const lock(device.allocations_mutex);
    device.allocations[*address].is_managed = true;
    return CUDA_SUCCESS;
  });
}

CUresult mem_host_register(void* memory, std::size_t bytes, unsigned) {
  return in_context([&](Device& device) {
    if (memory == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    auto const begin = reinterpret_cast<std::uintptr_t>(memory);
    MutexLock const lock(device.allocations_mutex);
    if (device.memory.find(begin, 1) || device.memory.find(begin + bytes - 1, 1))
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    device.memory.map_host(memory, bytes);
    device.registered.insert(begin);
    return CUDA_SUCCESS;
  });
}

CUresult mem_host_unregister(void* memory) {
  return in_context([&](Device& device) {
    {
      MutexLock const lock(device.allocations_mutex);
      if (device.registered.erase(reinterpret_cast<std::uintptr_t>(memory)) == 0)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    auto const result = device.wait(device.streams.end_of_all());
    device.memory.unmap_host(memory);
    return result;
  });
}

PointerInfo pointer_info(void const* address) {
  Device* const device = Device::get();
  if (device == nullptr) return {};
  auto const range = device->memory.find(reinterpret_cast<std::uintptr_t>(address), 1);
  if (!range) return {};
  PointerInfo info{MemoryOwner::device, range->begin, range->end - range->begin};
  MutexLock const lock(device->allocations_mutex);
  if (range->storage == nullptr)
    info.owner = MemoryOwner::pinned;
  else if (auto const found = device->allocations.find(range->begin);
           found != device->allocations.end() && found->second.is_managed)
    info.owner = MemoryOwner::managed;
  return info;
}

CUresult host_memory_flags(unsigned* flags, void const* address) {
  return in_context([&](Device& device) {
    auto const range = device.memory.find(reinterpret_cast<std::uintptr_t>(address), 1);
    if (flags == nullptr || !range) return CUDA_ERROR_INVALID_VALUE;
    MutexLock const lock(device.allocations_mutex);
    auto const found = device.host_memory.find(range->begin);
    if (found == device.host_memory.end()) return CUDA_ERROR_INVALID_VALUE;
    *flags = found->second.flags;
    return CUDA_SUCCESS;
  });
}

PoolUse pool_use(void const* pool) {
  Device& device = *Device::get();
  MutexLock const lock(device.allocations_mutex);
  return device.pools[pool];
}

void reset_high(void const* pool, std::uint64_t PoolUse::*high) {
  Device& device = *Device::get();
  MutexLock const lock(device.allocations_mutex);
  PoolUse& use = device.pools[pool];
  use.*high = use.used;
}

void assign_to_pool(CUdeviceptr address, void const* pool, bool is_managed) {
  Device& device = *Device::get();
  MutexLock const lock(device.allocations_mutex);
  auto const found = device.allocations.find(address);
  if (found == device.allocations.end()) return;
  found->second.pool = pool;
  found->second.is_managed = is_managed;
  if (is_managed) device.memory.mark_written(address, found->second.bytes);  // the host writes it without a call
  PoolUse& use = device.pools[pool];
  use.used += found->second.bytes;
  use.used_high = std::max(use.used_high, use.used);
  use.reserved_high = std::max(use.reserved_high, use.used);
}

CUresult set_heap_limit(std::size_t bytes) {
  Device* const device = Device::get();
  if (device == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  device->memory.set_heap_limit(bytes);
  return CUDA_SUCCESS;
}

}  // namespace cuda_cpu::cpu
