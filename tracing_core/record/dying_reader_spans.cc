// The spans that threads are in. Nothing here may allocate or lock.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tracing_core/record/dying_reader.h"
#include "tracing_core/record/head_copy.h"

namespace tracing::inline v1::internal {

std::size_t DyingReader::find_tracks(RecordStore const& store, std::uint64_t ended_since) noexcept {
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
    if (!is_of_track(head) || head.last_ticks < ended_since || head.last_ticks == 0 || head.track == kMarksTrack) continue;
    if (std::find(live, live + live_count, head.track) != live + live_count) continue;
    auto const by_ticks = [](Ended const& a, Ended const& b) { return a.ticks < b.ticks; };
    auto const same = [&head](Ended const& one) { return one.track == head.track; };
    Ended* const known = std::find_if(ended, std::end(ended), same);
    Ended& place = known != std::end(ended) ? *known : *std::min_element(ended, std::end(ended), by_ticks);
    if (place.ticks < head.last_ticks) place = {head.last_ticks, head.track};
  }
  std::sort(ended, std::end(ended), [](Ended const& a, Ended const& b) { return a.track < b.track; });
  for (std::size_t i = 0; i < live_count; ++i) cursor_of(live[i])->is_at_end = true;
  for (Ended const& one : ended) {
    if (one.track != 0) cursor_of(one.track)->is_at_end = true;
  }
  return track_count_;
}

bool DyingReader::go_to_end_of(std::size_t track) noexcept {
  until_ticks_ = ticks_now();
  return go_to_same_end_of(track);
}

bool DyingReader::go_to_same_end_of(std::size_t track) noexcept {
  now_ = nullptr;
  for (std::size_t i = 0; i < track_count_; ++i) cursors_[i].is_at_end = true;
  Cursor& cursor = cursors_[track];
  std::uint64_t last = 0, one_before = 0;
  Region const& region = store_->region();
  for (std::uint32_t i = 0; i < region.chunk_count(); ++i) {
    HeadCopy const copy(region.head(i));
    ChunkHead const& head = *copy;
    if (!is_of_track(head) || head.track != cursor.track || head.first_ticks > until_ticks_) continue;
    if (head.first_ticks > last) one_before = std::exchange(last, head.first_ticks);
    else one_before = std::max(one_before, head.first_ticks);
  }
  cursor.first_ticks = (one_before != 0 ? one_before : last) - 1;
  cursor.is_at_end = last == 0 || !load_next_chunk(cursor);
  bool const has_records = !cursor.is_at_end;
  advance(cursor);
  return has_records;
}

void DyingReader::go_to_open_spans(std::size_t track) noexcept {
  now_ = &cursors_[track];
  now_->at = now_->next;
  foreign_track_ = 0;
  std::size_t const known = std::min(now_->depth, std::size(now_->stack));
  depth_ = 0;
  has_more_spans_ = now_->depth > known;
  for (std::size_t i = known; i > 0; --i) {
    Found const* const found = find_span(*now_, now_->stack[i - 1]);
    if (found == nullptr) continue;
    has_more_spans_ = depth_ == kMaxDepth;
    if (has_more_spans_) break;
    path_[depth_++] = found;
  }
}

// It is in the last chunk of its track that begins before it. If that is overwritten, the next one says when it was open.
DyingReader::Begin DyingReader::begin_of_span(std::size_t index) noexcept {
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
    if (head.first_span > ordinal) begin.ticks = std::min(begin.ticks, head.first_ticks);
    else if (head.first_ticks > searched_.first_ticks) chunk = i, searched_.first_ticks = head.first_ticks;
  }
  if (chunk == Region::kNone || !copy_chunk(searched_, chunk)) return begin;
  for (std::uint64_t span = searched_.next_span;; searched_.at = searched_.next) {
    RecordHead const head = head_at(searched_, searched_.at);
    std::size_t const bytes = std::size_t{head.words} * 8;
    if (bytes < sizeof(head) || bytes > searched_.size - searched_.at) return begin;
    searched_.next = searched_.at + bytes;
    bool const is_scope = head.type == RecordType::scope_begin;
    if (!is_scope && head.type != RecordType::new_span) continue;
    if (span++ == ordinal)
      return {searched_.first_ticks + head.ticks, is_scope ? Begin::entered : Begin::made};
  }
}

}  // namespace tracing::inline v1::internal
