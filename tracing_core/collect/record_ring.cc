#include "tracing_core/collect/record_ring.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>

#include "tracing_core/collect/record_layout.h"
#include "tracing_core/collect/span_store.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/internal/never_destroyed.h"
#include "tracing_core/internal/zeroed_pages.h"

namespace tracing::inline v1 {
namespace {

using internal::KnownSpan;
using internal::KnownTrack;
using internal::kNoIndex;
using internal::RecordHeader;

// Things found by index, in pages that stay where they are while the table lives. A page is small: all of it is touched
// when it is made.
template <class T, std::uint32_t kPageSize, std::uint32_t kPages>
class Table {
 public:
  static constexpr std::size_t kDirectoryBytes = kPages * sizeof(T*);

  // REQUIRES: before anything else; `zeroes` are kDirectoryBytes that live as long.
  void keep_directory_in(void* zeroes) noexcept { pages_ = static_cast<T**>(zeroes); }
  ~Table() {
    for (std::uint32_t i = 0; i < size_; i += kPageSize) delete[] pages_[i / kPageSize];
  }
  std::uint32_t size() const noexcept { return size_; }
  T& operator[](std::uint32_t index) const noexcept { return pages_[index / kPageSize][index % kPageSize]; }
  // Null where there is no more room.
  T* take() noexcept {
    if (free_.empty() && !grow()) return nullptr;
    T& taken = (*this)[free_.back()];
    free_.pop_back();
    return &taken;
  }
  void give_back(T& thing) noexcept { free_.push_back(thing.index); }  // within the capacity that grow() made

 private:
  bool grow() noexcept {
    if (size_ / kPageSize == kPages) return false;
    T* const page = new (std::nothrow) T[kPageSize];
    if (page == nullptr) return false;
    try {
      free_.reserve(size_ + kPageSize);
    } catch (...) {
      delete[] page;
      return false;
    }
    pages_[size_ / kPageSize] = page;
    for (std::uint32_t i = kPageSize; i > 0; --i) {
      page[i - 1].index = size_ + i - 1;
      free_.push_back(size_ + i - 1);
    }
    size_ += kPageSize;
    return true;
  }

  T** pages_ = nullptr;
  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> free_;
};

// Metadata to be released once the ring's lock is: the release of the last one takes the dispatcher's.
class Garbage {
 public:
  void add(Metadata const& metadata) noexcept {
    if (count_ < list_.size()) {
      list_[count_++] = &metadata;
      return;
    }
    try {
      more_.push_back(&metadata);
    } catch (...) {  // then it is never freed
    }
  }
  void release_all() noexcept {
    for (; count_ > 0; --count_) release(*list_[count_ - 1]);
    for (Metadata const* const metadata : more_) release(*metadata);
    more_.clear();
  }

 private:
  std::array<Metadata const*, 8> list_;
  std::size_t count_ = 0;
  std::vector<Metadata const*> more_;
};

}  // namespace

struct internal::RingState {
  std::mutex mutex;
  RingState* next = nullptr;  // guarded by the list's mutex
  std::atomic<std::uint32_t> tag{0};
  std::atomic<std::uint64_t> next_number{0};
  std::atomic<std::uint64_t> count{0};  // of the records that are left
  std::atomic<std::uint64_t> dropped{0};

  struct Dropped {
    std::uint32_t tag;
    std::uint64_t count;
  };
  static constexpr std::size_t kDroppedTags = 256;

  // Guarded by mutex. Records lie in [tail, head) or, where head <= tail, in [tail, wrap) and [0, head).
  char* bytes = nullptr;
  std::size_t capacity = 0;
  std::size_t head = 0, tail = 0, wrap = 0;
  bool dying = false;  // nothing is allocated or freed any more
  std::uint64_t last_span_number = 0;
  internal::ZeroedPages room;  // the records, and behind them tables, of which a process touches little
  Dropped* dropped_by_tag = nullptr;
  Table<KnownSpan, 32, 65536> spans;
  Table<KnownTrack, 8, 32768> tracks;
  std::unordered_map<std::uint64_t, std::uint32_t> track_by_number;
  std::array<std::uint32_t, 64> recent_tracks;

