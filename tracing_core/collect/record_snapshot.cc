#include <algorithm>
#include <array>
#include <utility>

#include "tracing_core/collect/record_layout.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"

namespace tracing::inline v1 {

using internal::KnownSpan;
using internal::KnownTrack;
using internal::kNoIndex;
using internal::RecordHeader;

void internal::KnownSpan::assign(KnownSpan const& from, KnownSpan const* spans) noexcept {
  number = from.number;
  metadata = from.metadata;
  parent_index = from.parent_index;
  parent = parent_index == kNoIndex ? nullptr : &spans[parent_index];
  tag = from.tag;
  time = from.time;
  values.copy_from(from.values);
  parent_kind = from.parent_kind;
  known = true;
  made = from.made;
}

RecordSnapshot::Content::~Content() {
  for (std::uint32_t i = 0; i < span_count; ++i) {
    if (spans[i].known) release(*spans[i].metadata);
  }
  if (span_count == 0) return;
  for_each_header([](char const*, RecordHeader const& header) {
    if (header.owned) release(*header.event_metadata());
  });
}

RecordSnapshot::RecordSnapshot() noexcept = default;
RecordSnapshot::RecordSnapshot(RecordSnapshot&&) noexcept = default;
RecordSnapshot& RecordSnapshot::operator=(RecordSnapshot&&) noexcept = default;
RecordSnapshot::~RecordSnapshot() = default;

std::size_t RecordSnapshot::size() const noexcept {
  return content_ == nullptr ? 0
                             : content_->record_count - static_cast<std::size_t>(content_->first - content_->oldest);
}
std::uint64_t RecordSnapshot::first_number() const noexcept { return content_ == nullptr ? 0 : content_->first; }

namespace {

// The spans of a snapshot as they were before its first record.
std::unique_ptr<KnownSpan[]> first_spans(KnownSpan const* known, std::uint32_t count) {
  auto spans = std::make_unique<KnownSpan[]>(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (known[i].known) spans[i].assign(known[i], spans.get());
  }
  return spans;
}

// Calls `f(view, header)` for all records, and adds their values to `spans` as it passes them.
template <class Content, class F>
void walk(Content const& content, KnownSpan* spans, F&& f) {
  std::uint64_t number = content.oldest;
  content.for_each_header([&](char const* at, RecordHeader const& header) {
    internal::RecordParts parts;
    if (header.span != kNoIndex) parts.span = &spans[header.span];
    if (header.kind == RecordKind::follows_from) parts.cause = &spans[header.cause()];
    parts.track = content.tracks[header.track].track();
    if (header.kind == RecordKind::new_span || header.kind == RecordKind::record)
      internal::fold_values(spans[header.span], at + sizeof(header), header.size - sizeof(header));
    Metadata const& metadata = header.kind == RecordKind::event ? *header.event_metadata() : *parts.span->metadata;
    DecodedValues decoded;
    f(internal::view_record(at, header, number++, parts, metadata, decoded), header);
  });
}

// Feeds records to a subscriber. Maps our spans to its spans and tracks which ones each track is in.
class Replay {
 public:
  Replay(Subscriber& to, KnownSpan const* known, std::uint32_t span_count, std::vector<KnownTrack> const& tracks)
      : to_(to), known_(known), tracks_(tracks), ids_(span_count), entered_(tracks.size()) {}

  // Sets up the state before the first record.
  void restore(KnownSpan const* spans) {
    std::vector<std::uint32_t> before;
    for (std::uint32_t i = 0; i < ids_.size(); ++i) {
      if (known_[i].known && known_[i].made) before.push_back(i);
    }
    std::sort(before.begin(), before.end(), [this](auto a, auto b) { return known_[a].number < known_[b].number; });
    for (std::uint32_t const index : before) restore_span(index, spans[index]);
    for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
      for (KnownTrack::Entered const& entered : tracks_[i].entered)
        enter(entered.span, i, Instant{entered.time_ns}, true);
    }
  }

