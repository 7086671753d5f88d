// DeviceMemory is the memory of the CPU backend's device: host memory with checked addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda_cpu/executor/call_site.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu {

/// Tracks which bytes of a range were written. Thread-safe.
class WrittenBytes {
 public:
  WrittenBytes(std::uintptr_t begin, std::uint64_t bytes);

  /// REQUIRES: the bytes are in the range.
  void set(std::uintptr_t address, std::uint64_t bytes) noexcept { mark(address, bytes, true); }
  /// Counts the bytes as written, or as never written.
  void mark(std::uintptr_t address, std::uint64_t bytes, bool is_written) noexcept;
  bool any(std::uintptr_t address, std::uint64_t bytes) const noexcept;
  /// Updates `to` after a copy of `bytes` bytes: each byte at `to_memory` counts as written if its source at
  /// `from_memory` does. `to` and `from` may be the same object, and the bytes may overlap. Null: that side is not
  /// tracked; all bytes of an untracked source count as written.
  static void copy(WrittenBytes* to, void const* to_memory, WrittenBytes const* from, void const* from_memory,
                   std::uint64_t bytes);

 private:
  std::uintptr_t const begin_;
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  // A bit for each byte. From calloc(), so that bits of a large pool have no pages before its bytes are used.
  std::unique_ptr<std::atomic<std::uint64_t>[], Free> words_;
};

/// The range [begin, end) of memory that may be read and written.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::shared_ptr<std::byte> storage;               // null if the host owns the memory
  bool constant = false;                            // kernels access it only as constant memory
  std::shared_ptr<WrittenBytes> written = nullptr;  // null: the writes are not tracked

  bool holds(std::uintptr_t address, std::uint64_t bytes) const noexcept {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

/// Says what an allocation is, or who freed it, and where the program called: "allocated at pool.cc:88 in load".
struct MemoryNote {
  MemoryNote() = default;
  MemoryNote(std::string its_text) : text(std::move(its_text)) {}
  MemoryNote(char const* its_text) : text(its_text) {}
  MemoryNote(std::string its_text, CallSite its_site, std::string its_span)
      : text(std::move(its_text)), site(its_site), span(std::move(its_span)) {}

  bool empty() const noexcept { return text.empty(); }
  /// Finds the names of the site.
  std::string to_string() const;

  std::string text;
  CallSite site;
  std::string span;  // " in load{layer=3}"
};

/// All ranges at one moment, sorted by address. Keeps the allocations alive.
using MemorySnapshot = std::vector<MemoryRange>;

/// Allocates, frees and describes the memory. Thread-safe. Device addresses are host addresses.
class DeviceMemory {
 public:
  static constexpr std::size_t kAlignment = 256;

  explicit DeviceMemory(std::uint64_t capacity_bytes = std::uint64_t{8} << 30) : capacity_bytes_(capacity_bytes) {}

  /// Allocates `bytes` of uninitialized memory, aligned to kAlignment and followed by a gap of kAlignment bytes that
  /// belongs to no allocation. Returns zero if the capacity or the host's memory is exhausted, or if `bytes` is zero.
  /// `note` says in describe() what the memory is: "allocated in load{layer=3}".
  std::uintptr_t allocate(std::uint64_t bytes, bool constant = false, MemoryNote note = {});
  /// Frees the allocation that begins at `address`; returns false if none begins there. A running kernel may still use
  /// the memory. To recognize later uses of freed memory, remembers the last 256 freed allocations, and does not reuse
  /// those of at most 4 MiB, 16 MiB in all. `note` says who freed it: "freed in unload".
  bool free(std::uintptr_t address, MemoryNote note = {});

  /// Tracks which bytes of an allocation are written, for Checks::init: by kernels that are checked, and by calls of
  /// mark_written().
  void track_writes(std::uintptr_t address);
  void mark_written(std::uintptr_t address, std::uint64_t bytes);

  /// Describes where an access is. Examples: "at byte 8 of 64 bytes (allocation 2)"; "in 64 bytes (allocation 2) that
  /// were freed"; "a null pointer". For memory that is not allocated, says how far the access is from the nearest
  /// allocation: "reaching 4 bytes past the end of 1024 bytes allocated in load{layer=3} (allocation 7)", "4 bytes
  /// before 64 bytes (allocation 2)". If that is more than 4 KiB and the address is mapped in the process, puts "in
  /// memory of the host, or " before it. If no allocation is within 1 MiB, returns "in memory of the host, far from any
  /// of the device" or an empty string.
  std::string describe(std::uintptr_t address, std::uint64_t bytes) const;

  /// malloc() and free() of kernels. The heap has its own limit, and free() does not free its allocations.
  static constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20;
  std::uintptr_t allocate_on_heap(std::uint64_t bytes);
  bool free_on_heap(std::uintptr_t address);
  /// Sets the limit of the heap in bytes. It is kHeapBytes before that.
  void set_heap_limit(std::uint64_t bytes);
  /// Frees all memory that kernels allocated.
  void clear_heap();

  /// Lets kernels also use host memory, by its host address. The caller must keep the memory alive while it is mapped
  /// or a kernel uses it.
  void map_host(void* begin, std::uint64_t bytes, MemoryNote note = "of host memory");
  void unmap_host(void* begin);

  /// Returns the range that holds all of [address, address + bytes), if one does.
  std::optional<MemoryRange> find(std::uintptr_t address, std::uint64_t bytes) const;
  /// Returns "1024 bytes allocated in load{layer=3} (allocation 7)" for the range that begins there; empty if none
  /// does.
  std::string name_of(std::uintptr_t address) const;
  /// Returns where the range that begins there was allocated.
  CallSite site_of(std::uintptr_t address) const;
  std::shared_ptr<MemorySnapshot const> snapshot() const;

  std::uint64_t capacity_bytes() const noexcept { return capacity_bytes_; }
  /// Returns the sum of the allocations.
  std::uint64_t used_bytes() const;

 private:
  using Mutex = tracing::support::Mutex;
  struct Note {
    std::uint64_t number = 0;  // number of the allocation, from 1; zero: memory of the host
    MemoryNote text;
  };
  struct Freed {
    MemoryRange range;
    Note allocated;
    MemoryNote freed;
  };
  static std::string text_of(MemoryRange const& range, Note const& note);

  std::uint64_t const capacity_bytes_;
  mutable Mutex mutex_;
  std::map<std::uintptr_t, MemoryRange> ranges_ TRACING_GUARDED_BY(mutex_);  // by `begin`
  std::map<std::uintptr_t, Note> notes_ TRACING_GUARDED_BY(mutex_);          // for each of ranges_
  std::uint64_t allocations_ TRACING_GUARDED_BY(mutex_) = 0;                 // number of allocations ever made
  std::deque<Freed> freed_ TRACING_GUARDED_BY(mutex_);                       // newest first
  std::uint64_t freed_bytes_ TRACING_GUARDED_BY(mutex_) = 0;                 // bytes of the storage in freed_
  std::uint64_t used_bytes_ TRACING_GUARDED_BY(mutex_) = 0;
  std::map<std::uintptr_t, std::uint64_t> heap_ TRACING_GUARDED_BY(mutex_);  // sizes, by address
  std::uint64_t heap_limit_ TRACING_GUARDED_BY(mutex_) = kHeapBytes;
  std::uint64_t heap_bytes_ TRACING_GUARDED_BY(mutex_) = 0;                            // the sum of the sizes in heap_
  mutable std::shared_ptr<MemorySnapshot const> snapshot_ TRACING_GUARDED_BY(mutex_);  // null if ranges_ changed since
};

}  // namespace cuda_cpu
