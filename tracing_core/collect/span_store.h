// SpanStore: the open spans of a registry. TrackState: the spans that one thread is in.
//
// Slots are in pages that are not freed while the store lives, so an outdated id is detected by the generation in the
// slot and never reads freed memory. Each entry of a thread's stack of entered spans owns a slot for scopes opened at
// that depth, so most spans need no free list. Other spans take a slot from the free list of their track. A list that
// grows long, as on a thread that closes what another one opened, passes slots on through the store.
//
// A scope has one reference and holds none to its parent, which its thread is in anyway, so nothing is counted. The
// first handle to it, or to a span below it, makes it and its parents `shared`: each then holds a reference to its
// parent, and references are counted: see SpanReferences. A track that enters a span by a handle holds a reference,
// too, as the handle may go away before the track leaves the span.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/own_track.h"
#include "tracing_core/collect/span_slot.h"
#include "tracing_core/internal/mutex.h"
#include "tracing_core/internal/zeroed_pages.h"

namespace tracing::inline v1 {

namespace internal {

// A list of free slots, linked through them.
struct FreeSlots {
  SpanSlot* first = nullptr;
  std::uint32_t count = 0;

  void push(SpanSlot& slot) noexcept {
    slot.record_keys[1] = reinterpret_cast<std::uintptr_t>(first);
    first = &slot;
    ++count;
  }
  SpanSlot* pop() noexcept {
    SpanSlot* const slot = first;
    if (slot != nullptr) {
      first = reinterpret_cast<SpanSlot*>(slot->record_keys[1]);
      --count;
    }
    return slot;
  }
};

// An entry of the stack of spans that a track is in.
struct EnteredSpan {
  SpanSlot* slot = nullptr;
  std::uint64_t id = 0;          // zero if the track was in the span already
  SpanSlot* own = nullptr;       // for scopes opened at this depth; null if there was none yet
  std::uint32_t generation = 0;  // the high half of the span's id, if `id` is zero
  bool holds = false;            // a reference to the span; never set above the depth

  bool is_of(SpanSlot const& span, std::uint64_t span_id) const noexcept {
    return slot == &span && (id == span_id || (id == 0 && generation == span_id >> 32));
  }
};

// What a track left: no span, one by whose entry it held nothing, or one whose reference is the caller's now.
enum class LeftSpan : std::uint8_t { nothing, scope, held };

// A registry's data of one track. Written by its thread only; others read the stack of a process that crashes or hangs.
struct TrackState {
  Track track;
  char name[64] = {};                    // storage of track.name, for threads
  std::unique_ptr<char[]> foreign_name;  // storage of track.name, for other tracks
  std::int64_t os_thread = 0;
  FreeSlots free;
  std::atomic<std::size_t> depth{0};
  std::atomic<EnteredSpan*> stack{no_entries + 1};  // preceded by an empty entry, which no span matches
  std::size_t capacity = 0;
  static EnteredSpan no_entries[2];
  std::vector<std::unique_ptr<EnteredSpan[]>> stacks;  // replaced ones remain readable
  TrackState* next = nullptr;
  TrackState* next_retired = nullptr;

