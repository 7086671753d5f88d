// Declares ZeroedPages, memory for large tables of which little is used.
#pragma once

#include <cstddef>

namespace tracing::inline v1::internal {

/// Bytes that read as zero and take memory, and time, only page by page as they are touched. Thread-compatible.
class ZeroedPages {
 public:
  ZeroedPages() noexcept = default;
  ZeroedPages(ZeroedPages const&) = delete;
  ZeroedPages& operator=(ZeroedPages const&) = delete;
  ~ZeroedPages();

  /// At least `size_bytes` of them; null where there is no room. They live as long as this does. REQUIRES: called once.
  char* map(std::size_t size_bytes) noexcept;

 private:
  char* bytes_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace tracing::inline v1::internal
