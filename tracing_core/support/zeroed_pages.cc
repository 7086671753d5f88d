#include "tracing_core/support/zeroed_pages.h"

#include <sys/mman.h>

#include <cstddef>

// LeakSanitizer looks for pointers in allocated memory but not in mapped pages, so the pages are registered with it.
// Its runtime may be linked to the program only and not to this library, so the functions are weak.
extern "C" {
[[gnu::weak]] void __lsan_register_root_region(void const* begin, std::size_t size_bytes);
[[gnu::weak]] void __lsan_unregister_root_region(void const* begin, std::size_t size_bytes);
}

namespace tracing { inline namespace v1 { namespace support {

char* ZeroedPages::map(std::size_t size_bytes) noexcept {
  // MAP_STACK prevents huge pages: the first touch of a huge page would clear two megabytes.
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const room = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  bytes_ = static_cast<char*>(room);
  size_bytes_ = size_bytes;
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(bytes_, size_bytes_);
  return bytes_;
}

ZeroedPages::~ZeroedPages() {
  if (bytes_ == nullptr) return;
  if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(bytes_, size_bytes_);
  munmap(bytes_, size_bytes_);
}

}}}  // namespace tracing::v1::support
