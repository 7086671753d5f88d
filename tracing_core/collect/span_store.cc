#include "tracing_core/collect/span_store.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tracing_core/internal/never_destroyed.h"
#include "tracing_core/internal/thread_info.h"

namespace tracing::inline v1 {
namespace {

using internal::EnteredSpan;
using internal::SpanSlot;
using internal::TrackState;

// One lock for all stores: taken where a thread meets a store, a page is made, slots change hands. One lock, so that a fork
// needs to hold only one.
struct Shared {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, SpanStore*>> stores;  // those that live, by number
  std::uint64_t last_number = 0;
};
constinit internal::NeverDestroyed<Shared> shared;

// Gives the thread's states back when it ends.
struct ThreadTracks {
  std::vector<std::pair<std::uint64_t, TrackState*>> tracks;

  ~ThreadTracks() {
    internal::cached_track = {};
    std::lock_guard const lock(shared->mutex);
    for (auto const& [number, track] : tracks) {
      for (auto const& [live_number, store] : shared->stores) {
        if (live_number == number) store->retire(*track);
      }
    }
  }
};
thread_local ThreadTracks thread_tracks;

void prepare_fork_once() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork([] { shared->mutex.lock(); }, [] { shared->mutex.unlock(); }, [] { shared->mutex.unlock(); });
  });
}

}  // namespace

namespace internal {

constinit thread_local CachedTrack cached_track;

bool TrackState::grow() noexcept {
  std::size_t const larger = std::max<std::size_t>(32, capacity * 2);
  std::unique_ptr<EnteredSpan[]> grown(new (std::nothrow) EnteredSpan[larger]);
  if (grown == nullptr) return false;
  std::copy_n(stack.load(std::memory_order_relaxed), depth.load(std::memory_order_relaxed), grown.get());
  stack.store(grown.get(), std::memory_order_release);
  capacity = larger;
  stacks.push_back(std::move(grown));
  return true;
}

bool TrackState::push(SpanSlot& slot) noexcept {
  std::size_t const size = depth.load(std::memory_order_relaxed);
  if (size == capacity && !grow()) return false;
  EnteredSpan* const entries = stack.load(std::memory_order_relaxed);
  bool const again = std::any_of(entries, entries + size, [&slot](EnteredSpan const& entered) { return entered.slot == &slot; });
  entries[size] = {&slot, again ? 0 : slot.id.load(std::memory_order_relaxed)};
  depth.store(size + 1, std::memory_order_release);
  return true;
}

bool TrackState::pop(SpanSlot& slot) noexcept {
  std::size_t const size = depth.load(std::memory_order_relaxed);
  EnteredSpan* const entries = stack.load(std::memory_order_relaxed);
  for (std::size_t i = size; i > 0; --i) {
    if (entries[i - 1].slot != &slot) continue;
    std::move(entries + i, entries + size, entries + i - 1);
    depth.store(size - 1, std::memory_order_release);
    return true;
  }
  return false;
}

}  // namespace internal

