// PerTrack: stores an object of a layer for each track. A thread finds the object of its own track without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tracing_core/collect/own_track.h"
#include "tracing_core/model/ids.h"

namespace tracing { inline namespace v1 { namespace internal {

// Caches the object that a thread found for its own track. The owner is the number of a PerTrack, since its address may
// be reused. The entry's place in the cache is this number modulo the size of the cache.
struct TrackCacheEntry {
  std::uint64_t owner = 0;
  Track const* track = nullptr;
  void* found = nullptr;
};
using TrackCache = std::array<TrackCacheEntry, 8>;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local TrackCache track_cache;
std::uint64_t next_per_track_number() noexcept;

// Stores objects of type T, which has a member `T* next`. A registry reuses the track of a thread that has ended, so
// there are only as many objects as there were tracks at one time.
template <class T>
class PerTrack {
 public:
  // Returns the object of the calling thread's own track. Returns null for another track, or if the object is no longer
  // in the thread's cache, which is small; find() finds it then.
  T* own(Track const& track) const noexcept {
    TrackCacheEntry const& entry = track_cache[number_ % track_cache.size()];
    return entry.owner == number_ && entry.track == &track ? static_cast<T*>(entry.found) : nullptr;
  }
  // Returns the object of any track; creates it for a new track. Throws std::bad_alloc. REQUIRES: the caller serializes
  // calls by a lock.
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
  // Returns the newest object; the others follow by `next`. Thread-safe, async-signal-safe.
  T* first() const noexcept { return first_.load(std::memory_order_acquire); }

 private:
  std::uint64_t const number_ = next_per_track_number();
  std::atomic<T*> first_{nullptr};
  std::unordered_map<Track const*, std::unique_ptr<T>> all_;
};

}}}  // namespace tracing::v1::internal
