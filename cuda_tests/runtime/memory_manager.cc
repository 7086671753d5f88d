#define TRACE_TARGET "cuda_tests::memory_management::memory_manage"
#include "cuda_tests/runtime/memory_manager.h"

#include "tracing_core/tracing.h"

namespace cuda_tests {

CUresult MemoryManager::reserve(std::size_t size, SliceHandle& slice) {
  TRACE_SPAN(trace, "reserve", size);
  slice = try_reserve(size);
  return slice != nullptr ? CUDA_SUCCESS : alloc(size, false, slice);
}

SliceHandle MemoryManager::try_reserve(std::size_t size) {
  TRACE_SPAN(trace, "try_reserve", size);
  return small_.takes(size) ? small_.try_reserve(size) : large_.try_reserve(size);
}

CUresult MemoryManager::alloc(std::size_t size, bool mapping, SliceHandle& slice) {
  TRACE_SPAN(trace, "alloc", size, mapping);
  ++allocations_;
  cleanup(false);
  return small_.takes(size) ? small_.alloc(size, mapping, slice) : large_.alloc(size, mapping, slice);
}

void MemoryManager::cleanup(bool is_explicit) {
  small_.cleanup(allocations_, is_explicit);
  if (is_explicit) large_.cleanup();
  if (is_explicit || storage_.needs_flush()) storage_.flush();
}

}  // namespace cuda_tests
