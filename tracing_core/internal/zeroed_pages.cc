#include "tracing_core/internal/zeroed_pages.h"

#include <sys/mman.h>

namespace tracing::inline v1::internal {

char* ZeroedPages::map(std::size_t size_bytes) noexcept {
  // MAP_STACK keeps huge pages away: the first touch of one would clear two megabytes.
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const room = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  bytes_ = static_cast<char*>(room);
  size_bytes_ = size_bytes;
  return bytes_;
}

ZeroedPages::~ZeroedPages() {
  if (bytes_ != nullptr) munmap(bytes_, size_bytes_);
}

}  // namespace tracing::inline v1::internal