  explicit RingState(std::size_t capacity_bytes) noexcept;
  ~RingState();

  KnownSpan* span(std::uint32_t index) noexcept { return index == kNoIndex ? nullptr : &spans[index]; }
  KnownTrack* find_track(Track const& track) noexcept;
  void drop_track(KnownTrack& track) noexcept;
  void drop_span(std::uint32_t index, Garbage& garbage) noexcept;
  void keep_values(KnownSpan& span, char const* record, RecordHeader const& header) noexcept;
  void count_dropped(std::uint32_t lost_tag) noexcept;
  void overwrite_oldest(Garbage& garbage) noexcept;
  void make_room(std::size_t size, Garbage& garbage) noexcept;
};

namespace {

using internal::RingState;

// All rings, so that none is in the middle of something when the process forks.
struct Rings {
  std::mutex mutex;
  RingState* first = nullptr;
};
constinit internal::NeverDestroyed<Rings> rings;

void lock_all() noexcept {
  rings->mutex.lock();
  for (RingState* ring = rings->first; ring != nullptr; ring = ring->next) ring->mutex.lock();
}
void unlock_all() noexcept {
  for (RingState* ring = rings->first; ring != nullptr; ring = ring->next) ring->mutex.unlock();
  rings->mutex.unlock();
}

}  // namespace

// ---- what is known ----

internal::RingState::RingState(std::size_t capacity_bytes) noexcept {
  recent_tracks.fill(kNoIndex);
  capacity = std::max<std::size_t>(capacity_bytes, 4096) & ~std::size_t{7};
  bytes = room.map(capacity + decltype(spans)::kDirectoryBytes + decltype(tracks)::kDirectoryBytes + kDroppedTags * sizeof(Dropped));
  if (bytes == nullptr) return;
  char* behind = bytes + capacity;
  spans.keep_directory_in(behind);
  tracks.keep_directory_in(behind += decltype(spans)::kDirectoryBytes);
  dropped_by_tag = reinterpret_cast<Dropped*>(behind += decltype(tracks)::kDirectoryBytes);
  [[maybe_unused]] static bool const fork_is_safe = pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
  std::lock_guard const lock(rings->mutex);
  next = rings->first;
  rings->first = this;
}

internal::RingState::~RingState() {
  if (bytes == nullptr) return;
  {
    std::lock_guard const lock(rings->mutex);
    for (RingState** at = &rings->first; *at != nullptr; at = &(*at)->next) {
      if (*at == this) {
        *at = next;
        break;
      }
    }
  }
  Garbage garbage;
  while (count.load(std::memory_order_relaxed) > 0) overwrite_oldest(garbage);
  garbage.release_all();
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if (spans[i].known) release(*spans[i].metadata);
  }
}

KnownTrack* internal::RingState::find_track(Track const& track) noexcept {
  std::uint32_t& recent = recent_tracks[track.number % recent_tracks.size()];
  if (recent != kNoIndex && tracks[recent].number == track.number) [[likely]] return &tracks[recent];
  auto const found = track_by_number.find(track.number);
  if (found != track_by_number.end()) {
    recent = found->second;
    return &tracks[recent];
  }
  KnownTrack* const fresh = tracks.take();
  if (fresh == nullptr) return nullptr;
  try {
    track_by_number.emplace(track.number, fresh->index);
  } catch (...) {
    tracks.give_back(*fresh);
    return nullptr;
  }
  fresh->number = track.number;
  fresh->name_size = static_cast<std::uint32_t>(std::min(track.name.size(), sizeof(fresh->name)));
  if (fresh->name_size > 0) std::memcpy(fresh->name, track.name.data(), fresh->name_size);
  recent = fresh->index;
  return fresh;
}

void internal::RingState::drop_track(KnownTrack& track) noexcept {
  if (--track.references > 0 || dying) return;
  track_by_number.erase(track.number);
  std::uint32_t& recent = recent_tracks[track.number % recent_tracks.size()];
  if (recent == track.index) recent = kNoIndex;
  tracks.give_back(track);
}

