// is_own_track(): whether a record comes from the calling thread, without a lock.
#pragma once

#include <cstdint>

#include "tracing_core/model/ids.h"

namespace tracing::inline v1::internal {

struct TrackState;

// The store that this thread used last. Compared by number, because a store's address may be reused.
struct CachedTrack {
  std::uint64_t store_number = 0;
  TrackState* state = nullptr;
  Track const* track = nullptr;  // of that state
};
extern constinit thread_local CachedTrack cached_track;

// True if `track` is the calling thread's. For layers while they are called: at other times it may be false even then.
inline bool is_own_track(Track const& track) noexcept { return cached_track.track == &track; }

}  // namespace tracing::inline v1::internal
