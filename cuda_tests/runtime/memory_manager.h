// MemoryManager: allocates memory for one stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_tests/runtime/memory_pool.h"

namespace cuda_tests {

/// Released memory may be reused at once, because the operations of a stream are executed in order. Thread-compatible.
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
