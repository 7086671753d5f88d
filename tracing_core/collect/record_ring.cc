#include "tracing_core/collect/record_ring.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tracing_core/collect/record_layout.h"
#include "tracing_core/collect/record_ring_state.h"
#include "tracing_core/dispatch/runtime_callsite.h"

namespace tracing::inline v1 {

using internal::DeferredReleases;
using internal::KnownSpan;
using internal::kNoIndex;
using internal::RecordHeader;

std::shared_ptr<RecordRing> RecordRing::make(std::size_t capacity_bytes) {
  auto state = std::make_unique<internal::RingState>(capacity_bytes);
  if (state->bytes == nullptr) return nullptr;
  return std::shared_ptr<RecordRing>(new RecordRing(std::move(state)));
}

RecordRing::RecordRing(std::unique_ptr<internal::RingState> state) noexcept : state_(std::move(state)) {}
RecordRing::~RecordRing() = default;

std::unique_ptr<Layer> RecordRing::make_layer() { return internal::make_ring_layer(shared_from_this(), *state_); }

void RecordRing::set_tag(std::uint32_t tag) noexcept { state_->tag.store(tag, std::memory_order_relaxed); }
std::uint32_t RecordRing::tag() const noexcept { return state_->tag.load(std::memory_order_relaxed); }
std::uint64_t RecordRing::next_number() const noexcept { return state_->next_number.load(std::memory_order_relaxed); }
std::uint64_t RecordRing::dropped() const noexcept { return state_->dropped.load(std::memory_order_relaxed); }

std::uint64_t RecordRing::first_number() const noexcept {
  internal::MutexLock const lock(state_->mutex);
  return state_->next_number.load(std::memory_order_relaxed) - state_->count.load(std::memory_order_relaxed);
}

std::uint64_t RecordRing::dropped_of(std::uint32_t tag) const noexcept {
  internal::MutexLock const lock(state_->mutex);
  auto const& [counted_tag, lost] = state_->dropped_by_tag[tag % internal::RingState::kDroppedTags];
  return counted_tag == tag ? lost : 0;
}

void RecordRing::clear() noexcept {
  DeferredReleases deferred;
  {
    internal::MutexLock const lock(state_->mutex);
    while (state_->count.load(std::memory_order_relaxed) > 0) state_->overwrite_oldest(deferred);
  }
  deferred.release_all();
}

RecordSnapshot RecordRing::snapshot(std::uint64_t from_number) const {
  RecordSnapshot result;
  auto content = std::make_unique<RecordSnapshot::Content>();
  internal::RingState& ring = *state_;
  internal::MutexLock const lock(ring.mutex);
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
  // Nothing fails from here on, so everything that is retained is released with the content.
  content->span_count = ring.spans.size();
  for (std::uint32_t i = 0; i < ring.spans.size(); ++i) {
    KnownSpan const& from = ring.spans[i];
    if (!from.known) continue;
    content->spans[i].assign(from, content->spans.get());
    retain(*from.metadata);
  }
  content->for_each_header([](char const*, RecordHeader const& header) {
    if (header.owned) retain(*header.event_metadata());
  });
  result.content_ = std::move(content);
  return result;
}

void RecordRing::drain_dying(std::uint64_t from_number, void (*visit)(void* context, RecordView const& record),
                             void* context) noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  internal::RingState& ring = *state_;
  bool locked = ring.mutex.try_lock();
  for (int tries = 0; tries < 100 && !locked; ++tries) {
    timespec const pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    locked = ring.mutex.try_lock();
  }
  ring.dying = true;
  DeferredReleases unused;
  std::uint64_t number = ring.next_number.load(std::memory_order_relaxed) - ring.count.load(std::memory_order_relaxed);
  for (; ring.count.load(std::memory_order_relaxed) > 0; ++number) {
    if (ring.tail + sizeof(RecordHeader) > ring.capacity) break;
    char const* const at = ring.bytes + ring.tail;
    RecordHeader const header = RecordHeader::read(at);
    auto const is_span = [&ring](std::uint32_t index) {
      return index < ring.spans.size() && ring.spans[index].metadata != nullptr;
    };
    bool const about_span = header.kind != RecordKind::event || header.span != kNoIndex;
    bool const plausible =
        header.number_low == static_cast<std::uint8_t>(number) && header.size >= sizeof(RecordHeader) &&
        header.size % 8 == 0 && ring.tail + header.size <= ring.capacity && header.track < ring.tracks.size() &&
        (!about_span || is_span(header.span)) && (header.kind != RecordKind::follows_from || is_span(header.cause()));
    if (!plausible) break;
    ring.overwrite_oldest(unused);  // first, since it adds the record's values to its span
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
