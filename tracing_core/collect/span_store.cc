// Any thread may ask for a span by its id at any time, also for a span that was closed long ago, in a signal handler,
// or while another thread closes it. Nevertheless most spans are scopes, which one thread opens and closes again, and
// scopes must not pay for that: no lock, no allocation, no atomic read-modify-write. The head of span_store.h says how
// slots and references serve both. This file has the rare cases: threads and stores that begin and end, pages, free
// lists that run empty or full, and fork().
//
// Ids. The low half of an id is the index of its slot, the high half a generation that counts up when the slot is
// opened and again when it is closed. So the lowest bit of the generation says whether the slot is open, and find() is
// a look into the slot: if the slot has this id, the span is open. An old id fails the comparison, unless its slot has
// been opened two billion times since. Slots never move and pages are never freed while the store lives, so even the
// look at a closed span is safe without a lock.
//
// Who writes. Only the track's own thread writes its stack and takes slots from its free list; for a track that is not
// a thread, only the thread that emits its records does. Other threads read stacks in one case, to report on a process
// that crashes or hangs. They read `depth` and `stack` with acquire, and skip entries whose slot has another id by now.
// A stack that was replaced by a larger stack is still readable. A free list of more than 256 slots gives half of them
// to the store, and a track whose list is empty takes slots from there. This happens mostly if one thread closes the
// spans that another thread opens.
//
// Threads. A thread finds its track state by the number of the store in a thread_local cache. The cache compares
// numbers, not addresses, because a later store may have the same address. When a thread ends, it leaves the spans that
// it is still in, and its states are kept for later threads: memory grows with the number of threads that run at one
// time, not with the number that ever ran. The destructor of a pthread key does this, because it runs after the
// destructors of thread_local objects, which may emit.
//
// Locks. All stores have one mutex in common. It is taken only for the rare cases above, so dividing it would gain
// little. And a fork handler has one lock to hold, not a list of locks that changes meanwhile. In a forked child the
// other threads do not exist: their spans are left, but their states are not used again, since a thread may have been
// in the middle of changing its free list.
//
// Rejected: a free list for all slots. A scope had to search it for room, and each page that a store touched cost
// memory in every test's process. Now each depth of a stack has a slot of its own, and a store maps its table of pages
// with its first span. Also rejected: searching all tracks for an ended track when a new track begins; a replay of
// 100,000 tracks then took 40 s instead of 0.4 s. Ended states are therefore in a list of their own.
#include "tracing_core/collect/span_store.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/never_destroyed.h"
#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 {
namespace {

using internal::SpanSlot;
using internal::StackedSpan;
using internal::TrackState;
using support::Mutex;
using support::MutexLock;

// The data of all stores. All stores share one lock, so that a fork needs to hold only one. The lock is taken when a
// thread first uses a store, a page is added or slots are passed on.
struct Shared {
  std::array<support::UnseenMutex, 16> span_locks;  // a thread that holds one takes no other lock that subscribers use
  support::UnseenMutex mutex;
  std::vector<std::pair<std::uint64_t, SpanStore*>> stores TRACING_GUARDED_BY(mutex);  // all existing stores, by number
  std::uint64_t last_number TRACING_GUARDED_BY(mutex) = 0;

  // Returns null if the store with this number has been destroyed.
  SpanStore* find(std::uint64_t number) const TRACING_REQUIRES(mutex) {
    auto const found =
        std::find_if(stores.begin(), stores.end(), [=](auto const& store) { return store.first == number; });
    return found == stores.end() ? nullptr : found->second;
  }
};
constinit support::NeverDestroyed<Shared> shared;

// The track states of one thread. The destructor of a pthread key retires them: it runs after the destructors of
// thread_local objects, which may still emit.
using ThreadTracks = std::vector<std::pair<std::uint64_t, TrackState*>>;
constinit thread_local ThreadTracks* thread_tracks = nullptr;
pthread_key_t thread_end;

// Leaves the spans that the thread is still in. Destructors on the stack may not have run: pthread_exit() skips them in
// code compiled without exceptions. The open span keeps its registry alive.
void leave_all_spans(ThreadTracks const& tracks) noexcept {
  for (;;) {
    Subscriber* owner = nullptr;
    TrackState::Innermost span;
    {
      MutexLock const lock(shared->mutex);
      for (auto const& [number, track] : tracks) {
        SpanStore const* const store = shared->find(number);
        if (store == nullptr || span.id) continue;
        span = track->innermost();
        owner = &store->owner();
      }
    }
    if (!span.id) return;
    if (span.holds) {
      owner->exit(span.id, {});
    } else {
      owner->close_scope(span.id);
    }
  }
}

void end_thread(void* tracks) noexcept {
  internal::InSubscriber const in_subscriber;  // a statement in operator delete or in a signal handler would start the
                                               // thread again
  std::unique_ptr<ThreadTracks> const ended(static_cast<ThreadTracks*>(tracks));
  leave_all_spans(*ended);
  internal::cached_track = {};
  thread_tracks = nullptr;
  support::tsan_release(&*shared);  // ordered before ~SpanStore()
  for (auto const& [number, track] : *ended)
    support::tsan_release(track);  // ordered before the thread that takes the
                                   // state over
  MutexLock const lock(shared->mutex);
  for (auto const& [number, track] : *ended) {
    if (SpanStore* const store = shared->find(number)) store->retire(*track);
  }
}

void before_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  for (Mutex& lock : shared->span_locks) lock.lock();
  shared->mutex.lock();
}

