// Appends records to the ring and overwrites the oldest ones.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tracing_core/collect/record_ring_state.h"
#include "tracing_core/collect/span_store.h"

namespace tracing::inline v1 {

using internal::DeferredReleases;
using internal::KnownSpan;
using internal::KnownTrack;
using internal::kNoIndex;
using internal::RecordHeader;
using internal::RingState;

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

void internal::RingState::drop_span(std::uint32_t index, DeferredReleases& deferred) noexcept {
  while (index != kNoIndex && --spans[index].references == 0 && !dying) {
    KnownSpan& gone = spans[index];
    index = gone.parent_index;
    if (gone.metadata->parts().owned) deferred.add(*gone.metadata);
    gone.known = false;
    gone.values.clear();
    spans.give_back(gone);
  }
}

void internal::RingState::keep_values(KnownSpan& span, char* record, RecordHeader const& header) noexcept {
  span.made = true;
  if (!dying)
    return internal::fold_values(span, record + sizeof(RecordHeader), header.size - sizeof(RecordHeader));
  // Copying may need memory. The record stays where it is, since nothing is appended any more.
  auto* const group = new (record + offsetof(RecordHeader, extra)) RecordedSpan::StoredGroup{nullptr};
  (span.last_more == nullptr ? span.more_values : span.last_more->next) = group;
  span.last_more = group;
  constexpr std::uint32_t kMaxMore = 16;
  // Recorded over and over: the first group, which is the span's creation, and the last ones suffice.
  if (++span.more_count > kMaxMore) span.more_values->next = span.more_values->next->next;
}

// ---- making room ----

void internal::RingState::count_dropped(std::uint32_t lost_tag) noexcept {
  dropped.store(dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  auto& [counted_tag, lost] = dropped_by_tag[lost_tag % kDroppedTags];
  if (counted_tag != lost_tag) counted_tag = lost_tag, lost = 0;
  ++lost;
}

// Applies the changes of the oldest record to its span and track.
void internal::RingState::overwrite_oldest(DeferredReleases& deferred) noexcept {
  char* const at = bytes + tail;
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
        drop_span(header.span, deferred);
        break;
      }
      break;
    case RecordKind::follows_from: drop_span(header.cause(), deferred); break;
    case RecordKind::event:
      if (header.owned && !dying) deferred.add(*header.event_metadata());
      break;
    case RecordKind::close: break;
  }
  if (about != nullptr && !keeps_span) drop_span(header.span, deferred);
  drop_track(track);
  count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  tail += header.size;
  if (head <= tail && tail == wrap) tail = 0;
}

void internal::RingState::make_room(std::size_t size, DeferredReleases& deferred) noexcept {
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
    overwrite_oldest(deferred);
  }
}

namespace {

// Appends records under the lock. After unlocking, releases the metadata of overwritten ones.
class Appending {
 public:
  explicit Appending(RingState& ring) noexcept : ring_(ring) { ring_.mutex.lock(); }
  Appending(Appending const&) = delete;
  Appending& operator=(Appending const&) = delete;
  ~Appending() {
    ring_.mutex.unlock();
    deferred_.release_all();
  }

  DeferredReleases& deferred() noexcept { return deferred_; }

  // Appends a record that refers to the span `about`, or to none if that is null. False if the record was dropped.
  bool append(RecordHeader header, Context const& context, KnownSpan* about, StoredValues const* values) noexcept {
    std::size_t const values_size = values == nullptr ? 0 : values->size_bytes();
    std::size_t const size = sizeof(RecordHeader) + values_size;
    header.tag = ring_.tag.load(std::memory_order_relaxed);
    KnownTrack* const track =
        ring_.dying || size > ring_.largest_record() ? nullptr : ring_.find_track(context.track());
    if (track == nullptr) [[unlikely]] return ring_.count_dropped(header.tag), false;
    ++track->references;
    if (about != nullptr) ++about->references;
    ring_.make_room(size, deferred_);
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
  DeferredReleases deferred_;
};

class RecordRingLayer final : public Layer {
 public:
  RecordRingLayer(std::shared_ptr<RecordRing> owner, RingState& ring) noexcept
      : owner_(std::move(owner)), ring_(ring) {}

