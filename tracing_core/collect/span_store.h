// Declares SpanStore, where a registry keeps its open spans, and TrackState, what it knows of each thread.
//
// Slots stand in pages that are never given back while the store lives, so a stale id is recognised by the slot's
// generation and never by a fault. Each place of a thread's stack of entered spans has a slot of its own for the scopes that
// are opened there: most spans need no search for room. Other spans take a free slot from a list that each track has; lists
// that grow long, as on a thread that closes what another opened, pass slots on through the store.
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
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/internal/zeroed_pages.h"

namespace tracing::inline v1 {

namespace internal {

// How often values were recorded to spans of any registry, from 1: what is made from the values of several spans is good for
// as long as it stands.
extern constinit std::atomic<std::uint64_t> value_changes;

// One open span, or room for one.
struct alignas(64) SpanSlot {
  std::atomic<std::uint64_t> id{0};  // the generation, even while open, above the slot's place from 1
  Metadata const* metadata = nullptr;
  SpanSlot* parent = nullptr;
  std::uint64_t parent_id = 0;
  std::atomic<std::uint32_t> references{1};  // one also while closed
  Verdict verdict = 0;
  std::atomic<bool> shared{false};  // there may be handles, on any thread; holds a reference to its parent; false while closed
  std::atomic<bool> has_extras{false};  // filter states, texts or extensions: something to clear at the end
  std::atomic<bool> special{true};  // closing takes more than leaving it; false while the own slot of a place is closed
  bool of_stack = false;             // the own slot of a place of a stack, for good: never in a list of free ones
  SpanSlot* next_free = nullptr;
  StoredValues values;
  std::array<CachedText, 2> texts;
  CachedPath path;
  Extensions extensions;
  std::unique_ptr<std::uintptr_t[]> filter_states;  // of the filters that follow spans: the registry's, then the layers'

  static constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32;

  // Where it stands among all slots, from 0.
  std::uint32_t place() const noexcept { return static_cast<std::uint32_t>(id.load(std::memory_order_relaxed)) - 1; }
  SpanId span_id() const noexcept { return {id.load(std::memory_order_relaxed)}; }
  bool is_open() const noexcept { return (id.load(std::memory_order_acquire) & kGeneration) == 0; }
  // From open to closed or back; the thread that does it is the only one that may.
  void next_generation(std::memory_order order) noexcept { id.store(id.load(std::memory_order_relaxed) + kGeneration, order); }
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

// A place of the stack of spans that a track is in.
struct EnteredSpan {
  SpanSlot* slot = nullptr;
  std::uint64_t id = 0;     // zero where the track was in it already
  SpanSlot* own = nullptr;  // for the scope that is opened here; null where there was none yet
};

// What a registry knows of one track. Belongs to its thread; others read the stack of a process that dies or hangs.
struct TrackState {
  Track track;
  char name[64] = {};                      // behind track.name, of threads
  std::unique_ptr<char[]> foreign_name;    // the same of other tracks, as long as it is
  std::int64_t os_thread = 0;
  FreeSlots free;
  std::atomic<std::size_t> depth{0};
  std::atomic<EnteredSpan*> stack{no_places + 1};  // behind a place for nothing, with which the search for a span ends
  std::size_t capacity = 0;
  static EnteredSpan no_places[2];
  std::vector<std::unique_ptr<EnteredSpan[]>> stacks;  // outgrown ones stay readable
  TrackState* next = nullptr;
  bool retired = false;  // its thread has ended: another may use it

