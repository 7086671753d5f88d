#define TRACE_TARGET "cuda_tests::compute::storage::gpu"
#include "cuda_tests/runtime/storage.h"

#include <utility>

#include "cuda_tests/runtime/error.h"
#include "tracing_core/tracing.h"

namespace cuda_tests {

GpuStorage::~GpuStorage() {
  for (auto const& [id, address] : allocations_) driver_.mem_free(address);
  for (CUdeviceptr const address : deallocated_) driver_.mem_free(address);
}

CUresult GpuStorage::alloc(std::size_t bytes, StorageId& id, CUdeviceptr& address) {
  TRACE_SPAN(trace, "alloc");
  CUresult const result = driver_.mem_alloc(&address, bytes);
  if (result != CUDA_SUCCESS) return result;
  id = ++last_;
  allocations_.emplace(id, address);
  return result;
}

void GpuStorage::dealloc(StorageId id) {
  TRACE_SPAN(trace, "dealloc", id);
  auto const node = allocations_.extract(id);
  if (!node.empty()) deallocated_.push_back(node.mapped());
}

void GpuStorage::flush() {
  TRACE_SPAN(trace, "flush");
  if (deallocated_.empty()) return;
  driver_.ctx_synchronize();
  for (CUdeviceptr const address : std::exchange(deallocated_, {})) driver_.mem_free(address);
}

PinnedStorage::~PinnedStorage() {
  for (auto const& [id, address] : allocations_) driver_.mem_free_host(address);
}

void* PinnedStorage::alloc(std::size_t bytes, StorageId& id) {
  TRACE_SPAN(trace, "alloc", tracing::target("cuda_tests::compute::storage::cpu"));
  void* address = nullptr;
  check(driver_.mem_host_alloc(&address, bytes, 0), "cannot allocate pinned memory");
  id = ++last_;
  allocations_.emplace(id, address);
  return address;
}

void PinnedStorage::dealloc(StorageId id) {
  TRACE_SPAN(trace, "dealloc", id, tracing::target("cuda_tests::compute::storage::cpu"));
  auto const node = allocations_.extract(id);
  if (!node.empty()) driver_.mem_free_host(node.mapped());
}

}  // namespace cuda_tests
