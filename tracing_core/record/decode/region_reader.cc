// The idea: the state of a reader that reads a recording once, namely what is known of chunks, where each track is
// read, and which spans it is in, is kept between two calls. A second call reads the bytes that chunks have got since,
// and the entries go on where they ended.
//
// A thread leaves a chunk for good, so only the last chunk of a track grows. If an earlier chunk has grown, the chunk
// after it was read at a moment between; then, as after an entry that became readable late, the caller starts afresh.
#include "tracing_core/record/decode/region_reader.h"

#include <algorithm>
#include <string>

#include "tracing_core/record/decode/head_copy.h"
#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/ring/racing_copy.h"

namespace tracing { inline namespace v1 { namespace recording {

using internal::ChunkHead;
using Content = RecordingState::Content;

namespace {

// A word of a head that another thread may be writing to. Later loads see at least what preceded the word.
std::uint64_t load_word(void const* word) noexcept {
  std::uint64_t copy = 0;
  internal::copy_racing(static_cast<char const*>(word), reinterpret_cast<char*>(&copy), sizeof(copy));
  return copy;
}

}  // namespace

RegionReader::RegionReader(internal::Region const& region, std::uint64_t from_ticks)
    : region_(region), from_ticks_(from_ticks), source_(source_of(region)) {
  std::string error;  // memory has a header
  state_ = RecordingState::read_header(*source_, error);
}

// The writer describes a callsite before its first record, so the descriptions are read after the records.
bool RegionReader::read_new() {
  if (!read_changed(Content::records) || !read_changed(Content::sites)) return false;
  state_->sort_threads();
  for (auto& [number, track] : tracks_) {
    if ((track.has_grown || !track.added.empty()) && !append(track)) return false;
  }
  return true;
}

bool RegionReader::read_changed(Content content) {
  std::size_t const end = region_.size_bytes();
  if (known_.empty()) known_.reserve(region_.chunk_count() + internal::kChunksPerGroup);
  for (std::uint32_t i = 0; internal::offset_of_head(i) + sizeof(ChunkHead) <= end; ++i) {
    ChunkHead const& head = region_.head(i);
    if (i == known_.size()) known_.emplace_back();
    KnownChunk& known = known_[i];
    std::uint64_t const generation = load_word(&head.generation);
    std::uint32_t const used = head.used.load(std::memory_order_relaxed);
    if ((generation == known.generation && used == known.used) || generation % 2 != 0) continue;
    // Copies no head of a chunk that ended before, since there may be very many.
    if (std::uint64_t const last = load_word(&head.last_ticks);
        known.chunk == nullptr && last != 0 && last < from_ticks_ && load_word(&head.track) != 0) {
      known = {generation, used};
    } else if (!read_chunk(i, known, content)) {
      return false;
    }
  }
  return true;
}

// Returns false if the track is already read beyond the chunk.
bool RegionReader::read_chunk(std::uint32_t number, KnownChunk& known, Content content) {
  HeadCopy const head(region_.head(number));
  if (((*head).track == 0) != (content == Content::sites)) return true;
  if (known.chunk != nullptr && known.generation == (*head).generation.load(std::memory_order_relaxed)) {
    if (!state_->read_more(*source_, *known.chunk)) return true;
    known.used = known.chunk->bytes;
    if (content == Content::sites) return true;
    Track& track = tracks_[(*head).track];
    track.has_grown = true;
    return track.chunks.back() == known.chunk;
  }
  std::size_t const before = state_->chunks.size();
  CutOff cut;  // memory is whole
  state_->read_chunk(*source_, number, *head, content, cut);
  if (state_->chunks.size() == before) return true;
  RecordedChunk& chunk = state_->chunks.back();
  known = {chunk.generation, chunk.bytes, &chunk};
  if (content == Content::sites) return true;
  chunk.words.reserve(internal::kChunkBytes / sizeof(chunk.words[0]));  // the entries borrow from it while it grows
  tracks_[chunk.track].added.push_back(&chunk);
  return true;
}

// Returns false if the track is already read beyond what is new.
bool RegionReader::append(Track& track) {
  auto const place = [](RecordedChunk const* chunk) { return std::pair(chunk->first_record, chunk->first_ticks); };
  std::sort(track.added.begin(), track.added.end(), [&](auto const* a, auto const* b) { return place(a) < place(b); });
  bool const is_behind =
      track.chunks.empty() || track.added.empty() || place(track.chunks.back()) < place(track.added.front());
  if (!is_behind) return false;
  track.chunks.insert(track.chunks.end(), track.added.begin(), track.added.end());
  track.added.clear();
  track.has_grown = false;
  if (track.reader == nullptr) {
    track.summary.number = track.chunks.front()->track;
    track.reader = std::make_unique<EntryReader>(*state_, track.summary, track.chunks);
    entries_.add(*track.reader);
    return true;
  }
  bool const was_at_end = track.reader->is_at_end();
  track.reader->resume();
  if (was_at_end) entries_.add(*track.reader);
  return true;
}

void RegionReader::release_chunks() {
  for (auto& [number, track] : tracks_) {
    for (; track.released < track.reader->chunk_index(); ++track.released)
      std::vector<std::uint64_t>().swap(track.chunks[track.released]->words);
  }
}

}}}  // namespace tracing::v1::recording