void internal::RingState::drop_span(std::uint32_t index, Garbage& garbage) noexcept {
  while (index != kNoIndex && --spans[index].references == 0 && !dying) {
    KnownSpan& gone = spans[index];
    index = gone.parent_index;
    if (gone.metadata->parts().owned) garbage.add(*gone.metadata);
    gone.known = false;
    gone.values.clear();
    spans.give_back(gone);
  }
}

namespace internal {

void fold_values(RecordedSpan& span, char const* group, std::size_t size, bool may_grow) noexcept {
  constexpr std::size_t kMost = 16384;
  span.values.add_stored(group, size, 1, may_grow);
  if (span.values.size_bytes() <= kMost || span.values.group_count() < 2) return;
  // Recorded over and over: only the last value of each field is kept.
  std::array<Value, 256> last;
  span.values.for_each_group(*span.metadata, [&](FieldValues const& values) {
    for (std::size_t i = 0; i < span.metadata->parts().value_count; ++i) {
      if (!values.statement_values()[i].is_empty()) last[i] = values.statement_values()[i];
    }
  });
  StoredValues merged;
  merged.add(FieldValues(*span.metadata, last.data()));
  span.values.copy_from(merged);
}

}  // namespace internal

void internal::RingState::keep_values(KnownSpan& span, char const* record, RecordHeader const& header) noexcept {
  span.made = true;
  internal::fold_values(span, record + sizeof(RecordHeader), header.size - sizeof(RecordHeader), !dying);
}

// ---- making room ----

