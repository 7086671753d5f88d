// PerTrack: what a layer keeps for each track. A thread finds what belongs to its own track without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tracing_core/collect/own_track.h"
#include "tracing_core/model/ids.h"

namespace tracing::inline v1::internal {

// What a thread found for its own track. The owner is the number of a PerTrack, since its address may be used again;
// modulo the size of the cache it is the entry's place.
struct TrackCacheEntry {
  std::uint64_t owner = 0;
  Track const* track = nullptr;
  void* found = nullptr;
};
using TrackCache = std::array<TrackCacheEntry, 8>;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local TrackCache track_cache;
std::uint64_t next_per_track_number() noexcept;

// Objects of type T, which has a member `T* next`. A registry reuses the track of a thread that ended, so there are as
// many objects as there were tracks at once.
template <class T>
class PerTrack {
 public:
  // The object of the calling thread's own track. Null if `track` is another one, or if only find() has it: the
  // thread's cache is small.
  T* own(Track const& track) const noexcept {
    TrackCacheEntry const& entry = track_cache[number_ % track_cache.size()];
    return entry.owner == number_ && entry.track == &track ? static_cast<T*>(entry.found) : nullptr;
  }
  // The object of any track; created if it is new. Throws std::bad_alloc. REQUIRES: the caller serialises calls by a
  // lock.
  T& find(Track const& track) {
    std::unique_ptr<T>& found = all_[&track];
    if (found == nullptr) {
      found = std::make_unique<T>();
      found->next = first_.load(std::memory_order_relaxed);
      first_.store(found.get(), std::memory_order_release);
    }
    if (is_own_track(track)) track_cache[number_ % track_cache.size()] = {number_, &track, found.get()};
    return *found;
  }
  // The newest object; the others follow by `next`. Thread-safe, async-signal-safe.
  T* first() const noexcept { return first_.load(std::memory_order_acquire); }

 private:
  std::uint64_t const number_ = next_per_track_number();
  std::atomic<T*> first_{nullptr};
  std::unordered_map<Track const*, std::unique_ptr<T>> all_;
};

}  // namespace tracing::inline v1::internal
