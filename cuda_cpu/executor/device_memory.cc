#include "cuda_cpu/executor/device_memory.h"

#include <cstdint>
#include <new>
#include <utility>

namespace cuda_cpu {

using tracing::internal::MutexLock;

std::uintptr_t DeviceMemory::allocate(std::uint64_t bytes, bool constant) {
  if (bytes == 0) return 0;
  {
    MutexLock const lock(mutex_);
    if (bytes > capacity_bytes_ - used_bytes_ || bytes > SIZE_MAX - kAlignment) return 0;
    used_bytes_ += bytes;
  }
  auto const deallocate = [](std::byte* memory) { ::operator delete(memory, std::align_val_t(kAlignment)); };
  // Followed by a gap, so that an access just past the end is not in the next allocation.
  auto* const memory =
      static_cast<std::byte*>(::operator new(bytes + kAlignment, std::align_val_t(kAlignment), std::nothrow));
  MutexLock const lock(mutex_);
  if (memory == nullptr) {
    used_bytes_ -= bytes;
    return 0;
  }
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  ranges_[begin] = {begin, begin + bytes, std::shared_ptr<std::byte>(memory, deallocate), constant};
  snapshot_.reset();
  return begin;
}

bool DeviceMemory::free(std::uintptr_t address) {
  MemoryRange freed;  // destroyed after the lock is released
  MutexLock const lock(mutex_);
  auto const found = ranges_.find(address);
  if (found == ranges_.end() || found->second.storage == nullptr || heap_.contains(address)) return false;
  used_bytes_ -= found->second.end - found->second.begin;
  freed = std::move(found->second);
  ranges_.erase(found);
  snapshot_.reset();
  return true;
}

std::uintptr_t DeviceMemory::allocate_on_heap(std::uint64_t bytes) {
  {
    MutexLock const lock(mutex_);
    if (bytes > heap_limit_ || heap_bytes_ > heap_limit_ - bytes) return 0;
    heap_bytes_ += bytes;
  }
  std::uintptr_t const address = allocate(bytes);
  MutexLock const lock(mutex_);
  if (address == 0) heap_bytes_ -= bytes;
  else heap_[address] = bytes;
  return address;
}

bool DeviceMemory::free_on_heap(std::uintptr_t address) {
  {
    MutexLock const lock(mutex_);
    auto const found = heap_.find(address);
    if (found == heap_.end()) return false;
    heap_bytes_ -= found->second;
    heap_.erase(found);
  }
  return free(address);
}

void DeviceMemory::clear_heap() {
  std::map<std::uintptr_t, std::uint64_t> all;
  {
    MutexLock const lock(mutex_);
    all.swap(heap_);
    heap_bytes_ = 0;
  }
  for (auto const& [address, bytes] : all) free(address);
}

void DeviceMemory::set_heap_limit(std::uint64_t bytes) {
  MutexLock const lock(mutex_);
  heap_limit_ = bytes;
}

std::uint64_t DeviceMemory::heap_limit() const {
  MutexLock const lock(mutex_);
  return heap_limit_;
}

void DeviceMemory::map_host(void* begin, std::uint64_t bytes) {
  auto const address = reinterpret_cast<std::uintptr_t>(begin);
  MutexLock const lock(mutex_);
  ranges_[address] = {address, address + bytes, nullptr, false};
  snapshot_.reset();
}

void DeviceMemory::unmap_host(void* begin) {
  MutexLock const lock(mutex_);
  ranges_.erase(reinterpret_cast<std::uintptr_t>(begin));
  snapshot_.reset();
}

std::optional<MemoryRange> DeviceMemory::find(std::uintptr_t address, std::uint64_t bytes) const {
  MutexLock const lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin() || !std::prev(next)->second.holds(address, bytes)) return std::nullopt;
  return std::prev(next)->second;
}

std::shared_ptr<MemorySnapshot const> DeviceMemory::snapshot() const {
  MutexLock const lock(mutex_);
  if (snapshot_ == nullptr) {
    auto made = std::make_shared<MemorySnapshot>();
    made->reserve(ranges_.size());
    for (auto const& [begin, range] : ranges_) made->push_back(range);
    snapshot_ = std::move(made);
  }
  return snapshot_;
}

std::uint64_t DeviceMemory::used_bytes() const {
  MutexLock const lock(mutex_);
  return used_bytes_;
}

}  // namespace cuda_cpu
