// MemoryManager allocates memory for one stream, from its pools SlicedPool and ExclusivePool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "cuda_tests/runtime/storage.h"

namespace cuda_tests {

/// A part of a page. It is in use as long as it has owners other than the pool.
struct Slice {
  CUdeviceptr address = 0;
  std::size_t offset = 0;  ///< in its page
  std::size_t bytes = 0;
};
using SliceHandle = std::shared_ptr<Slice const>;

/// One allocation of the device, divided into slices by first fit. Thread-compatible.
class MemoryPage {
 public:
  static constexpr std::size_t kAlignment = 256;

  MemoryPage(StorageId id, CUdeviceptr address, std::size_t bytes) : id_(id), address_(address), bytes_(bytes) {}

  /// Returns null if no gap is large enough.
  SliceHandle try_reserve(std::size_t size);
  /// Removes unused slices, which merges gaps.
  void coalesce();

  bool is_free() const noexcept;
  StorageId id() const noexcept { return id_; }

 private:
  StorageId id_;
  CUdeviceptr address_;
  std::size_t bytes_;
  std::list<SliceHandle> slices_;  // ordered by offset
};

/// Slices of pages of a fixed size, for allocations up to that size.
class SlicedPool {
 public:
  SlicedPool(GpuStorage& storage, std::size_t page_bytes, std::size_t max_pages)
      : storage_(storage), page_bytes_(page_bytes), max_pages_(max_pages) {}

  bool takes(std::size_t size) const noexcept { return size <= page_bytes_; }
  SliceHandle try_reserve(std::size_t size);
  /// Allocates from a new page. `mapping`: other processes may map the memory; only recorded.
  CUresult alloc(std::size_t size, bool mapping, SliceHandle& slice);
  /// Frees unused pages: all of them if `is_explicit`, otherwise the pages that have not been used for a while.
  void cleanup(std::uint64_t alloc_nr, bool is_explicit);

 private:
  struct Page {
    MemoryPage page;
    std::uint64_t last_use = 0;
  };
  GpuStorage& storage_;
  std::size_t page_bytes_;
  std::size_t max_pages_;
  bool warned_ = false;
  std::vector<Page> pages_;
  std::uint64_t uses_ = 0;
};

/// One page for each allocation that is too large for SlicedPool.
class ExclusivePool {
 public:
  explicit ExclusivePool(GpuStorage& storage) : storage_(storage) {}

  SliceHandle try_reserve(std::size_t size);
  CUresult alloc(std::size_t size, bool mapping, SliceHandle& slice);
  void cleanup();

 private:
  struct Page {
    StorageId id = 0;
    SliceHandle slice;
  };
  GpuStorage& storage_;
  std::vector<Page> pages_;
};

/// Allocates memory for a stream. Released memory may be reused at once, because the operations of a stream are
/// executed in order. Thread-compatible.
class MemoryManager {
 public:
  static constexpr std::size_t kPageBytes = std::size_t{1} << 20;

  explicit MemoryManager(GpuStorage& storage) : storage_(storage), small_(storage, kPageBytes, 64), large_(storage) {}

  /// Returns the result of the driver; sets `slice` on success.
  CUresult reserve(std::size_t size, SliceHandle& slice);
  /// Returns unused memory to the device: all of it if `is_explicit`, otherwise pages that have not been used for a
  /// while.
  void cleanup(bool is_explicit);

 private:
  SliceHandle try_reserve(std::size_t size);
  CUresult alloc(std::size_t size, bool mapping, SliceHandle& slice);

  GpuStorage& storage_;
  SlicedPool small_;
  ExclusivePool large_;
  std::uint64_t allocations_ = 0;
};

}  // namespace cuda_tests
