#include "cuda_tests/executor/device_memory.h"

#include <cstdint>
#include <new>
#include <utility>

namespace cuda_tests {

std::uintptr_t DeviceMemory::allocate(std::uint64_t bytes, bool constant) {
  if (bytes == 0) return 0;
  {
    std::lock_guard const lock(mutex_);
    if (bytes > capacity_bytes_ - used_bytes_ || bytes > SIZE_MAX - kAlignment) return 0;
    used_bytes_ += bytes;
  }
  auto const give_back = [](std::byte* memory) { ::operator delete(memory, std::align_val_t(kAlignment)); };
  // With a gap behind it: an access past the end never finds itself in the next allocation.
  auto* const memory = static_cast<std::byte*>(::operator new(bytes + kAlignment, std::align_val_t(kAlignment), std::nothrow));
  std::lock_guard const lock(mutex_);
  if (memory == nullptr) {
    used_bytes_ -= bytes;
    return 0;
  }
  auto const begin = reinterpret_cast<std::uintptr_t>(memory);
  // Memory of the host that was mapped and given back without being unmapped may be what we have got.
  if (insert({begin, begin + bytes, std::shared_ptr<std::byte>(memory, give_back), constant})) return begin;
  used_bytes_ -= bytes;
  return 0;
}

bool DeviceMemory::free(std::uintptr_t address) {
  MemoryRange freed;  // goes after the lock
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(address);
  if (found == ranges_.end() || found->second.storage == nullptr) return false;
  used_bytes_ -= found->second.end - found->second.begin;
  freed = std::move(found->second);
  ranges_.erase(found);
  snapshot_.reset();
  return true;
}

bool DeviceMemory::map_host(void* begin, std::uint64_t bytes) {
  auto const address = reinterpret_cast<std::uintptr_t>(begin);
  std::lock_guard const lock(mutex_);
  return bytes != 0 && bytes <= UINTPTR_MAX - address && insert({address, address + bytes, nullptr, false});
}

bool DeviceMemory::unmap_host(void* begin) {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (found == ranges_.end() || found->second.storage != nullptr) return false;
  ranges_.erase(found);
  snapshot_.reset();
  return true;
}

bool DeviceMemory::insert(MemoryRange range) {
  auto const next = ranges_.lower_bound(range.begin);
  if (next != ranges_.end() && next->first < range.end) return false;
  if (next != ranges_.begin() && std::prev(next)->second.end > range.begin) return false;
  ranges_.emplace_hint(next, range.begin, std::move(range));
  snapshot_.reset();
  return true;
}

std::optional<MemoryRange> DeviceMemory::find(std::uintptr_t address, std::uint64_t bytes) const {
  std::lock_guard const lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin() || !std::prev(next)->second.holds(address, bytes)) return std::nullopt;
  return std::prev(next)->second;
}

std::shared_ptr<MemorySnapshot const> DeviceMemory::snapshot() const {
  std::lock_guard const lock(mutex_);
  if (snapshot_ == nullptr) {
    auto made = std::make_shared<MemorySnapshot>();
    made->reserve(ranges_.size());
    for (auto const& [begin, range] : ranges_) made->push_back(range);
    snapshot_ = std::move(made);
  }
  return snapshot_;
}

std::uint64_t DeviceMemory::used_bytes() const {
  std::lock_guard const lock(mutex_);
  return used_bytes_;
}

}  // namespace cuda_tests