  void feed(RecordView const& record, RecordHeader const& header, bool selected) {
    Track const& track = record.track;
    Origin const origin{&track, record.time, !selected};
    switch (record.kind) {
      case RecordKind::new_span: make_span(header.span, record.values, record.parent_kind, origin); break;
      case RecordKind::event:
        if (selected) feed_event(record, header, origin);
        break;
      case RecordKind::record:
        if (SpanId const id = ids_[header.span]) to_.record(id, record.values);
        break;
      case RecordKind::follows_from:
        if (ids_[header.span] && ids_[header.cause()] && selected)
          to_.follows_from(ids_[header.span], ids_[header.cause()]);
        break;
      case RecordKind::enter: enter(header.span, header.track, record.time, !selected); break;
      case RecordKind::exit: exit(header.span, header.track, record.time, !selected); break;
      case RecordKind::close:
        if (SpanId const id = std::exchange(ids_[header.span], {})) to_.drop_reference(id, origin);
        break;
    }
  }

  void finish(Instant time) {
    for (std::uint32_t track = 0; track < entered_.size(); ++track) {
      while (!entered_[track].empty()) exit(entered_[track].back(), track, time, true);
    }
    for (SpanId const id : ids_) {
      if (id) to_.drop_reference(id, {nullptr, time, true});
    }
  }

 private:
  LayerMask wanted(Metadata const& metadata) {
    return metadata.level() <= to_.max_level_hint() ? to_.enabled(metadata) : LayerMask{0};
  }

  // The original parent; if `to` did not want that span, its nearest ancestor that `to` has.
  Parent parent_of(Parent::Kind kind, std::uint32_t index) const {
    if (kind != Parent::Kind::span) return {kind, {}};
    while (index != kNoIndex && !ids_[index]) index = known_[index].parent_index;
    return Parent::below(index == kNoIndex ? SpanId{} : ids_[index]);
  }

  void make_span(std::uint32_t index, FieldValues const& values, Parent::Kind parent_kind, Origin const& origin) {
    LayerMask const mask = wanted(values.metadata());
    if (mask != 0)
      ids_[index] = to_.new_span({values, parent_of(parent_kind, known_[index].parent_index), mask, origin});
  }

  void restore_span(std::uint32_t index, RecordedSpan const& span) {
    Track const track = Track{};
    Origin const origin{&track, span.time, true};
    bool first = true;
    span.values.for_each_group(*span.metadata, [&](FieldValues const& values) {
      if (first) make_span(index, values, Parent::Kind::span, origin);
      if (!first && ids_[index]) to_.record(ids_[index], values);
      first = false;
    });
  }

  void feed_event(RecordView const& record, RecordHeader const& header, Origin const& origin) {
    LayerMask const mask = wanted(record.metadata());
    if (mask != 0) to_.event({record.values, parent_of(record.parent_kind, header.span), mask, origin});
  }

  void enter(std::uint32_t span, std::uint32_t track, Instant time, bool restored) {
    if (!ids_[span]) return;
    Track const on = tracks_[track].track();
    to_.enter(ids_[span], {&on, time, restored});
    entered_[track].push_back(span);
  }

  void exit(std::uint32_t span, std::uint32_t track, Instant time, bool restored) {
    auto& entered = entered_[track];
    auto const found = std::find(entered.rbegin(), entered.rend(), span);
    if (found == entered.rend()) return;
    entered.erase(std::next(found).base());
    Track const on = tracks_[track].track();
    to_.exit(ids_[span], {&on, time, restored});
  }

  Subscriber& to_;
  KnownSpan const* known_;
  std::vector<KnownTrack> const& tracks_;
  std::vector<SpanId> ids_;                         // of `to`, by our index
  std::vector<std::vector<std::uint32_t>> entered_;  // by track
};

}  // namespace

void RecordSnapshot::visit(void (*each)(void* context, RecordView const& record), void* context) const {
  if (content_ == nullptr) return;
  auto const spans = first_spans(content_->spans.get(), content_->span_count);
  walk(*content_, spans.get(), [&](RecordView const& record, RecordHeader const&) {
    if (record.number >= content_->first) each(context, record);
  });
}

void RecordSnapshot::replay_selected(Subscriber& to, bool (*select)(void* context, RecordView const& record),
                                     void* context) const {
  if (content_ == nullptr) return;
  auto const spans = first_spans(content_->spans.get(), content_->span_count);
  Replay replay(to, content_->spans.get(), content_->span_count, content_->tracks);
  bool const before = std::exchange(internal::thread_state.in_subscriber, true);
  replay.restore(spans.get());
  Instant last;
  walk(*content_, spans.get(), [&](RecordView const& record, RecordHeader const& header) {
    replay.feed(record, header, record.number >= content_->first && select(context, record));
    last = record.time;
  });
  replay.finish(last);
  internal::thread_state.in_subscriber = before;
}

}  // namespace tracing::inline v1