  // The innermost open span that any layer of `mask` sees; null if there is none.
  SpanSlot* current(LayerMask mask) const noexcept {
    EnteredSpan const* const entries = stack.load(std::memory_order_relaxed);
    for (std::size_t i = depth.load(std::memory_order_relaxed); i > 0; --i) {
      EnteredSpan const& entered = entries[i - 1];
      if (entered.slot->id.load(std::memory_order_relaxed) != entered.id) continue;
      if ((entered.slot->mask & mask) != 0) return entered.slot;
    }
    return nullptr;
  }
  // Enters a span, again if the track may be in it. False if memory runs out.
  bool push(SpanSlot& slot, bool may_be_in_it, bool holds) noexcept;
  // Leaves the span once. Calls `share(slot)` for each span that was entered within it, because it may be closed before
  // they are. `scope`: the end of the span's scope, so the reference of an entry by a handle stays with the track.
  template <class F>
  LeftSpan pop(SpanSlot& slot, bool scope, F&& share) noexcept {
    std::uint64_t const id = slot.id.load(std::memory_order_relaxed);
    std::size_t const size = depth.load(std::memory_order_relaxed);
    EnteredSpan const* const entries = stack.load(std::memory_order_relaxed);
    std::size_t at = size;
    while (at > 0 && !entries[at - 1].is_of(slot, id)) --at;
    if (at == 0) return LeftSpan::nothing;
    for (std::size_t i = at; i < size; ++i) {
      if (entries[i].id != 0 && entries[i].slot->id.load(std::memory_order_relaxed) == entries[i].id)
        share(entries[i].slot);
    }
    bool const held = entries[at - 1].holds;
    if (held == scope && entries[at - 1].id == 0 && trade_holds(slot, id, at - 1)) [[unlikely]]
      return remove(at - 1), scope ? LeftSpan::scope : LeftSpan::held;
    remove(at - 1);
    return held ? LeftSpan::held : LeftSpan::scope;
  }
  // Leaves the innermost span.
  void leave() noexcept { depth.store(depth.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
  // Removes a span that was closed while the track was in it.
  void forget(SpanId id) noexcept;
  // Forgets all spans of a thread that does not exist in a forked child.
  void forget_all() noexcept;
  void remove(std::size_t at) noexcept;
  // Exchanges `holds` of an entry and an earlier one of the same span that has the other value. False if there is none.
  [[gnu::cold, gnu::noinline]] bool trade_holds(SpanSlot const& slot, std::uint64_t id, std::size_t at) noexcept;
  // For a thread that ends: its innermost span, and whether it is there by a handle. No span if it is in none.
  struct Innermost {
    SpanId id{};
    bool holds = false;
  };
  Innermost innermost() noexcept;
  [[gnu::cold, gnu::noinline]] bool grow() noexcept;
};

}  // namespace internal

class SpanStore {
 public:
  explicit SpanStore(Subscriber& owner);
  SpanStore(SpanStore const&) = delete;
  SpanStore& operator=(SpanStore const&) = delete;
  ~SpanStore();

  /// The state of the calling thread, or of another track. Null if memory runs out.
  internal::TrackState* track_state(Origin const& origin) noexcept {
    return origin.track == nullptr ? this_thread() : foreign_track(*origin.track);
  }
  internal::TrackState* this_thread() noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    return cached.store_number == number_ ? cached.state : find_this_thread();
  }

  /// Opens a free slot; null if there is no memory for more.
  internal::SpanSlot* open(internal::TrackState& track) noexcept {
    internal::SpanSlot* slot = track.free.pop();
    if (slot == nullptr) [[unlikely]] slot = refill(track);
    if (slot == nullptr) [[unlikely]] return nullptr;
    slot->next_generation(std::memory_order_relaxed);
    return slot;
  }
  /// Opens a slot for a scope of the track's thread: that of the next stack entry, unless it is in use.
  internal::SpanSlot* open_scope(internal::TrackState& track) noexcept;
  /// Creates the span and enters it in a few instructions, if its slot is available and its values are numbers.
  /// Otherwise does nothing and returns null. REQUIRES: no layer or filter is called for it.
  [[gnu::always_inline]] internal::SpanSlot* open_scope_fast(Metadata const& metadata, LayerMask mask,
                                                                Value const* values) noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    if (cached.store_number != number_ || !StoredValues::are_few_numbers(metadata)) [[unlikely]] return nullptr;
    internal::TrackState& track = *cached.state;
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    internal::EnteredSpan* const entry = track.stack.load(std::memory_order_relaxed) + depth;
    internal::SpanSlot* const slot = entry->own;  // null after the last entry
    if (slot == nullptr) [[unlikely]] return nullptr;
    if (slot->is_open()) [[unlikely]] return nullptr;
    if (depth == 0) [[likely]] {
      slot->parent = nullptr;
    } else {
      slot->parent = entry[-1].slot;
      slot->parent_id = entry[-1].id;
      if (slot->parent->id.load(std::memory_order_relaxed) != entry[-1].id) [[unlikely]] return nullptr;
    }
    slot->next_generation(std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // from here on the scopes of a signal's handler have other slots
    slot->metadata = &metadata;
    slot->mask = mask;
    slot->values.start_numbers(metadata, values);
    std::uint64_t const id = slot->id.load(std::memory_order_relaxed);
    entry->slot = slot;
    entry->id = id;
    track.depth.store(depth + 1, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // until here they had this entry
    entry->slot = slot;
    entry->id = id;
    return slot;
  }
  /// Closes the calling thread's innermost scope. Does nothing and returns false if that is another span, or special.
  bool close_scope_fast(SpanId id) noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    if (cached.store_number != number_) [[unlikely]] return false;
    internal::TrackState& track = *cached.state;
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    internal::EnteredSpan const& top = track.stack.load(std::memory_order_relaxed)[depth - 1];
    internal::SpanSlot* const slot = top.slot;
    if (top.id != id.value || slot->special.load(std::memory_order_relaxed)) [[unlikely]] return false;
    track.depth.store(depth - 1, std::memory_order_release);  // from here on a signal's handler may use the entry
    slot->id.store(id.value + internal::SpanSlot::kGeneration, std::memory_order_release);
    return true;
  }
  /// The slot of the scope if it is the innermost span of the track and uses the slot of its stack entry; otherwise
  /// null.
  static internal::SpanSlot* innermost_scope(SpanId id, internal::TrackState const& track) noexcept {
    internal::EnteredSpan const& top =
        track.stack.load(std::memory_order_relaxed)[track.depth.load(std::memory_order_relaxed) - 1];
    return top.id == id.value && top.slot == top.own ? top.slot : nullptr;
  }
  /// Frees a slot that holds no data any more. The slot is the last thing that it accesses, because the store may be
  /// destroyed as soon as no slot is open.
  void close(internal::SpanSlot& slot, internal::TrackState& track) noexcept {
    bool const of_stack = slot.use == internal::SpanSlot::Use::scope_of_stack;
    slot.special.store(!of_stack, std::memory_order_relaxed);
    if (!of_stack) {
      if (track.free.count >= kMaxFree) [[unlikely]] pass_on(track);
      track.free.push(slot);
    }
    slot.next_generation(std::memory_order_release);
  }
  /// The open slot with this id; null if the span is closed.
  internal::SpanSlot* find(SpanId id) const noexcept;
  /// As find(id), but faster for the innermost span of the track.
  internal::SpanSlot* find(SpanId id, internal::TrackState const& track) const noexcept {
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    if (depth == 0) return find(id);
    internal::EnteredSpan const& top = track.stack.load(std::memory_order_relaxed)[depth - 1];
    bool const is_top = top.id == id.value && top.slot->id.load(std::memory_order_relaxed) == id.value;
    return is_top ? top.slot : find(id);
  }

