// The calls that allocate memory. The device's addresses are those of the host's memory behind it.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "cuda_tests/cpu/calls.h"
#include "cuda_tests/cpu/device.h"

namespace cuda_tests::cpu {
namespace {

// What was freed in the order of a stream counts until the stream comes to it; where there is not enough, we wait for that.
std::uintptr_t find_room(Device& device, std::uint64_t bytes) {
  if (auto const address = device.memory.allocate(bytes); address != 0) return address;
  std::vector<Mark> frees;
  {
    std::lock_guard const lock(device.allocations_mutex);
    frees = device.pending_frees;
  }
  if (frees.empty()) return 0;
  device.streams.wait(frees);
  return device.memory.allocate(bytes);
}

CUresult allocate(Device& device, CUdeviceptr* out, std::size_t bytes, bool is_ordered) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  auto const address = find_room(device, bytes);
  if (address == 0) {
    auto const free = device.memory.capacity_bytes() - device.memory.used_bytes();
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, fmt::format("{} bytes are asked for, {} are free", bytes, free));
  }
  std::lock_guard const lock(device.allocations_mutex);
  device.allocations.emplace(address, is_ordered);
  *out = address;
  return CUDA_SUCCESS;
}

// Whether it was an allocation, of a stream's order where it has to be; from now on it is none.
bool take(Device& device, CUdeviceptr address, bool has_to_be_ordered) {
  std::lock_guard const lock(device.allocations_mutex);
  auto const found = device.allocations.find(address);
  if (found == device.allocations.end() || (has_to_be_ordered && !found->second)) return false;
  device.allocations.erase(found);
  return true;
}

}  // namespace

CUresult mem_alloc(CUdeviceptr* address, std::size_t bytes) {
  return in_context([&](Device& device) { return allocate(device, address, bytes, false); });
}

CUresult mem_free(CUdeviceptr address) {
  return in_context([&](Device& device) {
    if (address == 0) return CUDA_SUCCESS;
    if (!take(device, address, false)) return CUDA_ERROR_INVALID_VALUE;
    auto const result = device.wait(device.streams.end_of_all());  // as the driver does
    device.memory.free(address);
    return result;
  });
}

CUresult mem_alloc_async(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return in_context([&](Device& device) {
    if (device.find_stream(stream) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return allocate(device, address, bytes, true);
  });
}

CUresult mem_free_async(CUdeviceptr address, CUstream handle) {
  return in_context([&](Device& device) {
    auto const stream = device.find_stream(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (address == 0) return CUDA_SUCCESS;
    if (!take(device, address, true)) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard const lock(device.allocations_mutex);  // until others can see that this is being freed
    auto const mark = device.streams.submit_short(stream, [&device, address] { device.memory.free(address); });
    std::erase_if(device.pending_frees, [&](Mark const& other) {
      return other.stream == mark.stream || device.streams.are_done({other});
    });
    if (!device.streams.are_done({mark})) device.pending_frees.push_back(mark);
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

CUresult mem_host_alloc(void** out, std::size_t bytes, unsigned flags) {
  return in_context([&](Device& device) {
    constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    constexpr std::align_val_t kPage{4096};
    if (out == nullptr || bytes == 0 || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<void> held(::operator new(bytes, kPage, std::nothrow),
                               [=](void* memory) { ::operator delete(memory, kPage); });
    if (held == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!device.memory.map_host(held.get(), bytes)) return CUDA_ERROR_UNKNOWN;
    *out = held.get();
    std::lock_guard const lock(device.allocations_mutex);
    device.host_memory.emplace(reinterpret_cast<std::uintptr_t>(*out), std::move(held));
    return CUDA_SUCCESS;
  });
}

CUresult mem_free_host(void* memory) {
  return in_context([&](Device& device) {
    std::unique_lock lock(device.allocations_mutex);
    auto const held = device.host_memory.extract(reinterpret_cast<std::uintptr_t>(memory));  // freed at the end
    lock.unlock();
    if (held.empty()) return CUDA_ERROR_INVALID_VALUE;
    auto const result = device.wait(device.streams.end_of_all());
    device.memory.unmap_host(memory);
    return result;
  });
}

CUresult mem_host_get_device_pointer(CUdeviceptr* address, void* memory, unsigned flags) {
  return in_context([&](Device& device) {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    auto const at = reinterpret_cast<std::uintptr_t>(memory);
    std::lock_guard const lock(device.allocations_mutex);
    auto const next = device.host_memory.upper_bound(at);
    if (next == device.host_memory.begin()) return CUDA_ERROR_INVALID_VALUE;
    auto const range = device.memory.find(at, 1);
    if (!range || range->begin != std::prev(next)->first) return CUDA_ERROR_INVALID_VALUE;
    *address = at;
    return CUDA_SUCCESS;
  });
}

}  // namespace cuda_tests::cpu
