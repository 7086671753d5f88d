// SpanStore: the open spans of a registry. TrackState: the spans that one thread is in.
//
// Slots are in pages that are not freed while the store lives. So looking up an outdated id never reads freed memory:
// the generation in the slot shows that the id is outdated. Each entry in a thread's stack of entered spans owns a slot
// for scopes opened at that depth, so most spans need no free list. Other spans take a slot from the free list of their
// track. If a list grows long, as on a thread that closes spans opened by another thread, it passes slots on through
// the store.
//
// A scope has one reference. It holds no reference to its parent, because its thread is in the parent anyway, so
// nothing is counted. The first handle to a scope, or to a span below it, makes the scope and its ancestors `shared`:
// from then on, each holds a reference to its parent, and references are counted, see SpanReferences. A track that
// enters a span by a handle holds a reference, too, since the handle may go away before the track leaves the span.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tracing_core/collect/own_track.h"
#include "tracing_core/collect/span_slot.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/zeroed_pages.h"

namespace tracing { inline namespace v1 {

namespace internal {

// A list of free slots, which are linked to each other.
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

// An entry in the stack of spans that a track is in.
struct StackedSpan {
  SpanSlot* slot = nullptr;
  std::uint64_t id = 0;          // zero if the track was already in the span
  SpanSlot* own = nullptr;       // slot for scopes opened at this depth; null before the first such scope
  std::uint32_t generation = 0;  // the high half of the span's id, if `id` is zero
  bool holds = false;            // the entry holds a reference to the span; false in entries above the depth

  bool is_of(SpanSlot const& span, std::uint64_t span_id) const noexcept {
    return slot == &span && (id == span_id || (id == 0 && generation == span_id >> 32));
  }
};

// The kind of entry that a track left: no entry, an entry that held nothing, or an entry whose reference now belongs to
// the caller.
enum class LeftSpan : std::uint8_t { nothing, scope, held };

// A registry's data about one track. Only the track's thread writes it; other threads read the stack if the process
// crashes or hangs.
struct TrackState {
  Track track;
  char name[64] = {};                    // storage of track.name, for threads
  std::unique_ptr<char[]> foreign_name;  // storage of track.name, for other tracks
  std::int64_t os_thread = 0;
  FreeSlots free;
  std::atomic<std::size_t> depth{0};
  std::atomic<StackedSpan*> stack{no_entries + 1};  // after an empty entry, which matches no span
  std::size_t capacity = 0;
  static StackedSpan no_entries[2];
  std::vector<std::unique_ptr<StackedSpan[]>> stacks;  // replaced stacks remain readable
  TrackState* next = nullptr;
  TrackState* next_retired = nullptr;

  // Returns the innermost open span that any layer of `mask` sees; null if there is none.
  SpanSlot* current(LayerMask mask) const noexcept {
    StackedSpan const* const entries = stack.load(std::memory_order_relaxed);
    for (std::size_t i = depth.load(std::memory_order_relaxed); i > 0; --i) {
      StackedSpan const& entered = entries[i - 1];
      if (entered.slot->id.load(std::memory_order_relaxed) != entered.id) continue;
      if ((entered.slot->mask & mask) != 0) return entered.slot;
    }
    return nullptr;
  }
  // Enters a span. `may_be_in_it` says whether the track may already be in it. Returns false if memory runs out.
  bool push(SpanSlot& slot, bool may_be_in_it, bool holds) noexcept;
  // Leaves the span once. Calls `share(slot)` for each span that was entered within it, because this span may be closed
  // before them. `scope`: the span's scope ends. Removes an entry that holds no reference; references of entries by a
  // handle stay with the track.
  template <class F>
  LeftSpan pop(SpanSlot& slot, bool scope, F&& share) noexcept {
    std::uint64_t const id = slot.id.load(std::memory_order_relaxed);
    std::size_t const size = depth.load(std::memory_order_relaxed);
    StackedSpan const* const entries = stack.load(std::memory_order_relaxed);
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
  // Swaps `holds` of an entry with an earlier entry of the same span whose `holds` differs. Returns false if there is
  // no such entry.
  [[gnu::cold, gnu::noinline]] bool trade_holds(SpanSlot const& slot, std::uint64_t id, std::size_t at) noexcept;
  // The innermost span of a thread that ends, and whether the thread entered it by a handle. An empty id if the thread
  // is in no span.
  struct Innermost {
    SpanId id{};
    bool holds = false;
  };
  Innermost innermost() noexcept;
  [[gnu::cold, gnu::noinline]] bool grow() noexcept;
};

// Makes close() clear the objects that are stored with the span.
inline void set_has_extras(SpanSlot& slot) noexcept {
  if (slot.has_extras.load(std::memory_order_relaxed)) return;
  slot.has_extras.store(true, std::memory_order_relaxed);
  slot.special.store(true, std::memory_order_relaxed);
}

}  // namespace internal

class SpanStore {
 public:
  explicit SpanStore(Subscriber& owner);
  SpanStore(SpanStore const&) = delete;
  SpanStore& operator=(SpanStore const&) = delete;
  ~SpanStore();

