// Declares SpanStore, where a registry keeps its open spans, and TrackState, what it knows of each thread.
//
// Slots stand in pages that are never given back while the store lives, so a stale id is recognised by the slot's
// generation and never by a fault. Each track takes free slots from a list of its own; lists that grow long, as on a thread
// that closes what another opened, pass slots on through the store.
//
// A span whose scope is a block has one reference and holds none to its parent, in which its thread is anyway: nothing is
// counted. The first handle to it, or to a span below it, makes it and its parents `shared`: each then holds its parent, and
// references are counted atomically. The last reference is recognised without a read-modify-write.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/filter/filter.h"

namespace tracing::inline v1 {

namespace internal {

// One open span, or room for one.
struct alignas(64) SpanSlot {
  std::atomic<std::uint32_t> generation{1};  // even while open
  std::uint32_t index = 0;
  Metadata const* metadata = nullptr;
  SpanSlot* parent = nullptr;
  std::uint32_t parent_generation = 0;
  std::atomic<std::uint32_t> references{0};
  Verdict verdict = 0;
  std::atomic<bool> shared{false};  // there may be handles, on any thread; holds a reference to its parent
  bool has_filter_states = false;
  SpanSlot* next_free = nullptr;
  StoredValues values;
  std::array<CachedText, 2> texts;
  Extensions extensions;
  std::unique_ptr<std::uintptr_t[]> filter_states;  // of the filters that follow spans: the registry's, then the layers'

  SpanId id() const noexcept {
    return {(static_cast<std::uint64_t>(generation.load(std::memory_order_relaxed)) << 32) | (index + 1)};
  }
};

// A list of free slots, linked through them.
struct FreeSlots {
  SpanSlot* first = nullptr;
  std::uint32_t count = 0;

  void push(SpanSlot& slot) noexcept {
    slot.next_free = first;
    first = &slot;
    ++count;
  }
  SpanSlot* pop() noexcept {
    SpanSlot* const slot = first;
    if (slot != nullptr) {
      first = slot->next_free;
      --count;
    }
    return slot;
  }
};

struct EnteredSpan {
  SpanSlot* slot;
  std::uint32_t generation;
  bool again;  // the track was in it already
};

// What a registry knows of one track. Belongs to its thread; others read the stack of a process that dies or hangs.
struct TrackState {
  Track track;
  std::string name;  // behind track.name
  std::int64_t os_thread = 0;
  FreeSlots free;
  std::atomic<std::uint64_t> opened{0};  // written by the track alone
  std::atomic<std::uint64_t> closed{0};
  std::atomic<std::size_t> depth{0};
  std::atomic<EnteredSpan*> stack{nullptr};
  std::size_t capacity = 0;
  std::vector<std::unique_ptr<EnteredSpan[]>> stacks;  // outgrown ones stay readable
  TrackState* next = nullptr;
  bool retired = false;  // its thread has ended: another may use it

  EnteredSpan const* top() const noexcept;
  bool push(SpanSlot& slot) noexcept;
  // Whether it was there and the track is out of it now.
  bool pop(SpanSlot& slot) noexcept;
};

}  // namespace internal

class SpanStore {
 public:
  SpanStore();
  SpanStore(SpanStore const&) = delete;
  SpanStore& operator=(SpanStore const&) = delete;
  ~SpanStore();

  /// The state of the calling thread, or of another track. Null where memory ran out.
  internal::TrackState* track_state(Origin const& origin) noexcept;
  internal::TrackState* this_thread() noexcept;

  /// A free slot, its generation even; null where no more can be had.
  internal::SpanSlot* open(internal::TrackState& track) noexcept;
  //// Frees a slot that holds nothing any more.
  void close(internal::SpanSlot& slot, internal::TrackState& track) noexcept;
  /// The open slot of an id; null where it is closed.
  internal::SpanSlot* find(SpanId id) const noexcept;

  bool any_open() const noexcept;
  internal::TrackState* first_track() const noexcept { return tracks_.load(std::memory_order_acquire); }

  /// The calling thread ends: its state may be used by another one.
  void retire(internal::TrackState& track) noexcept;

 private:
  static constexpr std::uint32_t kPageSlots = 64;
  static constexpr std::uint32_t kMostPages = 1 << 16;
  static constexpr std::uint32_t kMostFree = 256;  // of one track

  using Page = std::array<internal::SpanSlot, kPageSlots>;

  internal::TrackState* new_track(Track track, std::int64_t os_thread) noexcept;
  internal::TrackState* find_this_thread() noexcept;
  internal::SpanSlot* refill(internal::TrackState& track) noexcept;
  void pass_on(internal::TrackState& track) noexcept;

  std::uint64_t const number_;  // of this store, never used again: what threads cache is checked against it
  std::atomic<internal::TrackState*> tracks_{nullptr};
  std::atomic<Page*>* pages_ = nullptr;  // kMostPages of them, untouched memory until used
  std::atomic<std::uint32_t> page_count_{0};
  // Guarded by the one lock of all stores:
  std::vector<internal::FreeSlots> spare_;
  std::unordered_map<std::uint64_t, internal::TrackState*> foreign_tracks_;
};

}  // namespace tracing::inline v1
