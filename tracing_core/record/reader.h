// Recording: a recording that is read, in the process that writes it or from a file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/record/chunk_clock.h"
#include "tracing_core/record/layout.h"
#include "tracing_core/record/site_reader.h"

namespace tracing::inline v1::internal {

class Region;

/// One record. Everything in it is valid during the call that it was passed to.
struct RecordEntry {
  RecordType type = RecordType::event;
  std::uint8_t flags = 0;
  bool is_context = false;  ///< from before start_at(): only what later records need to know
  std::uint32_t tag = 0;
  std::uint64_t ticks = 0;
  std::uint64_t ns_per_tick = 0;  ///< times 2^32
  Instant time{};
  std::uint64_t writer = 0;   ///< the thread that recorded it
  std::uint64_t chunk_track = 0;  ///< the track of its chunk, which has the number of the first of several threads
  std::uint64_t ordinal = 0;  ///< how many records that track made before; of a restated record, of the next one
  std::uint64_t track = 0;    ///< the same as `writer`, unless it is foreign
  std::string_view track_name{};  ///< at that moment
  std::uint64_t span = 0;     ///< its key; of an event, its parent or zero
  std::uint64_t parent = 0;   ///< of a span that begins: its parent or zero
  std::uint64_t cause = 0;    ///< of follows_from
  std::uint32_t span_tag = 0;     ///< of `state`: the tag when the span began
  std::uint64_t duration_ns = 0;  ///< of timed
  Metadata const* metadata = nullptr;  ///< null if the record has no callsite
  Value const* values = nullptr;       ///< in the order of the statement's arguments; null if it has none
};

struct RecordedThread {
  std::uint64_t number = 0;
  std::int64_t os_thread = 0;  // zero: not known
  std::string name{};
};

/// A thread, or several short ones, each of which went on where the one before had ended.
struct RecordedTrack {
  std::uint64_t number = 0;         ///< of the first thread
  RecordedThread thread{};          ///< the last one
  std::vector<std::uint64_t> open;  ///< keys of the spans that it is in, outermost first, after the last record
  std::uint64_t lost = 0;           ///< records that are not in the recording
};

struct LostRecords {
  std::uint64_t count = 0;
  bool is_exact = true;  ///< otherwise there may be more: of many tags, the writer counts only some
};

/// Reads what makes sense of any bytes, and says in problems() where that ends. Takes memory proportional to the
/// recording, not to the holes of its file. Thread-compatible.
class Recording {
 public:
  /// Null, and `error` says why, if there is no such file or it is no recording.
  static std::unique_ptr<Recording> read_file(std::string const& path, std::string& error);
  /// The same from the bytes of a file.
  static std::unique_ptr<Recording> read_bytes(std::string_view bytes, std::string& error);
  /// What a region contains now, while other threads write to it: at least the records from `from_ticks`. Null if memory
  /// ran out.
  static std::unique_ptr<Recording> read_region(Region const& region, std::uint64_t from_ticks = 0);
  Recording(Recording const&) = delete;
  Recording& operator=(Recording const&) = delete;
  ~Recording();

  /// Calls `f(RecordEntry const&)` for each record in the order of time.
  template <class F>
  void for_each(F&& f) {
    using Function = std::remove_reference_t<F>;
    visit([](void* context, RecordEntry const& entry) { (*static_cast<Function*>(context))(entry); },
          const_cast<void*>(static_cast<void const*>(&f)));
  }

  /// Whether it has a record of this type. Reads only the beginnings of records, so it is much faster than for_each().
  bool has(RecordType type) const noexcept;
  /// How many records for_each() visits, about: some are only about the recording itself.
  std::uint64_t record_count() const noexcept;
  /// The size of all records. A sparse or damaged file may be much larger.
  std::size_t size_bytes() const noexcept;

  std::uint64_t process() const noexcept { return process_; }
  /// See Region::growth_error(). Any number if the recording is damaged.
  int growth_error() const noexcept { return growth_error_; }
  /// When it began.
  Instant start() const noexcept { return clock_.time_of(from_ticks_); }
  /// From now on what is of interest begins here: for_each() passes earlier records as `is_context`.
  void start_at(std::uint64_t ticks) noexcept { from_ticks_ = ticks; }
  /// When it ended, after its last record: what is open lasts until then. Zero if that is not known.
  Instant end() const noexcept { return end_ticks_ == 0 ? Instant{} : clock_.time_of(end_ticks_); }
  void end_at(std::uint64_t ticks) noexcept { end_ticks_ = ticks; }
  /// By number. `thread`, `open` and `lost` are known after for_each().
  std::vector<RecordedTrack> const& tracks() const noexcept { return tracks_; }
  /// By number, with the tracks of marks.
  std::vector<RecordedThread> const& threads() const noexcept { return threads_; }
  /// Without a name and a system id if the recording does not have it.
  RecordedThread thread(std::uint64_t number) const;
  /// The number of records for which there was no room at all.
  std::uint64_t dropped() const noexcept { return dropped_; }
  /// The number of records that are missing since their thread was making another one, as in a signal's handler.
  std::uint64_t interrupted() const noexcept { return interrupted_; }
  /// The records that are not there any more, with those for which there was no room. REQUIRES: for_each() was called.
  LostRecords lost() const noexcept;
  /// How many of them had this tag; zero also if that is not known.
  std::uint64_t lost_of(std::uint32_t tag) const noexcept;
  /// A sentence for each piece that makes no sense.
  std::vector<std::string> const& problems() const noexcept { return problems_; }

 private:
  friend class RecordingFollower;
  struct Chunk;
  struct Cut;
  class Source;
  class Cursor;

  Recording();
  static std::unique_ptr<Source> open_file(std::string const& path, std::string& error);
  static std::unique_ptr<Recording> read(Source const& source, std::uint64_t from_ticks, std::string& error);
  static std::unique_ptr<Recording> read_header(Source const& source, std::string& error);
  enum class Content : bool { records, sites };
  bool read_chunk(Source const& source, std::uint32_t number, Content content, Cut& cut, std::uint64_t from_ticks = 0);
  std::map<std::uint64_t, std::vector<Chunk*>> chunks_by_track();
  void read_descriptions(std::size_t max_sites);
  void read_site(Chunk& chunk, std::size_t at, std::size_t max_sites);
  void read_thread_name(Chunk& chunk, std::string_view content, std::uint8_t flags);
  void add_track(std::vector<Chunk*> chunks);
  void sort_threads();
  void visit(void (*each)(void* context, RecordEntry const& entry), void* context);
  void report(std::string problem);
  // The track that stands for a foreign one: itself, unless there are very many.
  std::uint64_t known_track(std::uint64_t foreign);

  std::uint64_t process_ = 0;
  ChunkClock clock_;  // of chunks that have none
  std::uint64_t from_ticks_ = 0;
  std::uint64_t end_ticks_ = 0;
  std::uint64_t dropped_ = 0;
  int growth_error_ = 0;
  std::uint64_t interrupted_ = 0;
  std::deque<Chunk> chunks_;
  std::vector<std::unique_ptr<RecordedSite>> sites_;  // by number, from 1
  std::vector<RecordedTrack> tracks_;
  std::vector<RecordedThread> threads_;
  std::unordered_map<std::uint64_t, std::string> foreign_names_;
  std::unordered_set<std::uint64_t> foreign_tracks_;  // of the records that were visited
  std::vector<std::vector<Chunk*>> chunks_of_tracks_;  // the same order
  std::vector<std::string> problems_;
  std::unordered_map<std::uint32_t, std::uint64_t> losses_;  // by tag
};

}  // namespace tracing::inline v1::internal
