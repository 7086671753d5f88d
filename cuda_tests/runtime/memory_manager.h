// Declares MemoryManager, which finds memory for one stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_tests/runtime/memory_pool.h"

namespace cuda_tests {

/// Memory for what is done on one stream: what is given back may be handed out again at once, since the stream does one thing
/// after another. Thread-compatible.
class MemoryManager {
 public:
  static constexpr std::size_t kPageBytes = std::size_t{1} << 20;

  explicit MemoryManager(GpuStorage& storage) : storage_(storage), small_(storage, kPageBytes, 64), large_(storage) {}

  /// What the driver says; `slice` is set where that is success.
  CUresult reserve(std::size_t size, SliceHandle& slice);
  /// Gives the device what nobody uses: all of it where it is asked for, otherwise the pages that have not been used for a
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
