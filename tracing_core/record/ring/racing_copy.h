// copy_racing(): copies what another thread may be writing to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tracing { inline namespace v1 { namespace internal {

/// Copies `bytes`, a multiple of 8, word by word; both addresses are aligned to 8. Hidden from ThreadSanitizer, so the
/// caller must find out by other means whether the copy is whole, as by a chunk's generation.
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
__attribute__((no_sanitize("thread")))
#endif
inline void
copy_racing(char const* from, char* to, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t const word = __atomic_load_n(reinterpret_cast<std::uint64_t const*>(from + at), __ATOMIC_ACQUIRE);
    std::memcpy(to + at, &word, 8);
  }
}

}}}  // namespace tracing::v1::internal