SpanStore::SpanStore() : number_([this] {
  prepare_fork_once();
  std::lock_guard const lock(shared->mutex);
  shared->stores.emplace_back(++shared->last_number, this);
  return shared->last_number;
}()) {
  void* const room = mmap(nullptr, kMostPages * sizeof(std::atomic<Page*>), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<std::atomic<Page*>*>(room);  // zero bytes: null pointers
}

SpanStore::~SpanStore() {
  {
    std::lock_guard const lock(shared->mutex);
    std::erase_if(shared->stores, [this](auto const& entry) { return entry.second == this; });
  }
  for (TrackState* track = tracks_.load(); track != nullptr;) delete std::exchange(track, track->next);
  for (std::uint32_t i = 0; i < page_count_.load(); ++i) delete pages_[i].load();
  munmap(static_cast<void*>(pages_), kMostPages * sizeof(std::atomic<Page*>));
}

TrackState* SpanStore::find_this_thread() noexcept {
  for (auto const& [number, track] : thread_tracks.tracks) {
    if (number == number_) {
      internal::cached_track = {number_, track};
      return track;
    }
  }
  internal::ThreadInfo const& thread = internal::this_thread_info();
  TrackState* const track = new_track({thread.number, thread.name}, thread.os_thread);
  if (track == nullptr) return nullptr;
  thread_tracks.tracks.emplace_back(number_, track);
  internal::cached_track = {number_, track};
  return track;
}

TrackState* SpanStore::foreign_track(Track const& track) noexcept {
  {
    std::lock_guard const lock(shared->mutex);
    auto const found = foreign_tracks_.find(track.number);
    if (found != foreign_tracks_.end()) return found->second;
  }
  TrackState* const state = new_track(track, 0);
  if (state == nullptr) return nullptr;
  std::lock_guard const lock(shared->mutex);
  return foreign_tracks_.emplace(track.number, state).first->second;
}

TrackState* SpanStore::new_track(Track track, std::int64_t os_thread) noexcept {
  std::lock_guard const lock(shared->mutex);
  TrackState* state = nullptr;
  for (TrackState* old = tracks_.load(std::memory_order_relaxed); old != nullptr && state == nullptr; old = old->next) {
    if (old->retired) state = old;
  }
  bool const fresh = state == nullptr;
  if (fresh) state = new (std::nothrow) TrackState;
  if (state == nullptr) return nullptr;
  state->retired = false;
  state->name = track.name;
  state->track = {track.number, state->name};
  state->os_thread = os_thread;
  state->depth.store(0, std::memory_order_release);
  if (fresh) {
    state->next = tracks_.load(std::memory_order_relaxed);
    tracks_.store(state, std::memory_order_release);
  }
  return state;
}

void SpanStore::retire(TrackState& track) noexcept {
  track.depth.store(0, std::memory_order_release);
  track.os_thread = 0;
  track.retired = true;
}

SpanSlot* SpanStore::refill(TrackState& track) noexcept {
  std::lock_guard const lock(shared->mutex);
  if (!spare_.empty()) {
    track.free = spare_.back();
    spare_.pop_back();
    return track.free.pop();
  }
  std::uint32_t const page_index = page_count_.load(std::memory_order_relaxed);
  if (page_index == kMostPages) return nullptr;
  Page* const page = new (std::nothrow) Page;
  if (page == nullptr) return nullptr;
  for (std::uint32_t i = kPageSlots; i > 0; --i) {
    (*page)[i - 1].id.store(SpanSlot::kGeneration | (page_index * kPageSlots + i), std::memory_order_relaxed);
    track.free.push((*page)[i - 1]);
  }
  pages_[page_index].store(page, std::memory_order_release);
  page_count_.store(page_index + 1, std::memory_order_release);
  return track.free.pop();
}

void SpanStore::pass_on(TrackState& track) noexcept {
  internal::FreeSlots half;
  while (half.count < kMostFree / 2) half.push(*track.free.pop());
  std::lock_guard const lock(shared->mutex);
  spare_.push_back(half);
}

SpanSlot* SpanStore::find(SpanId id) const noexcept {
  auto const index = static_cast<std::uint32_t>(id.value) - 1;
  std::uint32_t const page_index = index / kPageSlots;
  if (page_index >= kMostPages) return nullptr;
  Page* const page = pages_[page_index].load(std::memory_order_acquire);
  if (page == nullptr) return nullptr;
  SpanSlot& slot = (*page)[index % kPageSlots];
  return slot.id.load(std::memory_order_acquire) == id.value && slot.is_open() ? &slot : nullptr;
}

bool SpanStore::any_open() const noexcept {
  for (std::uint32_t i = 0; i < page_count_.load(std::memory_order_acquire); ++i) {
    for (SpanSlot const& slot : *pages_[i].load(std::memory_order_acquire)) {
      if (slot.is_open()) return true;
    }
  }
  return false;
}

}  // namespace tracing::inline v1
