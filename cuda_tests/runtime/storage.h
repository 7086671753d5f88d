// GpuStorage and PinnedStorage hold memory allocated from the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tracing_core/cuda/driver.h"

namespace cuda_tests {

using StorageId = std::uint64_t;

/// Device memory. Deallocated memory is freed by flush(), which waits for the device. Thread-compatible.
class GpuStorage {
 public:
  explicit GpuStorage(tracing::cuda::Driver& driver) : driver_(driver) {}
  GpuStorage(GpuStorage const&) = delete;
  GpuStorage& operator=(GpuStorage const&) = delete;
  ~GpuStorage();

  /// Returns the result of the driver; sets `id` and `address` on success.
  CUresult alloc(std::size_t bytes, StorageId& id, CUdeviceptr& address);
  void dealloc(StorageId id);
  void flush();
  bool needs_flush() const noexcept { return !deallocated_.empty(); }

  std::size_t allocations() const noexcept { return allocations_.size(); }

 private:
  tracing::cuda::Driver& driver_;
  StorageId last_ = 0;
  std::map<StorageId, CUdeviceptr> allocations_;
  std::vector<CUdeviceptr> deallocated_;
};

/// Pinned host memory. Thread-compatible.
class PinnedStorage {
 public:
  explicit PinnedStorage(tracing::cuda::Driver& driver) : driver_(driver) {}
  PinnedStorage(PinnedStorage const&) = delete;
  PinnedStorage& operator=(PinnedStorage const&) = delete;
  ~PinnedStorage();

  /// Throws Error.
  void* alloc(std::size_t bytes, StorageId& id);
  void dealloc(StorageId id);

 private:
  tracing::cuda::Driver& driver_;
  StorageId last_ = 0;
  std::map<StorageId, void*> allocations_;
};

}  // namespace cuda_tests