void after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  shared->mutex.unlock();
  for (Mutex& lock : shared->span_locks) lock.unlock();
}

void after_fork_in_child() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  for (auto const& [number, store] : shared->stores) store->forget_other_threads();
  after_fork();
}

// Runs when the library is loaded, or earlier if another library's constructor creates a registry.
[[gnu::constructor]] void prepare_once() noexcept {
  [[maybe_unused]] static bool const prepared = [] {
    pthread_key_create(&thread_end, end_thread);
    support::set_fork_handler(support::ForkStage::spans, {before_fork, after_fork, after_fork_in_child});
    return true;
  }();
}

}  // namespace

namespace internal {

constinit std::atomic<std::uint64_t> value_changes{1};
constinit thread_local CachedTrack cached_track;
StackedSpan TrackState::no_entries[2];

bool TrackState::grow() noexcept {
  std::size_t const larger = std::max<std::size_t>(32, capacity * 2);
  std::unique_ptr<StackedSpan[]> grown(new (std::nothrow) StackedSpan[larger + 2]);
  if (grown == nullptr) return false;
  std::copy_n(stack.load(std::memory_order_relaxed), capacity, grown.get() + 1);
  try {
    stacks.push_back(std::move(grown));
  } catch (...) {
    return false;
  }
  stack.store(stacks.back().get() + 1, std::memory_order_release);
  capacity = larger;
  return true;
}

bool TrackState::push(SpanSlot& slot, bool may_be_in_it, bool holds) noexcept {
  std::size_t const size = depth.load(std::memory_order_relaxed);
  if (size == capacity && !grow()) return false;
  StackedSpan* const entries = stack.load(std::memory_order_relaxed);
  std::uint64_t const id = slot.id.load(std::memory_order_relaxed);
  bool again = false;
  for (std::size_t i = may_be_in_it ? size : 0; i > 0 && !again; --i) again = entries[i - 1].is_of(slot, id);
  StackedSpan& entry = entries[size];
  entry.slot = &slot;
  entry.id = again ? 0 : id;
  entry.generation = static_cast<std::uint32_t>(id >> 32);
  entry.holds = holds;
  depth.store(size + 1, std::memory_order_release);
  return true;
}

void TrackState::remove(std::size_t at) noexcept {
  std::size_t const size = depth.load(std::memory_order_relaxed);
  StackedSpan* const entries = stack.load(std::memory_order_relaxed);
  for (; at + 1 < size; ++at) {
    entries[at].slot = entries[at + 1].slot;
    entries[at].id = entries[at + 1].id;
    entries[at].generation = entries[at + 1].generation;
    entries[at].holds = entries[at + 1].holds;
  }
  entries[at].holds = false;
  depth.store(size - 1, std::memory_order_release);
}

bool TrackState::trade_holds(SpanSlot const& slot, std::uint64_t id, std::size_t at) noexcept {
  StackedSpan* const entries = stack.load(std::memory_order_relaxed);
  for (std::size_t i = at; i > 0; --i) {
    StackedSpan& other = entries[i - 1];
    if (!other.is_of(slot, id) || other.holds == entries[at].holds) continue;
    std::swap(other.holds, entries[at].holds);
    return true;
  }
  return false;
}

void TrackState::forget_all() noexcept {
  StackedSpan const* const entries = stack.load(std::memory_order_relaxed);
  for (std::size_t i = depth.exchange(0, std::memory_order_relaxed); i > 0; --i) {
    if (entries[i - 1].holds) entries[i - 1].slot->references.forget_entry();
  }
}

void TrackState::forget(SpanId id) noexcept {
  StackedSpan const* const entries = stack.load(std::memory_order_relaxed);
  for (std::size_t i = depth.load(std::memory_order_relaxed); i > 0; --i) {
    if (entries[i - 1].id == id.value) return remove(i - 1);
  }
}

TrackState::Innermost TrackState::innermost() noexcept {
  StackedSpan const* const entries = stack.load(std::memory_order_relaxed);
  for (std::size_t i = depth.load(std::memory_order_relaxed); i > 0; --i) {
    StackedSpan const& entered = entries[i - 1];
    std::uint64_t const id = entered.slot->id.load(std::memory_order_relaxed);
    if (entered.is_of(*entered.slot, id)) return {{id}, entered.holds};
    remove(i - 1);
  }
  return {};
}

}  // namespace internal

