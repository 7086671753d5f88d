// is_own_track(): tells whether a record comes from the calling thread, without a lock.
#pragma once

#include <cstdint>

#include "tracing_core/model/ids.h"

namespace tracing { inline namespace v1 { namespace internal {

struct TrackState;

// The store that this thread used last. Stores are compared by number, because a store's address may be reused.
struct CachedTrack {
  std::uint64_t store_number = 0;
  TrackState* state = nullptr;
  Track const* track = nullptr;  // the track of `state`
};
extern constinit thread_local CachedTrack cached_track;

// True if `track` is the calling thread's track. Reliable only in a call of a layer: at other times it may return false
// even for the own track.
inline bool is_own_track(Track const& track) noexcept { return cached_track.track == &track; }

}}}  // namespace tracing::v1::internal