  /// Returns the state of the calling thread, or of another track. Null if memory runs out.
  internal::TrackState* track_state(Origin const& origin) noexcept {
    if (origin.track == nullptr) return this_thread();
    internal::TrackState* const last = last_foreign_.load(std::memory_order_acquire);
    return last != nullptr && last->track.number == origin.track->number ? last : foreign_track(*origin.track);
  }
  internal::TrackState* this_thread() noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    return cached.store_number == number_ ? cached.state : find_this_thread();
  }

  /// Opens a free slot; returns null if memory runs out.
  internal::SpanSlot* open(internal::TrackState& track) noexcept {
    internal::SpanSlot* slot = track.free.pop();
    if (slot == nullptr) [[unlikely]]
      slot = refill(track);
    if (slot == nullptr) [[unlikely]]
      return nullptr;
    slot->next_generation(std::memory_order_relaxed);
    return slot;
  }
  /// Opens a slot for a scope of the track's thread: the slot of the next stack entry, or another one if it is in use.
  internal::SpanSlot* open_scope(internal::TrackState& track) noexcept;
  /// Creates the span and enters it in a few instructions, if the slot of the next entry is available and the values
  /// are numbers. Otherwise does nothing and returns null. REQUIRES: no layer or filter must be called for the span.
  [[gnu::always_inline]] internal::SpanSlot* open_scope_fast(Metadata const& metadata, LayerMask mask,
                                                             Value const* values) noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    if (cached.store_number != number_ || !StoredValues::are_few_numbers(metadata)) [[unlikely]]
      return nullptr;
    internal::TrackState& track = *cached.state;
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    internal::StackedSpan* const entry = track.stack.load(std::memory_order_relaxed) + depth;
    internal::SpanSlot* const slot = entry->own;  // null in the entry after the last
    if (slot == nullptr) [[unlikely]]
      return nullptr;
    if (slot->is_open()) [[unlikely]]
      return nullptr;
    if (depth == 0) [[likely]] {
      slot->parent = nullptr;
    } else {
      slot->parent = entry[-1].slot;
      slot->parent_id = entry[-1].id;
      if (slot->parent->id.load(std::memory_order_relaxed) != entry[-1].id) [[unlikely]]
        return nullptr;
    }
    slot->next_generation(std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // from here on, scopes in a signal handler take other slots
    slot->metadata = &metadata;
    slot->mask = mask;
    slot->values.start_numbers(metadata, values);
    std::uint64_t const id = slot->id.load(std::memory_order_relaxed);
    entry->slot = slot;
    entry->id = id;
    track.depth.store(depth + 1, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // until here, they may have overwritten this entry
    entry->slot = slot;
    entry->id = id;
    return slot;
  }
  /// Closes the calling thread's innermost scope. Does nothing and returns false if another span is innermost, or if
  /// the span is special.
  bool close_scope_fast(SpanId id) noexcept {
    internal::CachedTrack const& cached = internal::cached_track;
    if (cached.store_number != number_) [[unlikely]]
      return false;
    internal::TrackState& track = *cached.state;
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    internal::StackedSpan const& top = track.stack.load(std::memory_order_relaxed)[depth - 1];
    internal::SpanSlot* const slot = top.slot;
    if (top.id != id.value || slot->special.load(std::memory_order_relaxed)) [[unlikely]]
      return false;
    track.depth.store(depth - 1, std::memory_order_release);  // from here on, a signal handler may use the entry
    slot->id.store(id.value + internal::SpanSlot::kGeneration, std::memory_order_release);
    return true;
  }
  /// Returns the slot of the scope if it is the innermost span of the track and uses the slot of its stack entry;
  /// otherwise null.
  static internal::SpanSlot* innermost_scope(SpanId id, internal::TrackState const& track) noexcept {
    internal::StackedSpan const& top =
        track.stack.load(std::memory_order_relaxed)[track.depth.load(std::memory_order_relaxed) - 1];
    return top.id == id.value && top.slot == top.own ? top.slot : nullptr;
  }
  /// Frees a slot that no longer holds data. The slot is the last thing that this function accesses, because the store
  /// may be destroyed as soon as no slot is open.
  void close(internal::SpanSlot& slot, internal::TrackState& track) noexcept {
    bool const of_stack = slot.use == internal::SpanSlot::Use::scope_of_stack;
    slot.special.store(!of_stack, std::memory_order_relaxed);
    if (!of_stack) {
      if (track.free.count >= kMaxFree) [[unlikely]]
        pass_on(track);
      track.free.push(slot);
    }
    slot.next_generation(std::memory_order_release);
  }
  /// Returns the open slot with this id; null if the span is closed.
  internal::SpanSlot* find(SpanId id) const noexcept;
  /// Does what find(id) does, but faster for the innermost span of the track.
  internal::SpanSlot* find(SpanId id, internal::TrackState const& track) const noexcept {
    std::size_t const depth = track.depth.load(std::memory_order_relaxed);
    if (depth == 0) return find(id);
    internal::StackedSpan const& top = track.stack.load(std::memory_order_relaxed)[depth - 1];
    bool const is_top = top.id == id.value && top.slot->id.load(std::memory_order_relaxed) == id.value;
    return is_top ? top.slot : find(id);
  }

  bool any_open() const noexcept;
  /// Makes all spans that are now open close on the slow path, where the registry checks whether a span was the last.
  void close_open_spans_slowly() noexcept;
  /// Returns the lock for the values and texts of a shared span. Spans share a few locks.
  static support::Mutex& lock_of(internal::SpanSlot const& slot) noexcept;
  Subscriber& owner() const noexcept { return owner_; }
  internal::TrackState* first_track() const noexcept { return tracks_.load(std::memory_order_acquire); }

  /// Called when the calling thread ends. Another thread may then take its state over.
  void retire(internal::TrackState& track) noexcept;
  /// Called in a forked child, where the calling thread is the only thread.
  void forget_other_threads() noexcept;

 private:
  static constexpr std::uint32_t kPageSlots = 64;
  static constexpr std::uint32_t kMaxPages = 1 << 16;
  static constexpr std::uint32_t kMaxFree = 256;  // on one track

  using Page = std::array<internal::SpanSlot, kPageSlots>;

  // REQUIRES, for the next two functions: the lock of all stores is held.
  internal::TrackState* new_track(std::uint64_t number) noexcept;
  internal::TrackState* new_foreign_track(Track const& track) noexcept;
  [[gnu::cold, gnu::noinline]] internal::TrackState* find_this_thread() noexcept;
  internal::TrackState* add_this_thread() noexcept;
  internal::TrackState* foreign_track(Track const& track) noexcept;
  [[gnu::cold, gnu::noinline]] internal::SpanSlot* refill(internal::TrackState& track) noexcept;
  [[gnu::cold, gnu::noinline]] void pass_on(internal::TrackState& track) noexcept;

  Subscriber& owner_;
  std::atomic<internal::TrackState*> tracks_{nullptr};
  std::atomic<internal::TrackState*> last_foreign_{nullptr};  // returned by foreign_track(); lasts as long as the store
  support::ZeroedPages room_;
  std::atomic<Page*>* pages_ = nullptr;  // kMaxPages pointers, allocated with the first page
  std::atomic<std::uint32_t> page_count_{0};
  // These are guarded by the lock of all stores.
  std::vector<internal::FreeSlots> spare_;
  internal::TrackState* retired_ = nullptr;  // states whose threads have ended, for other threads to take over
  internal::TrackState* last_retired_ = nullptr;
  std::size_t retired_count_ = 0;
  std::unordered_map<std::uint64_t, internal::TrackState*> foreign_tracks_;
  // Identifies the store in the threads' caches: unlike an address, a number is never reused. Initialized last, because
  // the initializer makes the store known to the fork handlers.
  std::uint64_t const number_;
};

}}  // namespace tracing::v1
