// Declares MemoryPage, SlicedPool and ExclusivePool, which hand out parts of the device's memory and take them back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "cuda_tests/runtime/storage.h"

namespace cuda_tests {

/// A part of a page. Whoever shares it uses it; the pool hands it out again when only the pool has it.
struct Slice {
  CUdeviceptr address = 0;
  std::size_t offset = 0;  ///< in its page
  std::size_t bytes = 0;
};
using SliceHandle = std::shared_ptr<Slice const>;

/// One allocation of the device, cut into slices, first fit. Thread-compatible.
class MemoryPage {
 public:
  static constexpr std::size_t kAlignment = 256;

  MemoryPage(StorageId id, CUdeviceptr address, std::size_t bytes) : id_(id), address_(address), bytes_(bytes) {}

  /// Null where no gap is large enough.
  SliceHandle try_reserve(std::size_t size);
  /// Forgets the slices that nobody uses, so that gaps become one.
  void coalesce();

  bool is_free() const noexcept;
  StorageId id() const noexcept { return id_; }

 private:
  StorageId id_;
  CUdeviceptr address_;
  std::size_t bytes_;
  std::list<SliceHandle> slices_;  // by offset
};

/// Slices of pages of one size, for memory up to that size.
class SlicedPool {
 public:
  SlicedPool(GpuStorage& storage, std::size_t page_bytes, std::size_t most_pages)
      : storage_(storage), page_bytes_(page_bytes), most_pages_(most_pages) {}

  bool takes(std::size_t size) const noexcept { return size <= page_bytes_; }
  SliceHandle try_reserve(std::size_t size);
  /// From a page of its own. `mapping` is whether it is memory that other processes may map, which we never ask for.
  CUresult alloc(std::size_t size, bool mapping, SliceHandle& slice);
  /// Gives free pages back: all where it is asked for, those of some age otherwise.
  void cleanup(std::uint64_t alloc_nr, bool is_explicit);

 private:
  struct Page {
    MemoryPage page;
    std::uint64_t last_use = 0;
  };
  GpuStorage& storage_;
  std::size_t page_bytes_;
  std::size_t most_pages_;
  bool said_full_ = false;
  std::vector<Page> pages_;
  std::uint64_t uses_ = 0;
};

/// A page for each, for memory too large to share one.
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

}  // namespace cuda_tests
