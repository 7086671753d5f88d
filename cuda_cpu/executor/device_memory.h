// DeviceMemory: the memory of the CPU backend's device, which is host memory with checked addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tracing_core/internal/mutex.h"

namespace cuda_cpu {

/// The range [begin, end) of memory that may be read and written.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::shared_ptr<std::byte> storage;  // null if the host owns the memory
  bool constant = false;               // kernels access it only as constant memory

  bool holds(std::uintptr_t address, std::uint64_t bytes) const noexcept {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

/// All ranges at one moment, sorted by address. Keeps allocations alive.
using MemorySnapshot = std::vector<MemoryRange>;

/// Thread-safe. Device addresses are host addresses.
class DeviceMemory {
 public:
  static constexpr std::size_t kAlignment = 256;

  explicit DeviceMemory(std::uint64_t capacity_bytes = std::uint64_t{8} << 30) : capacity_bytes_(capacity_bytes) {}

  /// Allocates `bytes` of uninitialized memory, aligned to kAlignment. Zero if the capacity or the host's memory is
  /// exhausted, or if `bytes` is zero.
  std::uintptr_t allocate(std::uint64_t bytes, bool constant = false);
  /// False if no allocation begins there. A running kernel may still use the memory.
  bool free(std::uintptr_t address);

  /// malloc() and free() of kernels: allocations of their own limit, which free() does not free.
  static constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20;
  std::uintptr_t allocate_on_heap(std::uint64_t bytes);
  bool free_on_heap(std::uintptr_t address);
  /// The limit of the heap, in bytes: kHeapBytes until it is set.
  void set_heap_limit(std::uint64_t bytes);
  std::uint64_t heap_limit() const;
  /// Frees all that kernels allocated.
  void clear_heap();

  /// Lets kernels use host memory, too, by its own address. The caller keeps it alive until it is unmapped and no
  /// kernel uses it.
  void map_host(void* begin, std::uint64_t bytes);
  void unmap_host(void* begin);

  /// The range that holds all of [address, address + bytes), if there is one.
  std::optional<MemoryRange> find(std::uintptr_t address, std::uint64_t bytes) const;
  std::shared_ptr<MemorySnapshot const> snapshot() const;

  std::uint64_t capacity_bytes() const noexcept { return capacity_bytes_; }
  /// The sum of the allocations.
  std::uint64_t used_bytes() const;

 private:
  using Mutex = tracing::internal::Mutex;

  std::uint64_t const capacity_bytes_;
  mutable Mutex mutex_;
  std::map<std::uintptr_t, MemoryRange> ranges_ TRACING_GUARDED_BY(mutex_);  // by `begin`
  std::uint64_t used_bytes_ TRACING_GUARDED_BY(mutex_) = 0;
  std::map<std::uintptr_t, std::uint64_t> heap_ TRACING_GUARDED_BY(mutex_);  // sizes, by address
  std::uint64_t heap_limit_ TRACING_GUARDED_BY(mutex_) = kHeapBytes;
  std::uint64_t heap_bytes_ TRACING_GUARDED_BY(mutex_) = 0;  // the sum of those in heap_
  mutable std::shared_ptr<MemorySnapshot const> snapshot_ TRACING_GUARDED_BY(mutex_);  // null if ranges_ changed since
};

}  // namespace cuda_cpu
