// EntryReader, EntriesInOrder: the entries of a track, and of all tracks in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tracing_core/record/decode/decoder.h"
#include "tracing_core/record/decode/recording_parts.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/decode/value_reader.h"

namespace tracing { inline namespace v1 { namespace recording {

// The entries of a track, one after the other.
class EntryReader final : SiteSource {
 public:
  EntryReader(RecordingState& recording, TrackSummary& track, std::vector<RecordedChunk*> const& chunks);
  EntryReader(EntryReader const&) = delete;
  EntryReader& operator=(EntryReader const&) = delete;

  // Goes to the next entry; false at the end.
  bool next();
  Entry const& entry() const noexcept { return entry_; }
  bool is_at_end() const noexcept { return is_at_end_; }
  // Goes on after the last chunk has grown, or chunks were added behind it. REQUIRES: the records are in memory.
  void resume();
  // The place in `chunks` of the chunk that it reads; no earlier chunk is needed any more.
  std::size_t chunk_index() const noexcept { return is_at_end_ ? chunk_ - 1 : chunk_; }

 private:
  RecordedChunk const& chunk() const noexcept { return *chunks_[chunk_]; }
  void begin_chunk();
  bool take_known_end();
  void add_lost(std::uint64_t records) noexcept;
  void report(std::string const& what);
  bool complete_entry();
  bool read_values();
  Value with_size(Value const& beginning, std::uint32_t whole_size);
  Metadata const* find(std::uint32_t number) noexcept override;

  RecordingState& recording_;
  TrackSummary& track_;  // filled in at the end, since others may read the recording until then
  Thread thread_;
  std::uint64_t lost_ = 0;
  std::vector<RecordedChunk*> const& chunks_;
  std::size_t chunk_ = 0;
  bool is_at_end_ = false;
  std::vector<std::uint64_t> buffer_;  // see RecordingState::records_of()
  SpanTracker<std::uint64_t> spans_;
  Decoder decoder_;
  bool reads_ends_ = false;                       // of spans that the reader knows, and nothing else of the chunk
  bool has_left_out_ = false, has_lost_ = false;  // since the last entry
  // The spans that were open when the reader began to leave out chunks, without those that have ended since.
  std::vector<std::uint64_t> known_;
  // In a chunk that is left out: the number of open spans that the reader does not know, and its least value so far.
  std::int64_t open_ = 0, least_open_ = 0;
  Entry entry_;
  std::vector<Value> values_;
  std::deque<std::string> cut_texts_;
};

// The entries of all tracks in the order of time.
class EntriesInOrder {
 public:
  EntriesInOrder() = default;
  explicit EntriesInOrder(RecordingState& recording);
  // Adds the next entry of a track, if there is one, and those after it.
  void add(EntryReader& reader);
  // The next entry; null at the end, and if it is after `until` (ticks). Valid until the next call.
  Entry const* next(std::uint64_t until = UINT64_MAX);

 private:
  std::deque<EntryReader> readers_;
  std::vector<EntryReader*> waiting_;  // a heap of the tracks that have an entry, the oldest entry first
  EntryReader* last_ = nullptr;        // was returned, and is not in the heap
};

}}}  // namespace tracing::v1::recording
