// Spans have the target of MemoryManager unless they name the target of a pool.
#define TRACE_TARGET "cuda_tests::memory_management::memory_manage"
#include "cuda_tests/runtime/memory_manager.h"

#include <algorithm>
#include <utility>

#include "tracing_core/tracing.h"

namespace cuda_tests {
namespace {

constexpr std::uint64_t kOldAfterUses = 64;

std::size_t aligned(std::size_t bytes) {
  return std::max(bytes + MemoryPage::kAlignment - 1, MemoryPage::kAlignment) / MemoryPage::kAlignment *
         MemoryPage::kAlignment;
}

bool is_unused(SliceHandle const& slice) noexcept { return slice.use_count() == 1; }

}  // namespace

SliceHandle MemoryPage::try_reserve(std::size_t size) {
  TRACE_SPAN(trace, "try_reserve", size, tracing::target("cuda_tests::memory_management::memory_pool::memory_page"));
  coalesce();
  std::size_t const wanted = aligned(size);
  std::size_t offset = 0;
  auto next = slices_.begin();
  while (next != slices_.end() && (*next)->offset - offset < wanted) {
    offset = (*next)->offset + (*next)->bytes;
    ++next;
  }
  if (next == slices_.end() && bytes_ - offset < wanted) return nullptr;
  auto slice = std::make_shared<Slice const>(Slice{address_ + offset, offset, wanted});
  slices_.insert(next, slice);
  return slice;
}

void MemoryPage::coalesce() {
  TRACE_SPAN(trace, "coalesce", tracing::target("cuda_tests::memory_management::memory_pool::memory_page"));
  slices_.remove_if(is_unused);
}

bool MemoryPage::is_free() const noexcept { return std::ranges::all_of(slices_, is_unused); }

SliceHandle SlicedPool::try_reserve(std::size_t size) {
  ++uses_;
  for (Page& page : pages_) {
    if (SliceHandle slice = page.page.try_reserve(size)) {
      page.last_use = uses_;
      return slice;
    }
  }
  return nullptr;
}

CUresult SlicedPool::alloc(std::size_t size, bool mapping, SliceHandle& slice) {
  TRACE_SPAN(trace, "alloc", size, mapping, tracing::target("cuda_tests::memory_management::memory_pool::sliced_pool"));
  if (pages_.size() >= max_pages_ && !std::exchange(warned_, true)) {
    TRACE_WARN("memory pool at capacity: {} pages of {} B", pages_.size(), page_bytes_,
               tracing::target("cuda_tests::memory_management::memory_pool::sliced_pool"));
  }
  StorageId id = 0;
  CUdeviceptr address = 0;
  CUresult const result = storage_.alloc(page_bytes_, id, address);
  if (result != CUDA_SUCCESS) return result;
  pages_.push_back({MemoryPage(id, address, page_bytes_), uses_});
  slice = pages_.back().page.try_reserve(size);
  return result;
}

void SlicedPool::cleanup(std::uint64_t alloc_nr, bool is_explicit) {
  TRACE_SPAN(trace, "cleanup", tracing::kv("_alloc_nr", alloc_nr), tracing::kv("explicit", is_explicit),
             tracing::target("cuda_tests::memory_management::memory_pool::sliced_pool"));
  std::erase_if(pages_, [&](Page& page) {
    if (!page.page.is_free() || (!is_explicit && uses_ - page.last_use < kOldAfterUses)) return false;
    storage_.dealloc(page.page.id());
    return true;
  });
}

SliceHandle ExclusivePool::try_reserve(std::size_t size) {
  std::size_t const wanted = aligned(size);
  for (Page const& page : pages_) {
    if (is_unused(page.slice) && page.slice->bytes >= wanted && page.slice->bytes <= wanted * 2) return page.slice;
  }
  return nullptr;
}

CUresult ExclusivePool::alloc(std::size_t size, bool mapping, SliceHandle& slice) {
  TRACE_SPAN(trace, "alloc", size, tracing::kv("_mapping", mapping),
             tracing::target("cuda_tests::memory_management::memory_pool::exclusive_pool"));
  Page page;
  CUdeviceptr address = 0;
  CUresult const result = storage_.alloc(aligned(size), page.id, address);
  if (result != CUDA_SUCCESS) return result;
  slice = page.slice = std::make_shared<Slice const>(Slice{address, 0, aligned(size)});
  pages_.push_back(std::move(page));
  return result;
}

void ExclusivePool::cleanup() {
  std::erase_if(pages_, [&](Page& page) {
    if (!is_unused(page.slice)) return false;
    storage_.dealloc(page.id);
    return true;
  });
}

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
