// RecordingState: what a Recording knows, and how it is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracing_core/record/decode/site_reader.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/chunk_clock.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 {

namespace internal {
class Region;
}

namespace recording {

class Piece;
class RecordingSource;
struct RecordedChunk;
struct CutOff;

/// Reads what a region contains now, while other threads write to it: at least the records from `from_ticks`. Returns
/// null if memory ran out.
std::unique_ptr<Recording> read_region(internal::Region const& region, std::uint64_t from_ticks = 0);
/// Reads `size` bytes of an open file that Region::move_to() wrote. Has earlier records only as far as later records
/// need them, with `is_context`.
std::unique_ptr<Recording> read_part(int descriptor, std::size_t begin, std::size_t size, std::string& error);

/// Thread-compatible.
class RecordingState {
 public:
  /// Returns null if the source is not a recording, and sets `error` to the reason.
  static std::unique_ptr<RecordingState> read(RecordingSource const& source, std::uint64_t since_ticks,
                                              std::string& error);
  /// As above, but takes a large source that can_read_later(), and reads the records from it each time that they are
  /// needed. Records that are overwritten until then are lost.
  static std::unique_ptr<RecordingState> read(std::unique_ptr<RecordingSource>& source, std::string& error);
  /// Reads only the header.
  static std::unique_ptr<RecordingState> read_header(RecordingSource const& source, std::string& error);
  RecordingState(RecordingState const&) = delete;
  RecordingState& operator=(RecordingState const&) = delete;
  ~RecordingState();

  enum class Content : bool { records, sites };
  /// Reads a chunk with this head, if it has such content.
  void read_chunk(RecordingSource const& source, std::uint32_t number, internal::ChunkHead const& head, Content content,
                  CutOff& cut, std::uint64_t since_ticks = 0, int attempts = 2);
  /// Reads what was added to a chunk of this recording, of which the records are in memory. Returns false if the chunk
  /// has changed hands.
  bool read_more(RecordingSource const& source, RecordedChunk& chunk);
  /// Returns the chunks of each track, in the order of their records.
  std::map<std::uint64_t, std::vector<RecordedChunk*>> chunks_by_track();
  void add_track(std::vector<RecordedChunk*> of_track);
  void sort_threads();
  std::size_t size_bytes() const noexcept { return record_bytes_; }
  /// How many records have this type.
  std::uint64_t count_of(EntryType type) const noexcept { return counts_[static_cast<std::uint8_t>(type)]; }
  /// Returns the records of a chunk. Reads them into `buffer`, unless they are in memory. Returns none if they have
  /// been overwritten.
  std::string_view records_of(RecordedChunk const& chunk, std::vector<std::uint64_t>& buffer) const;
  /// Returns the callsite that has this number in a chunk; null if the recording does not describe it.
  Metadata const* callsite(RecordedChunk const& chunk, std::uint32_t number) const noexcept;
  /// See Recording::narrow().
  bool narrow(bool (*is_wanted)(void* context, Piece const& piece), void* context);
  void narrow_to_marks() noexcept;
  void widen() noexcept;
  Thread thread(std::uint64_t number) const;
  void report(std::string problem);
  /// Returns the track that stands for a foreign track: `foreign` itself, unless there are very many.
  std::uint64_t known_track(std::uint64_t foreign);
  std::string_view name_of_foreign(std::uint64_t track) const;

  std::uint64_t process = 0;
  internal::ChunkClock clock;  // for chunks without a clock of their own
  std::uint64_t from_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t dropped = 0;
  int growth_error = 0;
  std::uint64_t interrupted = 0;
  std::deque<RecordedChunk> chunks;
  std::vector<std::unique_ptr<RecordedSite>> sites;  // by number, from 1
  std::vector<TrackSummary> tracks;
  std::vector<Thread> threads;
  std::vector<std::vector<RecordedChunk*>> chunks_of_tracks;  // the same order as `tracks`
  std::vector<std::string> problems;
  std::unordered_map<std::uint32_t, std::uint64_t> losses;  // by tag

 private:
  RecordingState();
  static void find_known_spans(std::vector<RecordedChunk*> const& of_track) noexcept;
  void read_all_chunks(RecordingSource const& source, std::uint64_t since_ticks);
  void take_in(RecordedChunk& chunk, std::size_t from, RecordingSource const& source);
  void read_description(RecordedChunk& chunk, internal::RecordHead const& head, std::string_view content,
                        std::size_t at, RecordingSource const& source);
  void read_site(RecordedChunk& chunk, std::size_t at, std::size_t max_sites);
  void read_thread_name(RecordedChunk& chunk, std::string_view content, std::uint8_t flags);

  std::unique_ptr<RecordingSource const> source_;  // null if the records are in memory
  std::vector<std::uint64_t> spare_words_;         // for the words of the next chunk, if they are not kept
  std::size_t record_bytes_ = 0;
  std::array<std::uint64_t, 256> counts_{};  // of records, by type
  std::unordered_map<std::uint64_t, std::string> foreign_names_;
  std::vector<std::unique_ptr<RecordedSite>> replaced_sites_;  // entries that were visited may refer to them
  std::unordered_set<std::uint64_t> foreign_tracks_;           // of the entries that were visited
};

}  // namespace recording
}}  // namespace tracing::v1