  bool any_open() const noexcept;
  /// Makes spans that are open now use the slow path when they close, where the registry checks for the last one.
  void close_open_spans_slowly() noexcept;
  /// The lock of the values and texts of a shared span. Spans share a few locks.
  static internal::Mutex& lock_of(internal::SpanSlot const& slot) noexcept;
  Subscriber& owner() const noexcept { return owner_; }
  internal::TrackState* first_track() const noexcept { return tracks_.load(std::memory_order_acquire); }

  /// Called when the calling thread ends; another thread may take its state over.
  void retire(internal::TrackState& track) noexcept;
  /// Called in the child of a fork, where the calling thread is the only one.
  void forget_other_threads() noexcept;

 private:
  static constexpr std::uint32_t kPageSlots = 64;
  static constexpr std::uint32_t kMaxPages = 1 << 16;
  static constexpr std::uint32_t kMaxFree = 256;  // of one track

  using Page = std::array<internal::SpanSlot, kPageSlots>;

  // REQUIRES of the next two: the lock of all stores is held.
  internal::TrackState* new_track(std::uint64_t number) noexcept;
  internal::TrackState* new_foreign_track(Track const& track) noexcept;
  [[gnu::cold, gnu::noinline]] internal::TrackState* find_this_thread() noexcept;
  internal::TrackState* add_this_thread() noexcept;
  internal::TrackState* foreign_track(Track const& track) noexcept;
  [[gnu::cold, gnu::noinline]] internal::SpanSlot* refill(internal::TrackState& track) noexcept;
  [[gnu::cold, gnu::noinline]] void pass_on(internal::TrackState& track) noexcept;

  Subscriber& owner_;
  std::atomic<internal::TrackState*> tracks_{nullptr};
  internal::ZeroedPages room_;
  std::atomic<Page*>* pages_ = nullptr;  // kMaxPages of them, allocated with the first page
  std::atomic<std::uint32_t> page_count_{0};
  // Guarded by the one lock of all stores:
  std::vector<internal::FreeSlots> spare_;
  internal::TrackState* retired_ = nullptr;  // those whose threads have ended, so others may take them over
  internal::TrackState* last_retired_ = nullptr;
  std::size_t retired_count_ = 0;
  std::unordered_map<std::uint64_t, internal::TrackState*> foreign_tracks_;
  // Never reused, unlike the address: identifies the store in caches of threads. Initialized last, because that makes the
  // store known to the handlers of fork().
  std::uint64_t const number_;
};

}  // namespace tracing::inline v1
