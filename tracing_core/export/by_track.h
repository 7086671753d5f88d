// Declares ByTrack, what a layer keeps for each track. The thread whose track it is finds it without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tracing_core/collect/span_store.h"
#include "tracing_core/model/ids.h"

namespace tracing::inline v1::internal {

// What a thread found last of its own. By the number of the ByTrack, as an address may be used again.
struct KnownOfTrack {
  std::uint64_t owner = 0;
  Track const* track = nullptr;
  void* found = nullptr;
};
struct KnownOfTracks {
  KnownOfTrack first;  // asked for last
  std::array<KnownOfTrack, 3> others;
  unsigned next = 0;
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local KnownOfTracks known_of_tracks;
std::uint64_t next_by_track_number() noexcept;
// Null where it is not known; else it is the first from now on.
void* look_for_known(std::uint64_t owner, Track const& track) noexcept;
void know(KnownOfTrack const& own) noexcept;

// Whether it is the calling thread's own in the registry that is calling a layer. May say no where it is.
inline bool is_own_track(Track const& track) noexcept {
  TrackState const* const own = cached_track.track;
  return own != nullptr && &own->track == &track;
}

// Objects of type T, which has a pointer `next` to one. A registry gives the track of a thread that ended to another, so these
// are as many as there were tracks at once.
template <class T>
class ByTrack {
 public:
  // What is kept for the calling thread's own track; null where it is another one, or was not found here yet.
  T* own(Track const& track) const noexcept {
    KnownOfTrack& first = known_of_tracks.first;
    if (first.owner != number_ || first.track != &track) [[unlikely]] return static_cast<T*>(look_for_known(number_, track));
    return static_cast<T*>(first.found);
  }
  // What is kept for any track; made where it is new. Throws where memory runs out. REQUIRES: a lock.
  T& find(Track const& track) {
    std::unique_ptr<T>& found = all_[&track];
    if (found == nullptr) {
      found = std::make_unique<T>();
      found->next = first_.load(std::memory_order_relaxed);
      first_.store(found.get(), std::memory_order_release);
    }
    if (is_own_track(track)) know({number_, &track, found.get()});
    return *found;
  }
  // The one made last; the others follow by `next`. Thread-safe, async-signal-safe.
  T* first() const noexcept { return first_.load(std::memory_order_acquire); }

 private:
  std::uint64_t const number_ = next_by_track_number();
  std::atomic<T*> first_{nullptr};
  std::unordered_map<Track const*, std::unique_ptr<T>> all_;
};

}  // namespace tracing::inline v1::internal
