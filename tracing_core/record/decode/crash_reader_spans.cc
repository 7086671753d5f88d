// The spans that threads are in. Nothing here may allocate or lock.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tracing_core/record/decode/crash_reader.h"
#include "tracing_core/record/decode/head_copy.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

std::size_t CrashReader::find_tracks(RecordStore const& store, std::uint64_t ended_since) noexcept {
  start(store);
  std::uint64_t live[kMaxTracks];
  std::size_t live_count = 0;
  Region const& region = store.region();
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head) || head.last_ticks != 0 || head.track == kMarksTrack) continue;
    if (std::find(live, live + live_count, head.track) != live + live_count) continue;
    skips_tracks_ = live_count == kMaxTracks - kMaxEnded;
    if (!skips_tracks_) live[live_count++] = head.track;
  }
  std::sort(live, live + live_count);
  struct Ended {
    std::uint64_t ticks, track;
  } ended[kMaxEnded] = {};
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head) || head.last_ticks < ended_since || head.last_ticks == 0 || head.track == kMarksTrack)
      continue;
    if (std::find(live, live + live_count, head.track) != live + live_count) continue;
    auto const by_ticks = [](Ended const& a, Ended const& b) { return a.ticks < b.ticks; };
    auto const same = [&head](Ended const& one) { return one.track == head.track; };
    Ended* const known = std::find_if(ended, std::end(ended), same);
    Ended& place = known != std::end(ended) ? *known : *std::min_element(ended, std::end(ended), by_ticks);
    if (place.ticks < head.last_ticks) place = {head.last_ticks, head.track};
  }
  std::sort(ended, std::end(ended), [](Ended const& a, Ended const& b) { return a.track < b.track; });
  for (std::size_t i = 0; i < live_count; ++i) add_cursor(live[i]);
  for (Ended const& one : ended) {
    if (one.track != 0) add_cursor(one.track);
  }
  return track_count_;
}

bool CrashReader::go_to_end_of(std::size_t track) noexcept {
  until_ticks_ = ticks_now();
  return go_to_same_end_of(track);
}

bool CrashReader::go_to_same_end_of(std::size_t track) noexcept {
  for (std::size_t i = 0; i < track_count_; ++i) cursor(i).is_at_end = true;
  std::uint64_t last = 0, one_before = 0;
  Region const& region = store_->region();
  std::uint64_t const number = cursor(track).track;
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head) || head.track != number || head.first_ticks > until_ticks_) continue;
    if (head.first_ticks > last)
      one_before = std::exchange(last, head.first_ticks);
    else
      one_before = std::max(one_before, head.first_ticks);
  }
  now_ = nullptr;
  Cursor& fresh = *new (&slots_[track].cursor) Cursor(number, decoder_room_);
  fresh.chunk.first_ticks = (one_before != 0 ? one_before : last) - 1;
  fresh.is_at_end = last == 0 || !load_next_chunk(fresh);
  bool const has_records = !fresh.is_at_end;
  advance(fresh);
  return has_records;
}

void CrashReader::go_to_open_spans(std::size_t track) noexcept {
  now_ = &cursor(track);
  now_->values_until = now_->decoder.next_at();
  now_->record.track = now_->record.writer = now_->decoder.thread();
  depth_ = 0;
  SpanTracker<std::uint64_t> const& spans = now_->spans;
  has_more_spans_ = spans.depth() > spans.size();
  for (std::uint64_t const* key = spans.end(); key != spans.begin();) {
    Found const* const found = find_span(*now_, *--key);
    if (found == nullptr) continue;
    has_more_spans_ = depth_ == kMaxDepth;
    if (has_more_spans_) break;
    path_[depth_++] = found;
  }
}

// The beginning is in the last chunk of its track that begins before the span. If this chunk is overwritten, the next
// chunk says when the span was open at the latest.
CrashReader::Begin CrashReader::begin_of_span(std::size_t index) noexcept {
  std::uint64_t const key = path_[index]->key;
  std::uint64_t const ordinal = key & (make_span_key(1, 0) - 1);
  Region const& region = store_->region();
  Begin begin{until_ticks_, Begin::before};
  std::uint32_t chunk = Region::kNone;
  searched_.first_ticks = 0;
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head) || head.track != key >> 40) continue;
    if (head.first_span > ordinal)
      begin.ticks = std::min(begin.ticks, head.first_ticks);
    else if (head.first_ticks > searched_.first_ticks)
      chunk = i, searched_.first_ticks = head.first_ticks;
  }
  if (chunk == Region::kNone || !copy_chunk(searched_, chunk)) return begin;
  std::uint64_t span = searched_.first_span;
  for (std::size_t at = 0;;) {
    RecordHead const head = searched_.head_at(at);
    if (head.words == 0) return begin;
    if (begins_span(head.type) && span++ == ordinal)
      return {searched_.first_ticks + head.ticks, enters_span(head.type) ? Begin::entered : Begin::made};
    at += std::size_t{head.words} * 8;
  }
}

}}}  // namespace tracing::v1::recording
