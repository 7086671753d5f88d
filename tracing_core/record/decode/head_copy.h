// HeadCopy: the head of a chunk at one moment.
#pragma once

#include <atomic>

#include "tracing_core/record/ring/layout.h"
#include "tracing_core/record/ring/racing_copy.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Copies the head while another thread may be writing to it.
class HeadCopy {
 public:
  explicit HeadCopy(internal::ChunkHead const& head) noexcept {
    internal::copy_racing(reinterpret_cast<char const*>(&head), bytes_, sizeof(bytes_));
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  internal::ChunkHead const& operator*() const noexcept {
    return *reinterpret_cast<internal::ChunkHead const*>(bytes_);
  }

 private:
  alignas(internal::ChunkHead) char bytes_[sizeof(internal::ChunkHead)];
};

/// True if the chunk has records of a track, and is not just changing hands.
inline bool is_of_track(internal::ChunkHead const& head) noexcept {
  std::uint64_t const generation = head.generation.load(std::memory_order_relaxed);
  return generation != 0 && generation % 2 == 0 && head.track != 0;
}

}}}  // namespace tracing::v1::recording