  ~RecordRingLayer() override {
    Appending changing(ring_);
    for (std::uint32_t const index : open_) ring_.drop_span(index, changing.deferred());
  }

  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override {
    StoredValues values;
    keep(values, made.fields);
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
    RecordHeader header = start(RecordKind::new_span, span.layers());
    header.parent_kind = made.parent.kind;
    if (!appending.append(header, context, known, &values)) {
      known->made = true;
      internal::fold_values(*known, values.data(), values.size_bytes());
    }
  }

  void on_record(SpanRef span, FieldValues const& fields, Context const& context) noexcept override {
    StoredValues values;
    keep(values, fields);
    (void)context.time();
    Appending appending(ring_);
    if (KnownSpan* const known = find(span))
      appending.append(start(RecordKind::record, span.layers()), context, known, &values);
  }

  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override {
    (void)context.time();
    Appending appending(ring_);
    KnownSpan* const known = find(span);
    KnownSpan* const known_cause = find(cause);
    if (known == nullptr || known_cause == nullptr) return;
    RecordHeader header = start(RecordKind::follows_from, span.layers());
    header.extra = known_cause->index;
    ++known_cause->references;
    if (!appending.append(header, context, known, nullptr)) ring_.drop_span(known_cause->index, appending.deferred());
  }

  void on_event(Event const& event, Context const& context) noexcept override {
    StoredValues values;
    keep(values, event.fields);
    (void)context.time();
    SpanRef const span = context.event_span(event);
    RecordHeader header = start(RecordKind::event, event.mask);
    header.parent_kind = event.parent.kind;
    header.owned = event.metadata().parts().owned;
    header.extra = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&event.metadata()));
    if (header.owned) [[unlikely]] retain(event.metadata());
    Appending appending(ring_);
    if (!appending.append(header, context, span ? find(span) : nullptr, &values) && header.owned)
      release_owned(event.metadata(), appending);
  }

  void on_enter(SpanRef span, Context const& context) noexcept override {
    append_plain(RecordKind::enter, span, context);
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    append_plain(RecordKind::exit, span, context);
  }

  void on_close(SpanRef span, Context const& context) noexcept override {
    (void)context.time();
    Appending appending(ring_);
    KnownSpan* const known = find(span);
    if (known == nullptr) return;
    appending.append(start(RecordKind::close, span.layers()), context, known, nullptr);
    open_[span.slot()->index()] = kNoIndex;
    ring_.drop_span(known->index, appending.deferred());
  }

 private:
  static RecordHeader start(RecordKind kind, LayerMask mask) noexcept {
    RecordHeader header{};
    header.kind = kind;
    header.mask = mask;
    return header;
  }

  // Cuts values that would displace too many other records.
  void keep(StoredValues& values, FieldValues const& fields) const noexcept {
    values.add(fields);
    if (values.size_bytes() <= ring_.largest_record() - sizeof(RecordHeader)) [[likely]] return;
    internal::cut_values(values, fields.metadata(), ring_.capacity / 64);
  }

  // For metadata that was retained for a record which was dropped.
  static void release_owned(Metadata const& metadata, Appending& appending) noexcept {
    if (metadata.parts().owned) appending.deferred().add(metadata);
  }

  KnownSpan* find(SpanRef span) noexcept {
    std::uint32_t const slot = span.slot()->index();
    return slot < open_.size() ? ring_.span(open_[slot]) : nullptr;
  }

  KnownSpan* add_span(SpanRef span, NewSpan const& made, SpanRef parent, Context const& context) noexcept {
    std::uint32_t const slot = span.slot()->index();
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
    if (KnownSpan* const known = find(span)) appending.append(start(kind, span.layers()), context, known, nullptr);
  }

  std::shared_ptr<RecordRing> owner_;
  RingState& ring_;
  std::vector<std::uint32_t> open_;  // guarded by the ring's lock; index in the ring, by the slot of an open span
};

}  // namespace

std::unique_ptr<Layer> internal::make_ring_layer(std::shared_ptr<RecordRing> owner, RingState& ring) {
  return std::make_unique<RecordRingLayer>(std::move(owner), ring);
}

}  // namespace tracing::inline v1