  // The innermost open span that any layer of `mask` sees; null where there is none.
  SpanSlot* current(Verdict mask) const noexcept {
    EnteredSpan const* const entries = stack.load(std::memory_order_relaxed);
    for (std::size_t i = depth.load(std::memory_order_relaxed); i > 0; --i) {
      EnteredSpan const& entered = entries[i - 1];
      if (entered.slot->id.load(std::memory_order_relaxed) != entered.id) continue;
      if ((entered.slot->verdict & mask) != 0) return entered.slot;
    }
    return nullptr;
  }
  // False where memory ran out.
  bool push(SpanSlot& slot) noexcept;
  // Leaves the span once; whether the track was in it. Where spans were entered within it, calls `share(slot)` for each:
  // it may be gone before they are.
  template <class F>
  bool pop(SpanSlot& slot, F&& share) noexcept {
    std::size_t const size = depth.load(std::memory_order_relaxed);
    EnteredSpan const* const entries = stack.load(std::memory_order_relaxed);
    std::size_t at = size;
    while (at > 0 && entries[at - 1].slot != &slot) --at;
    if (at == 0) return false;
    for (std::size_t i = at; i < size; ++i) {
      if (entries[i].id != 0 && entries[i].slot->id.load(std::memory_order_relaxed) == entries[i].id) share(entries[i].slot);
    }
    remove(at - 1);
    return true;
  }
  // Leaves the innermost span.
  void leave() noexcept { depth.store(depth.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
  // Forgets a span that was closed while the track was in it.
  void forget(SpanId id) noexcept;
  void remove(std::size_t at) noexcept;
  // Of a thread that ends: the innermost scope that it did not leave. Spans within it that others hold are left.
  SpanId innermost_scope() noexcept;
  [[gnu::cold, gnu::noinline]] bool grow() noexcept;
};

// The store that the thread used last. Checked by number: a store's address may be used again.
struct CachedTrack {
  std::uint64_t store_number = 0;
  TrackState* track = nullptr;
};
extern constinit thread_local CachedTrack cached_track;

}  // namespace internal

class SpanStore {
 public:
  explicit SpanStore(Subscriber& owner);
  SpanStore(SpanStore const&) = delete;
  SpanStore& operator=(SpanStore const&) = delete;
  ~SpanStore();

  /// The state of the calling thread, or of another track. Null where memory ran out.
  internal::TrackState* track_state(Origin const& origin) noexcept {
    return origin.track == nullptr ? this_thread() : foreign_track(*origin.track);
  }
  internal::TrackState* this_thread() noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    return cached.store_number == number_ ? cached.track : find_this_thread();
  }

  /// A free slot, its generation even; null where no more can be had.
  internal::SpanSlot* open(internal::TrackState& track) noexcept {
    internal::SpanSlot* slot = track.free.pop();
    if (slot == nullptr) [[unlikely]] slot = refill(track);
    if (slot == nullptr) [[unlikely]] return nullptr;
    slot->next_generation(std::memory_order_relaxed);
    return slot;
  }
  /// The same for a scope that the track's thread opens now: the slot that belongs to its place, unless that is taken.
  internal::SpanSlot* open_scope(internal::TrackState& track) noexcept;
  /// The same in a few instructions where the slot is there, the values are numbers and nobody hears of it: the span is
  /// made, and the calling thread in it. Null otherwise: nothing is done.
  [[gnu::always_inline]] internal::SpanSlot* open_scope_quickly(Metadata const& metadata, Verdict verdict,
                                                                Value const* values) noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    if (cached.store_number != number_ || !StoredValues::are_few_numbers(metadata)) [[unlikely]] return nullptr;
    internal::TrackState& track = *cached.track;
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    internal::EnteredSpan* const place = track.stack.load(std::memory_order_relaxed) + depth;
    internal::SpanSlot* const slot = place->own;  // null behind the last place
    if (slot == nullptr) [[unlikely]] return nullptr;
    if (slot->is_open()) [[unlikely]] return nullptr;
    if (depth == 0) [[likely]] {
      slot->parent = nullptr;
    } else {
      slot->parent = place[-1].slot;
      slot->parent_id = place[-1].id;
      if (slot->parent->id.load(std::memory_order_relaxed) != place[-1].id) [[unlikely]] return nullptr;
    }
    slot->metadata = &metadata;
    slot->verdict = verdict;
    slot->next_generation(std::memory_order_relaxed);
    place->slot = slot;
    place->id = slot->id.load(std::memory_order_relaxed);
    slot->values.start_numbers(metadata, values);
    track.depth.store(depth + 1, std::memory_order_release);
    return slot;
  }
  /// Closes the scope that the calling thread is in innermost; false where that is another, or special: nothing is done.
  bool close_scope_quickly(SpanId id) noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    if (cached.store_number != number_) [[unlikely]] return false;
    internal::TrackState& track = *cached.track;
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    internal::EnteredSpan const& top = track.stack.load(std::memory_order_relaxed)[depth - 1];
    if (top.id != id.value || top.slot->special.load(std::memory_order_relaxed)) [[unlikely]] return false;
    track.depth.store(depth - 1, std::memory_order_release);
    top.slot->id.store(id.value + internal::SpanSlot::kGeneration, std::memory_order_release);
    return true;
  }
  /// The slot of the scope that the track is in innermost; null where that is another span, or none whose place is its own.
  static internal::SpanSlot* innermost_scope(SpanId id, internal::TrackState const& track) noexcept {
    internal::EnteredSpan const& top =
        track.stack.load(std::memory_order_relaxed)[track.depth.load(std::memory_order_relaxed) - 1];
    return top.id == id.value && top.slot == top.own ? top.slot : nullptr;
  }
  /// Frees a slot that holds nothing any more. The last that is touched is the slot itself: the store may be destroyed as
  /// soon as none is open.
  void close(internal::SpanSlot& slot, internal::TrackState& track) noexcept {
    slot.special.store(!slot.of_stack, std::memory_order_relaxed);
    if (!slot.of_stack) {
      if (track.free.count >= kMostFree) [[unlikely]] pass_on(track);
      track.free.push(slot);
    }
    slot.next_generation(std::memory_order_release);
  }
  /// The open slot of an id; null where it is closed.
  internal::SpanSlot* find(SpanId id) const noexcept;
  /// The same, quicker where it is the one that the track is in innermost.
  internal::SpanSlot* find(SpanId id, internal::TrackState const& track) const noexcept {
    internal::EnteredSpan const& top =
        track.stack.load(std::memory_order_relaxed)[track.depth.load(std::memory_order_relaxed) - 1];
    bool const is_top = top.id == id.value && top.slot->id.load(std::memory_order_relaxed) == id.value;
    return is_top ? top.slot : find(id);
  }

