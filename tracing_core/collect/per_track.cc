#include "tracing_core/collect/per_track.h"

namespace tracing { inline namespace v1 { namespace internal {

constinit thread_local TrackCache track_cache{};

std::uint64_t next_per_track_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}}}  // namespace tracing::v1::internal