SpanStore::SpanStore(Subscriber& owner)
    : owner_(owner), number_([this] {
        prepare_once();
        MutexLock const lock(shared->mutex);
        shared->stores.emplace_back(++shared->last_number, this);
        return shared->last_number;
      }()) {}

SpanStore::~SpanStore() {
  support::tsan_acquire(&*shared);
  {
    MutexLock const lock(shared->mutex);
    std::erase_if(shared->stores, [this](auto const& entry) { return entry.second == this; });
  }
  for (TrackState* track = tracks_.load(); track != nullptr;) delete std::exchange(track, track->next);
  for (std::uint32_t i = 0; i < page_count_.load(); ++i) delete pages_[i].load();
}

TrackState* SpanStore::find_this_thread() noexcept {
  TrackState* found = nullptr;
  {
    internal::InSubscriber const in_subscriber;  // the program's operator new may contain a statement
    support::UnseenByTsan const unseen;
    found = add_this_thread();
  }
  support::tsan_acquire(found);  // ordered after the thread that had the state before, see end_thread()
  return found;
}

TrackState* SpanStore::add_this_thread() noexcept {
  try {
    if (thread_tracks == nullptr) {
      thread_tracks = new ThreadTracks;
      pthread_setspecific(thread_end, thread_tracks);
    }
    for (auto const& [number, track] : *thread_tracks) {
      if (number != number_) continue;
      internal::cached_track = {number_, track, &track->track};
      return track;
    }
    support::ThreadInfo const& thread = support::this_thread_info();
    MutexLock const lock(shared->mutex);
    // Drops the tracks of destroyed stores: a long-lived thread may use many stores.
    std::erase_if(*thread_tracks, [](auto const& known)
                                      TRACING_REQUIRES(shared->mutex) { return shared->find(known.first) == nullptr; });
    thread_tracks->reserve(thread_tracks->size() + 1);
    TrackState* const track = new_track(thread.number);
    if (track == nullptr) return nullptr;
    std::size_t const size = std::min(thread.name.size(), sizeof(track->name));
    std::copy_n(thread.name.data(), size, track->name);
    track->track.name = {track->name, size};
    track->os_thread = thread.os_thread;
    thread_tracks->emplace_back(number_, track);
    internal::cached_track = {number_, track, &track->track};
    return track;
  } catch (...) {
    return nullptr;
  }
}

TrackState* SpanStore::foreign_track(Track const& track) noexcept {
  MutexLock const lock(shared->mutex);
  auto const found = foreign_tracks_.find(track.number);
  TrackState* const state = found != foreign_tracks_.end() ? found->second : new_foreign_track(track);
  last_foreign_.store(state, std::memory_order_release);
  return state;
}

TrackState* SpanStore::new_foreign_track(Track const& track) noexcept {
  try {
    auto name = std::make_unique<char[]>(track.name.size() + 1);
    std::copy_n(track.name.data(), track.name.size(), name.get());
    auto const place = foreign_tracks_.emplace(track.number, nullptr).first;
    TrackState* const state = new_track(track.number);
    if (state == nullptr) return foreign_tracks_.erase(place), nullptr;
    state->foreign_name = std::move(name);
    state->track.name = {state->foreign_name.get(), track.name.size()};
    return place->second = state;
  } catch (...) {
    return nullptr;
  }
}

