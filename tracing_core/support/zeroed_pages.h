// ZeroedPages: memory for large, sparsely used tables.
#pragma once

#include <cstddef>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Zero-initialized bytes that take up memory only when a page is first touched. Thread-compatible.
class ZeroedPages {
 public:
  ZeroedPages() noexcept = default;
  ZeroedPages(ZeroedPages const&) = delete;
  ZeroedPages& operator=(ZeroedPages const&) = delete;
  ~ZeroedPages();

  /// Maps at least `size_bytes`, which live as long as this object. Returns null if memory runs out. REQUIRES: called
  /// once.
  char* map(std::size_t size_bytes) noexcept;

 private:
  char* bytes_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}}}  // namespace tracing::v1::support
