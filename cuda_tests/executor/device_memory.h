// Declares DeviceMemory, the memory of a device that is not there: allocations of host memory, and checks of addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cuda_tests {

/// A part of memory that may be read and written: [begin, end).
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::shared_ptr<std::byte> storage;  // null where somebody else owns it
  bool constant = false;               // kernels read it as constant memory, and do not write it

  bool holds(std::uintptr_t address, std::uint64_t bytes) const noexcept {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

/// What memory was at a moment, sorted by address. It keeps that memory mapped.
using MemorySnapshot = std::vector<MemoryRange>;

/// Thread-safe. The addresses on the device are those on the host.
class DeviceMemory {
 public:
  static constexpr std::size_t kAlignment = 256;

  explicit DeviceMemory(std::uint64_t capacity_bytes = std::uint64_t{8} << 30) : capacity_bytes_(capacity_bytes) {}

  /// `bytes` of memory aligned to kAlignment, of any content; zero where the capacity or the host's memory does not suffice,
  /// or where `bytes` is zero.
  std::uintptr_t allocate(std::uint64_t bytes, bool constant = false);
  /// False where no allocation begins there. A kernel that runs still finds the memory mapped, and may use it.
  bool free(std::uintptr_t address);

  /// Memory of the host that kernels may use, too, by its own address. The owner keeps it while a kernel may use it. False
  /// where it overlaps what is there.
  bool map_host(void* begin, std::uint64_t bytes);
  bool unmap_host(void* begin);

  /// The range that holds [address, address + bytes), none where a part of it belongs to no allocation.
  std::optional<MemoryRange> find(std::uintptr_t address, std::uint64_t bytes) const;
  std::shared_ptr<MemorySnapshot const> snapshot() const;

  std::uint64_t capacity_bytes() const noexcept { return capacity_bytes_; }
  /// What allocations take of the capacity.
  std::uint64_t used_bytes() const;

 private:
  bool insert(MemoryRange range);

  std::uint64_t const capacity_bytes_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, MemoryRange> ranges_;               // by their begin; guarded by mutex_
  std::uint64_t used_bytes_ = 0;                               // guarded by mutex_
  mutable std::shared_ptr<MemorySnapshot const> snapshot_;     // null where it changed since; guarded by mutex_
};

}  // namespace cuda_tests