void internal::RingState::count_dropped(std::uint32_t lost_tag) noexcept {
  dropped.store(dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  auto& [counted_tag, lost] = dropped_by_tag[lost_tag % kDroppedTags];
  if (counted_tag != lost_tag) counted_tag = lost_tag, lost = 0;
  ++lost;
}

// What the oldest record changed becomes part of what is known of its span and track.
void internal::RingState::overwrite_oldest(Garbage& garbage) noexcept {
  char const* const at = bytes + tail;
  RecordHeader const header = RecordHeader::read(at);
  KnownSpan* const about = span(header.span);
  KnownTrack& track = tracks[header.track];
  bool keeps_span = false;
  switch (header.kind) {
    case RecordKind::new_span:
    case RecordKind::record:
      if (about->references > 1) keep_values(*about, at, header);
      break;
    case RecordKind::enter:
      if (dying) break;
      try {
        track.entered.push_back({header.span, header.time_ns});
        ++track.references;
        keeps_span = true;
      } catch (...) {
      }
      break;
    case RecordKind::exit:
      for (std::size_t i = track.entered.size(); i > 0 && !dying; --i) {
        if (track.entered[i - 1].span != header.span) continue;
        track.entered.erase(track.entered.begin() + static_cast<std::ptrdiff_t>(i - 1));
        --track.references;  // not the last one: the record holds another
        drop_span(header.span, garbage);
        break;
      }
      break;
    case RecordKind::follows_from: drop_span(header.cause(), garbage); break;
    case RecordKind::event:
      if (header.owned && !dying) garbage.add(*header.event_metadata());
      break;
    case RecordKind::close: break;
  }
  if (about != nullptr && !keeps_span) drop_span(header.span, garbage);
  drop_track(track);
  count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  tail += header.size;
  if (head <= tail && tail == wrap) tail = 0;
}

void internal::RingState::make_room(std::size_t size, Garbage& garbage) noexcept {
  for (;;) {
    if (count.load(std::memory_order_relaxed) == 0) {
      head = tail = wrap = 0;
      return;
    }
    if (head > tail) {
      if (capacity - head >= size) return;
      wrap = head;
      head = 0;
    }
    if (tail - head >= size) return;
    count_dropped(RecordHeader::read(bytes + tail).tag);
    overwrite_oldest(garbage);
  }
}

// ---- the layer ----

namespace {

// One record on its way into the ring: holds the lock, and releases what it overwrote once it let go of it.
class Appending {
 public:
  explicit Appending(RingState& ring) noexcept : ring_(ring) { ring_.mutex.lock(); }
  Appending(Appending const&) = delete;
  Appending& operator=(Appending const&) = delete;
  ~Appending() {
    ring_.mutex.unlock();
    garbage_.release_all();
  }

  Garbage& garbage() noexcept { return garbage_; }

  // Appends a record about `about`, null for none, which it then refers to. False where it was dropped.
  bool append(RecordHeader header, Context const& context, KnownSpan* about, StoredValues const* values) noexcept {
    std::size_t const values_size = values == nullptr ? 0 : values->size_bytes();
    std::size_t const size = sizeof(RecordHeader) + values_size;
    header.tag = ring_.tag.load(std::memory_order_relaxed);
    KnownTrack* const track = ring_.dying || size > ring_.capacity / 4 ? nullptr : ring_.find_track(context.track());
    if (track == nullptr) [[unlikely]] return ring_.count_dropped(header.tag), false;
    ++track->references;
    if (about != nullptr) ++about->references;
    ring_.make_room(size, garbage_);
    std::uint64_t const number = ring_.next_number.load(std::memory_order_relaxed);
    header.size = static_cast<std::uint32_t>(size);
    header.number_low = static_cast<std::uint8_t>(number);
    header.time_ns = context.time().ns;
    header.track = track->index;
    header.span = about == nullptr ? kNoIndex : about->index;
    char* const to = ring_.bytes + ring_.head;
    std::memcpy(to, &header, sizeof(header));
    if (values_size != 0) std::memcpy(to + sizeof(header), values->data(), values_size);
    ring_.head += size;
    ring_.count.store(ring_.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    ring_.next_number.store(number + 1, std::memory_order_relaxed);
    return true;
  }

 private:
  RingState& ring_;
  Garbage garbage_;
};

class RecordRingLayer final : public Layer {
 public:
  RecordRingLayer(std::shared_ptr<RecordRing> owner, RingState& ring) noexcept : owner_(std::move(owner)), ring_(ring) {}

  ~RecordRingLayer() override {
    Appending changing(ring_);
    for (std::uint32_t const index : open_) ring_.drop_span(index, changing.garbage());
  }

  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override {
    StoredValues values;
    values.add(made.fields);
    (void)context.time();
    SpanRef const parent = span.parent();
    if (made.metadata().parts().owned) [[unlikely]] retain(made.metadata());
    Appending appending(ring_);
    KnownSpan* const known = add_span(span, made, parent, context);
    if (known == nullptr) [[unlikely]] {
      release_owned(made.metadata(), appending);
      ring_.count_dropped(ring_.tag.load(std::memory_order_relaxed));
      return;
    }
    RecordHeader header = start(RecordKind::new_span, span.verdict());
    header.parent_kind = made.parent.kind;
    if (!appending.append(header, context, known, &values)) {
      known->made = true;
      internal::fold_values(*known, values.data(), values.size_bytes(), true);
    }
  }

  void on_record(SpanRef span, FieldValues const& fields, Context const& context) noexcept override {
    StoredValues values;
    values.add(fields);
    (void)context.time();
    Appending appending(ring_);
    if (KnownSpan* const known = find(span)) appending.append(start(RecordKind::record, span.verdict()), context, known, &values);
  }

  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override {
    (void)context.time();
    Appending appending(ring_);
    KnownSpan* const known = find(span);
    KnownSpan* const known_cause = find(cause);
    if (known == nullptr || known_cause == nullptr) return;
    RecordHeader header = start(RecordKind::follows_from, span.verdict());
    header.extra = known_cause->index;
    ++known_cause->references;
    if (!appending.append(header, context, known, nullptr)) ring_.drop_span(known_cause->index, appending.garbage());
  }

  void on_event(Event const& event, Context const& context) noexcept override {
    StoredValues values;
    values.add(event.fields);
    (void)context.time();
    SpanRef const span = context.event_span(event);
    RecordHeader header = start(RecordKind::event, event.verdict);
    header.parent_kind = event.parent.kind;
    header.owned = event.metadata().parts().owned;
    header.extra = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&event.metadata()));
    if (header.owned) [[unlikely]] retain(event.metadata());
    Appending appending(ring_);
    if (!appending.append(header, context, span ? find(span) : nullptr, &values) && header.owned) {
      release_owned(event.metadata(), appending);
    }
  }

  void on_enter(SpanRef span, Context const& context) noexcept override { append_plain(RecordKind::enter, span, context); }
  void on_exit(SpanRef span, Context const& context) noexcept override { append_plain(RecordKind::exit, span, context); }

  void on_close(SpanRef span, Context const& context) noexcept override {
    (void)context.time();
    Appending appending(ring_);
    KnownSpan* const known = find(span);
    if (known == nullptr) return;
    appending.append(start(RecordKind::close, span.verdict()), context, known, nullptr);
    open_[span.slot()->place()] = kNoIndex;
    ring_.drop_span(known->index, appending.garbage());
  }

 private:
  static RecordHeader start(RecordKind kind, Verdict verdict) noexcept {
    RecordHeader header{};
    header.kind = kind;
    header.verdict = verdict;
    return header;
  }

  // An event's or span's metadata was retained for nothing.
  static void release_owned(Metadata const& metadata, Appending& appending) noexcept {
    if (metadata.parts().owned) appending.garbage().add(metadata);
  }

  KnownSpan* find(SpanRef span) noexcept {
    std::uint32_t const slot = span.slot()->place();
    return slot < open_.size() ? ring_.span(open_[slot]) : nullptr;
  }

  KnownSpan* add_span(SpanRef span, NewSpan const& made, SpanRef parent, Context const& context) noexcept {
    std::uint32_t const slot = span.slot()->place();
    if (slot >= open_.size()) {
      try {
        open_.resize(std::max<std::size_t>(slot + 1, open_.size() * 2), kNoIndex);
      } catch (...) {
        return nullptr;
      }
    }
    KnownSpan* const known = ring_.dying ? nullptr : ring_.spans.take();
    if (known == nullptr) return nullptr;
    open_[slot] = known->index;
    KnownSpan* const known_parent = parent ? find(parent) : nullptr;
    if (known_parent != nullptr) ++known_parent->references;
    known->number = ++ring_.last_span_number;
    known->metadata = &made.metadata();
    known->parent = known_parent;
    known->parent_index = known_parent == nullptr ? kNoIndex : known_parent->index;
    known->tag = ring_.tag.load(std::memory_order_relaxed);
    known->time = context.time();
    known->parent_kind = made.parent.kind;
    known->references = 1;
    known->known = true;
    known->made = false;
    return known;
  }

  void append_plain(RecordKind kind, SpanRef span, Context const& context) noexcept {
    (void)context.time();
    Appending appending(ring_);
    if (KnownSpan* const known = find(span)) appending.append(start(kind, span.verdict()), context, known, nullptr);
  }

  std::shared_ptr<RecordRing> owner_;
  RingState& ring_;
  std::vector<std::uint32_t> open_;  // guarded by the ring's lock; by the slot of an open span: its index in the ring
};

}  // namespace

