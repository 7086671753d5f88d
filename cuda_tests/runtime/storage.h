// Declares GpuStorage and PinnedStorage, which get memory from the driver in large parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tracing_core/cuda/driver.h"

namespace cuda_tests {

using StorageId = std::uint64_t;

/// Memory of the device. What is given back is freed by flush(), which waits for the device. Thread-compatible.
class GpuStorage {
 public:
  explicit GpuStorage(tracing::cuda::Driver& driver) : driver_(driver) {}
  GpuStorage(GpuStorage const&) = delete;
  GpuStorage& operator=(GpuStorage const&) = delete;
  ~GpuStorage();

  /// What the driver says; `id` and `address` are set where that is success.
  CUresult alloc(std::size_t bytes, StorageId& id, CUdeviceptr& address);
  void dealloc(StorageId id);
  void flush();
  /// Whether there is something to flush.
  bool has_given_back() const noexcept { return !given_back_.empty(); }

  std::size_t allocations() const noexcept { return allocations_.size(); }

 private:
  tracing::cuda::Driver& driver_;
  StorageId last_ = 0;
  std::map<StorageId, CUdeviceptr> allocations_;
  std::vector<CUdeviceptr> given_back_;
};

/// Memory of the host that the device reads and writes by itself. Thread-compatible.
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
