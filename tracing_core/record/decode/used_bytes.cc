#include "tracing_core/record/decode/used_bytes.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;
namespace {

struct alignas(ChunkHead) HeadBytes {
  char bytes[sizeof(ChunkHead)] = {};

  ChunkHead const& head() const noexcept { return *reinterpret_cast<ChunkHead const*>(bytes); }
  bool is_used() const noexcept { return head().generation.load(std::memory_order_relaxed) != 0; }
  std::size_t records() const noexcept {
    return is_used() ? std::min(head().used.load(std::memory_order_relaxed), kChunkBytes) : 0;
  }
};
// The heads of a group, which precede its chunks.
struct GroupHeads {
  HeadBytes heads[kChunksPerGroup];
};
static_assert(sizeof(GroupHeads) == kChunksPerGroup * sizeof(ChunkHead));

std::uint32_t used_chunks_of(RecordingSource const& source) {
  std::uint32_t end = 0;
  source.for_each_chunk([&end](std::uint32_t i, ChunkHead const&) { end = i + 1; });
  return end;
}

}  // namespace

bool copy_used(RecordingSource const& source, std::function<void(std::string_view)> const& out) {
  struct Buffer {
    char header[sizeof(RegionHeader)] = {};
    GroupHeads group;
    char chunk[kChunkBytes] = {};
  };
  auto const buffer = std::make_unique<Buffer>();
  if (source.read(0, buffer->header, sizeof(buffer->header)) < sizeof(buffer->header) ||
      std::memcmp(buffer->header, kRecordingMagic, sizeof(kRecordingMagic)) != 0)
    return false;
  out({buffer->header, sizeof(buffer->header)});
  std::uint32_t const end = used_chunks_of(source);
  for (std::uint32_t first = 0; first < end; first += kChunksPerGroup) {
    buffer->group = {};
    source.read(offset_of_head(first), &buffer->group, sizeof(buffer->group));
    out({reinterpret_cast<char const*>(&buffer->group), sizeof(buffer->group)});
    for (std::uint32_t i = 0; i < kChunksPerGroup && first + i < end; ++i) {
      std::size_t const got = source.read(offset_of_chunk(first + i), buffer->chunk, buffer->group.heads[i].records());
      std::fill(buffer->chunk + got, buffer->chunk + kChunkBytes, '\0');
      out({buffer->chunk, sizeof(buffer->chunk)});
    }
  }
  return true;
}

}}}  // namespace tracing::v1::recording
