// DeviceMemory: the memory of the CPU backend's device, which is host memory with checked addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracing_core/internal/mutex.h"

namespace cuda_cpu {

/// Which bytes of a range were written. Thread-safe.
class WrittenBytes {
 public:
  WrittenBytes(std::uintptr_t begin, std::uint64_t bytes) : begin_(begin), words_(bytes / 64 + 1) {}

  /// REQUIRES: the bytes are in the range.
  void set(std::uintptr_t address, std::uint64_t bytes) noexcept;
  bool any(std::uintptr_t address, std::uint64_t bytes) const noexcept;
  /// After a copy of these bytes: `to` says of them what `from` says, which may be the same, of bytes that overlap.
  /// Null where that is not tracked: what comes from there counts as written.
  static void copy(WrittenBytes* to, void const* to_memory, WrittenBytes const* from, void const* from_memory,
                   std::uint64_t bytes);

 private:
  std::uintptr_t const begin_;
  std::vector<std::atomic<std::uint64_t>> words_;  // a bit for each byte
};

/// The range [begin, end) of memory that may be read and written.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::shared_ptr<std::byte> storage;  // null if the host owns the memory
  bool constant = false;               // kernels access it only as constant memory
  std::shared_ptr<WrittenBytes> written = nullptr;  // null if not tracked

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

  /// Allocates `bytes` of uninitialized memory, aligned to kAlignment and followed by as many bytes that belong to no
  /// allocation. Zero if the capacity or the host's memory is exhausted, or if `bytes` is zero. `note` says in
  /// describe() what the memory is: "allocated in load{layer=3}".
  std::uintptr_t allocate(std::uint64_t bytes, bool constant = false, std::string note = {});
  /// False if no allocation begins there. A running kernel may still use the memory. The last 256
  /// allocations that were freed are remembered, and the memory of those of at most 4 MiB, 16 MiB in all, is not
  /// allocated again, so that a later use of it is recognized. `note` says who freed it: "freed in unload".
  bool free(std::uintptr_t address, std::string note = {});

  /// Tracks which bytes of an allocation are written, for Checks::init: by kernels that are checked, and where
  /// mark_written() says so.
  void track_writes(std::uintptr_t address);
  void mark_written(std::uintptr_t address, std::uint64_t bytes);

  /// Where an access is: "at byte 8 of 64 bytes (allocation 2)". To memory that is not allocated, by how far its last byte is
  /// from the nearest allocation, or its first one: "reaching 4 bytes past the end of 1024 bytes allocated in load{layer=3}
  /// (allocation 7)", "4 bytes before 64 bytes (allocation 2)"; "in 64 bytes (allocation 2) that were freed", "a null pointer".
  /// More than 4 KiB away, memory that the process has is "in memory of the host, or " that. If no allocation is within
  /// 1 MiB, empty or "in memory of the host, far from any of the device".
  std::string describe(std::uintptr_t address, std::uint64_t bytes) const;

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
  void map_host(void* begin, std::uint64_t bytes, std::string note = "of host memory");
  void unmap_host(void* begin);

  /// The range that holds all of [address, address + bytes), if there is one.
  std::optional<MemoryRange> find(std::uintptr_t address, std::uint64_t bytes) const;
  /// "1024 bytes allocated in load{layer=3} (allocation 7)" for the range that begins there; empty if none does.
  std::string name_of(std::uintptr_t address) const;
  std::shared_ptr<MemorySnapshot const> snapshot() const;

  std::uint64_t capacity_bytes() const noexcept { return capacity_bytes_; }
  /// The sum of the allocations.
  std::uint64_t used_bytes() const;

 private:
  using Mutex = tracing::internal::Mutex;
  struct Note {
    std::uint64_t number = 0;  // of the allocation, from 1; zero: memory of the host
    std::string text;
  };
  struct Freed {
    MemoryRange range;
    Note allocated;
    std::string freed;
  };
  static std::string text_of(MemoryRange const& range, Note const& note);

  std::uint64_t const capacity_bytes_;
  mutable Mutex mutex_;
  std::map<std::uintptr_t, MemoryRange> ranges_ TRACING_GUARDED_BY(mutex_);  // by `begin`
  std::map<std::uintptr_t, Note> notes_ TRACING_GUARDED_BY(mutex_);          // of ranges_
  std::uint64_t allocations_ TRACING_GUARDED_BY(mutex_) = 0;                  // ever made
  std::deque<Freed> freed_ TRACING_GUARDED_BY(mutex_);                        // newest first
  std::uint64_t freed_bytes_ TRACING_GUARDED_BY(mutex_) = 0;                  // of the storage in freed_
  std::uint64_t used_bytes_ TRACING_GUARDED_BY(mutex_) = 0;
  std::map<std::uintptr_t, std::uint64_t> heap_ TRACING_GUARDED_BY(mutex_);  // sizes, by address
  std::uint64_t heap_limit_ TRACING_GUARDED_BY(mutex_) = kHeapBytes;
  std::uint64_t heap_bytes_ TRACING_GUARDED_BY(mutex_) = 0;  // the sum of those in heap_
  mutable std::shared_ptr<MemorySnapshot const> snapshot_ TRACING_GUARDED_BY(mutex_);  // null if ranges_ changed since
};

}  // namespace cuda_cpu
