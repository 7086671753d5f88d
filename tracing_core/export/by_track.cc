#include "tracing_core/export/by_track.h"

#include <utility>

namespace tracing::inline v1::internal {

constinit thread_local KnownOfTracks known_of_tracks;

void* look_for_known(std::uint64_t owner, Track const& track) noexcept {
  KnownOfTracks& known = known_of_tracks;
  for (KnownOfTrack& other : known.others) {
    if (other.owner != owner || other.track != &track) continue;
    std::swap(other, known.first);
    return known.first.found;
  }
  return nullptr;
}

void know(KnownOfTrack const& own) noexcept {
  KnownOfTracks& known = known_of_tracks;
  known.others[known.next++ % known.others.size()] = std::exchange(known.first, own);
}

std::uint64_t next_by_track_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace tracing::inline v1::internal