// ---- the ring ----

std::shared_ptr<RecordRing> RecordRing::make(std::size_t capacity_bytes) {
  auto state = std::make_unique<internal::RingState>(capacity_bytes);
  if (state->bytes == nullptr) return nullptr;
  return std::shared_ptr<RecordRing>(new RecordRing(std::move(state)));
}

RecordRing::RecordRing(std::unique_ptr<internal::RingState> state) noexcept : state_(std::move(state)) {}
RecordRing::~RecordRing() = default;

std::unique_ptr<Layer> RecordRing::make_layer() { return std::make_unique<RecordRingLayer>(shared_from_this(), *state_); }

void RecordRing::set_tag(std::uint32_t tag) noexcept { state_->tag.store(tag, std::memory_order_relaxed); }
std::uint32_t RecordRing::tag() const noexcept { return state_->tag.load(std::memory_order_relaxed); }
std::uint64_t RecordRing::next_number() const noexcept { return state_->next_number.load(std::memory_order_relaxed); }
std::uint64_t RecordRing::dropped() const noexcept { return state_->dropped.load(std::memory_order_relaxed); }

std::uint64_t RecordRing::first_number() const noexcept {
  std::lock_guard const lock(state_->mutex);
  return state_->next_number.load(std::memory_order_relaxed) - state_->count.load(std::memory_order_relaxed);
}