TrackState* SpanStore::new_track(std::uint64_t number) noexcept {
  // To ThreadSanitizer, a thread that takes a state over is ordered after the thread that had the state. So states are
  // taken over late.
  constexpr std::size_t kKeptUnderTsan = 256;
  bool const fresh = retired_count_ <= (support::is_under_tsan() ? kKeptUnderTsan : 0);
  TrackState* const state = fresh ? new (std::nothrow) TrackState : retired_;
  if (state == nullptr) return nullptr;
  if (!fresh) {
    retired_ = state->next_retired;
    --retired_count_;
  }
  state->track = {number, {}};
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
  track.next_retired = nullptr;
  if (retired_count_++ == 0) {
    retired_ = last_retired_ = &track;
  } else if (support::is_under_tsan()) {  // the state that was retired first is taken over first
    last_retired_ = last_retired_->next_retired = &track;
  } else {
    track.next_retired = std::exchange(retired_, &track);
  }
}

SpanSlot* SpanStore::refill(TrackState& track) noexcept {
  MutexLock lock(shared->mutex);
  if (!spare_.empty()) {
    track.free = spare_.back();
    spare_.pop_back();
    lock.unlock();
    support::tsan_acquire(track.free.first);  // ordered after the threads that had the slots, see pass_on()
    return track.free.pop();
  }
  std::uint32_t const page_index = page_count_.load(std::memory_order_relaxed);
  if (page_index == kMaxPages) return nullptr;
  if (pages_ == nullptr)
    pages_ = reinterpret_cast<std::atomic<Page*>*>(room_.map(kMaxPages * sizeof(std::atomic<Page*>)));
  if (pages_ == nullptr) return nullptr;
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

SpanSlot* SpanStore::open_scope(TrackState& track) noexcept {
  std::size_t const size = track.depth.load(std::memory_order_relaxed);
  if (size == track.capacity && !track.grow()) return nullptr;
  SpanSlot*& own = track.stack.load(std::memory_order_relaxed)[size].own;
  if (own != nullptr && !own->is_open()) {
    own->next_generation(std::memory_order_relaxed);
    return own;
  }
  SpanSlot* const slot = open(track);
  if (slot == nullptr) return nullptr;
  slot->use = SpanSlot::Use::scope;
  if (own != nullptr) return slot;
  slot->use = SpanSlot::Use::scope_of_stack;
  slot->special.store(false, std::memory_order_relaxed);
  return own = slot;
}

void SpanStore::pass_on(TrackState& track) noexcept {
  internal::FreeSlots half;
  while (half.count < kMaxFree / 2) half.push(*track.free.pop());
  support::tsan_release(half.first);
  MutexLock const lock(shared->mutex);
  try {
    spare_.push_back(half);
  } catch (...) {
    while (SpanSlot* const slot = half.pop()) track.free.push(*slot);
  }
}

void SpanStore::forget_other_threads() noexcept {
  for (TrackState* track = tracks_.load(std::memory_order_relaxed); track != nullptr; track = track->next) {
    if (track->os_thread == 0) continue;
    bool const own =
        thread_tracks != nullptr && std::any_of(thread_tracks->begin(), thread_tracks->end(),
                                                [track](auto const& known) { return known.second == track; });
    // Another thread may have been changing its free list at the fork, so its state is never reused.
    if (!own) track->forget_all();
    track->os_thread = own ? static_cast<std::int64_t>(getpid()) : 0;
  }
}

support::Mutex& SpanStore::lock_of(SpanSlot const& slot) noexcept {
  return shared
      ->span_locks[static_cast<std::uint32_t>(slot.id.load(std::memory_order_relaxed)) % shared->span_locks.size()];
}

void SpanStore::close_open_spans_slowly() noexcept {
  for (std::uint32_t i = 0; i < page_count_.load(std::memory_order_acquire); ++i) {
    for (SpanSlot& slot : *pages_[i].load(std::memory_order_acquire))
      slot.special.store(true, std::memory_order_relaxed);
  }
}

SpanSlot* SpanStore::find(SpanId id) const noexcept {
  auto const index = static_cast<std::uint32_t>(id.value) - 1;
  std::uint32_t const page_index = index / kPageSlots;
  if (page_index >= page_count_.load(std::memory_order_acquire)) return nullptr;
  Page* const page = pages_[page_index].load(std::memory_order_relaxed);
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

}}  // namespace tracing::v1
