// pack(): removes the unused bytes of a recording, which are most of the file. Leaves the beginning of the header, then
// for each chunk the beginning of its head and the bytes of its records. If bytes follow the last chunk, less than a
// head, unpack() cuts off the file's end, 300 bytes for each of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tracing_core/record/ring/layout.h"

namespace tracing_fuzz {

inline constexpr std::size_t kHeaderBytes = 72;  // up to the reserved bytes
inline constexpr std::size_t kHeadBytes = 56;
inline constexpr std::size_t kOffsetOfUsed = 12;

inline std::uint32_t used_of(std::string_view head) noexcept {
  std::uint32_t used;
  std::memcpy(&used, head.data() + kOffsetOfUsed, sizeof(used));
  return std::min(used, tracing::internal::kChunkBytes);
}

inline std::string pack(std::string_view file) {
  std::string packed(file.substr(0, kHeaderBytes));
  for (std::uint32_t i = 0; tracing::internal::offset_of_chunk(i) < file.size(); ++i) {
    std::string_view const head = file.substr(tracing::internal::offset_of_head(i), kHeadBytes);
    packed.append(head).append(file.substr(tracing::internal::offset_of_chunk(i), used_of(head)));
  }
  return packed;
}

inline std::string unpack(std::string_view packed) {
  std::string file(packed.substr(0, kHeaderBytes));
  packed.remove_prefix(file.size());
  file.resize(tracing::internal::offset_of_head(0));
  auto const put = [&](std::size_t at, std::size_t size) {
    size = std::min(size, packed.size());
    packed.copy(file.data() + at, size);
    packed.remove_prefix(size);
  };
  for (std::uint32_t i = 0; packed.size() >= kHeadBytes; ++i) {
    std::uint32_t const used = used_of(packed);
    file.resize(tracing::internal::offset_of_chunk(i) + tracing::internal::kChunkBytes);
    put(tracing::internal::offset_of_head(i), kHeadBytes);
    put(tracing::internal::offset_of_chunk(i), used);
  }
  file.resize(file.size() - std::min(file.size(), packed.size() * 300));
  return file;
}

}  // namespace tracing_fuzz