std::uint64_t RecordRing::dropped_of(std::uint32_t tag) const noexcept {
  std::lock_guard const lock(state_->mutex);
  auto const& [counted_tag, lost] = state_->dropped_by_tag[tag % internal::RingState::kDroppedTags];
  return counted_tag == tag ? lost : 0;
}

void RecordRing::clear() noexcept {
  Appending changing(*state_);
  while (state_->count.load(std::memory_order_relaxed) > 0) state_->overwrite_oldest(changing.garbage());
}

RecordSnapshot RecordRing::snapshot(std::uint64_t from_number) const {
  RecordSnapshot result;
  auto content = std::make_unique<RecordSnapshot::Content>();
  internal::RingState& ring = *state_;
  std::lock_guard const lock(ring.mutex);
  content->record_count = ring.count.load(std::memory_order_relaxed);
  content->oldest = ring.next_number.load(std::memory_order_relaxed) - content->record_count;
  content->first = std::clamp(from_number, content->oldest, content->oldest + content->record_count);
  if (content->record_count > 0) {
    bool const wrapped = ring.head <= ring.tail;
    content->bytes.assign(ring.bytes + ring.tail, ring.bytes + (wrapped ? ring.wrap : ring.head));
    if (wrapped) content->bytes.insert(content->bytes.end(), ring.bytes, ring.bytes + ring.head);
  }
  content->spans = std::make_unique<KnownSpan[]>(ring.spans.size());
  content->tracks.resize(ring.tracks.size());
  for (std::uint32_t i = 0; i < ring.tracks.size(); ++i) {
    if (ring.tracks[i].references > 0) content->tracks[i] = ring.tracks[i];
  }
  // From here on nothing fails: what is retained is released with the content.
  content->span_count = ring.spans.size();
  for (std::uint32_t i = 0; i < ring.spans.size(); ++i) {
    KnownSpan const& from = ring.spans[i];
    if (from.known) content->spans[i].assign(from, content->spans.get());
  }
  content->for_each_header([](char const*, RecordHeader const& header) {
    if (header.owned) retain(*header.event_metadata());
  });
  result.content_ = std::move(content);
  return result;
}

void RecordRing::drain_dying(std::uint64_t from_number, void (*visit)(void* context, RecordView const& record),
                             void* context) noexcept {
  internal::RingState& ring = *state_;
  bool locked = ring.mutex.try_lock();
  for (int tries = 0; tries < 100 && !locked; ++tries) {
    timespec const pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    locked = ring.mutex.try_lock();
  }
  ring.dying = true;
  Garbage unused;
  std::uint64_t number = ring.next_number.load(std::memory_order_relaxed) - ring.count.load(std::memory_order_relaxed);
  for (; ring.count.load(std::memory_order_relaxed) > 0; ++number) {
    if (ring.tail + sizeof(RecordHeader) > ring.capacity) break;
    char const* const at = ring.bytes + ring.tail;
    RecordHeader const header = RecordHeader::read(at);
    auto const is_span = [&ring](std::uint32_t index) { return index < ring.spans.size() && ring.spans[index].metadata != nullptr; };
    bool const about_span = header.kind != RecordKind::event || header.span != kNoIndex;
    bool const plausible = header.number_low == static_cast<std::uint8_t>(number) && header.size >= sizeof(RecordHeader) &&
                           header.size % 8 == 0 && ring.tail + header.size <= ring.capacity && header.track < ring.tracks.size() &&
                           (!about_span || is_span(header.span)) &&
                           (header.kind != RecordKind::follows_from || is_span(header.cause()));
    if (!plausible) break;
    ring.overwrite_oldest(unused);  // only after that do the span's values hold what the record says
    if (number < from_number) continue;
    internal::RecordParts const parts{ring.span(header.span),
                                      header.kind == RecordKind::follows_from ? ring.span(header.cause()) : nullptr,
                                      ring.tracks[header.track].track()};
    Metadata const& metadata = header.kind == RecordKind::event ? *header.event_metadata() : *parts.span->metadata;
    DecodedValues decoded;
    visit(context, internal::view_record(at, header, number, parts, metadata, decoded));
  }
  if (locked) ring.mutex.unlock();
}

}  // namespace tracing::inline v1