  bool any_open() const noexcept;
  /// Spans that are open now close by the slow path, where the registry looks whether it was the last.
  void close_open_ones_slowly() noexcept;
  /// The lock of a span's values and texts, for those that several threads may hold. One of a few for all spans.
  static std::mutex& lock_of(internal::SpanSlot const& slot) noexcept;
  Subscriber& owner() const noexcept { return owner_; }
  internal::TrackState* first_track() const noexcept { return tracks_.load(std::memory_order_acquire); }

  /// The calling thread ends: its state may be used by another one.
  void retire(internal::TrackState& track) noexcept;
  /// In the child of a fork: threads other than the calling one do not exist any more.
  void forget_other_threads() noexcept;

 private:
  static constexpr std::uint32_t kPageSlots = 64;
  static constexpr std::uint32_t kMostPages = 1 << 16;
  static constexpr std::uint32_t kMostFree = 256;  // of one track

  using Page = std::array<internal::SpanSlot, kPageSlots>;

  // REQUIRES of both: the lock of all stores is held.
  internal::TrackState* new_track(std::uint64_t number) noexcept;
  internal::TrackState* new_foreign_track(Track const& track) noexcept;
  [[gnu::cold, gnu::noinline]] internal::TrackState* find_this_thread() noexcept;
  internal::TrackState* foreign_track(Track const& track) noexcept;
  [[gnu::cold, gnu::noinline]] internal::SpanSlot* refill(internal::TrackState& track) noexcept;
  [[gnu::cold, gnu::noinline]] void pass_on(internal::TrackState& track) noexcept;

  Subscriber& owner_;
  std::uint64_t const number_;  // of this store, never used again: what threads cache is checked against it
  std::atomic<internal::TrackState*> tracks_{nullptr};
  internal::ZeroedPages room_;
  std::atomic<Page*>* pages_ = nullptr;  // kMostPages of them, once there is a page
  std::atomic<std::uint32_t> page_count_{0};
  // Guarded by the one lock of all stores:
  std::vector<internal::FreeSlots> spare_;
  std::unordered_map<std::uint64_t, internal::TrackState*> foreign_tracks_;
};

}  // namespace tracing::inline v1
