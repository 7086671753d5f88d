// CrashReader: reads a recording where nothing may lock or allocate, as in the handler of a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/record/decode/decoder.h"
#include "tracing_core/record/decode/site_reader.h"
#include "tracing_core/record/ring/record_layer.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Async-signal-safe: takes no lock and allocates nothing. So the object has some 3 MiB, but touches only what it
/// needs, and must be made beforehand. Reads copies of chunks, so other threads may go on recording. Reads at most 64
/// tracks: start() reads the events of all tracks; go_to_end_of() reads the last events of one track, and the spans
/// that the track is in.
class CrashReader {
 public:
  static constexpr std::size_t kMaxTracks = 64;
  static constexpr std::size_t kMaxEnded = 8;
  static constexpr std::size_t kMaxDepth = 64;

  CrashReader() noexcept = default;
  CrashReader(CrashReader const&) = delete;
  CrashReader& operator=(CrashReader const&) = delete;

  /// Reads the records from `from_ticks` until now. `store` must live as long as it is read.
  void start(internal::RecordStore const& store, std::uint64_t from_ticks) noexcept;
  /// Finds the tracks to which threads may still add, then the last eight tracks whose threads have ended since
  /// `ended_since`. go_to_end_of() goes to any of these tracks. `store` must live as long as it is read.
  std::size_t find_tracks(internal::RecordStore const& store, std::uint64_t ended_since) noexcept;
  /// Reads the last chunks of a track until now. Each chunk begins with the spans that its track was in then. Returns
  /// false if the track has no chunks.
  bool go_to_end_of(std::size_t track) noexcept;
  /// Reads the same records again, until the time of the last call of go_to_end_of(). Returns false if the records were
  /// overwritten meanwhile.
  bool go_to_same_end_of(std::size_t track) noexcept;

  /// The time of the last call of start(), find_tracks() or go_to_end_of().
  std::uint64_t until_ticks() const noexcept { return until_ticks_; }
  /// Goes to the next event in the order of time. Returns false at the end.
  bool next() noexcept;
  /// True if there are more tracks than it reads.
  bool skips_tracks() const noexcept { return skips_tracks_; }

  // The event; valid until next().
  std::uint64_t ticks() const noexcept { return now_->record.ticks; }
  std::uint32_t tag() const noexcept { return now_->record.tag; }
  bool shown() const noexcept { return (now_->record.flags & internal::kShown) != 0; }
  Track track() const noexcept;
  /// The number of the thread that recorded the event. After go_to_open_spans(): the track's last thread.
  std::uint64_t thread() const noexcept { return now_->decoder.thread(); }
  FieldValues values() const noexcept { return FieldValues(*event_room_.metadata, event_room_.values()); }

  /// The whole size of a text of the event or of its spans. If it is greater than text.size(), the recording has only
  /// the text's beginning.
  std::size_t whole_size(std::string_view text) const noexcept;

  /// Call it after the last event of go_to_end_of(track). The calls below then give the spans that the track is in.
  void go_to_open_spans(std::size_t track) noexcept;
  /// The system's number of the thread; known only after go_to_end_of().
  std::int64_t os_thread() const noexcept { return now_->os_thread; }
  struct Begin {
    std::uint64_t ticks = 0;
    enum Kind : std::uint8_t { entered, made, before } kind = before;  ///< `before`: not later than `ticks`
  };
  /// Returns when a span of go_to_open_spans() began.
  Begin begin_of_span(std::size_t index) noexcept;

  // The spans around the event; number 0 is the innermost.
  std::size_t depth() const noexcept { return depth_; }
  bool has_more_spans() const noexcept { return has_more_spans_; }
  std::uint32_t tag_of_span(std::size_t index) const noexcept { return path_[index]->tag; }
  /// Valid until the next call.
  Metadata const& span(std::size_t index) noexcept;
  /// Calls `f(FieldValues const&)` for each group of values that the span had at the event; the newest value of a field
  /// comes last.
  template <class F>
  void for_each_group(std::size_t index, F&& f) noexcept {
    Found const& found = *path_[index];
    for (std::size_t at = found.offset; at < now_->values_until;) {
      internal::RecordHead const head = now_->chunk.head_at(at);
      bool const is_later = at != found.offset && head.type == internal::RecordType::values;
      if (at == found.offset || is_later) {
        bool const makes_sense = read_values(*now_, at, span_room_);
        if (makes_sense && (!is_later || pieces_.references[0] == found.key))
          f(FieldValues(*span_room_.metadata, span_room_.values()));
      }
      if (!now_->has_later_values || head.words == 0) break;
      at += std::size_t{head.words} * 8;
    }
  }

 private:
  // A span that a chunk describes.
  struct Found {
    std::uint64_t key;
    std::uint64_t parent;
    std::uint32_t tag;
    std::uint32_t offset;
  };
  // A copy of a chunk at one moment, since the thread may go on writing.
  struct ChunkCopy {
    std::uint64_t first_ticks;
    std::uint64_t first_record;
    std::uint64_t first_span;
    std::uint32_t tag;
    std::size_t size;
    alignas(8) char bytes[internal::kChunkBytes];

    // Returns the bytes from `at` on; empty past the end.
    std::string_view from(std::size_t at) const noexcept {
      return at < size ? std::string_view(bytes + at, size - at) : std::string_view();
    }
    // Returns a head of zeros at the end.
    internal::RecordHead head_at(std::size_t at) const noexcept {
      internal::RecordHead head{};
      if (at + sizeof(head) <= size) std::memcpy(&head, bytes + at, sizeof(head));
      return head;
    }
  };
  // Finds callsites of a chunk. Has room for a callsite that the chunk describes, and for the values of a record.
  struct Room final : SiteSource {
    Room() noexcept {}  // touches none of the room
    Metadata const* find(std::uint32_t number) noexcept override;
    void look_at(internal::RecordStore const& in, ChunkCopy const& copy) noexcept { store = &in, chunk = &copy; }
    Value* values() noexcept { return reinterpret_cast<Value*>(value_bytes); }
    Value const* values() const noexcept { return reinterpret_cast<Value const*>(value_bytes); }

    internal::RecordStore const* store;
    ChunkCopy const* chunk;
    Metadata const* metadata;  // of the record whose values are here
    internal::FieldEntry fields[SiteRoom::kMaxFields];
    internal::MessagePlaceholder placeholders[SiteRoom::kMaxPlaceholders];
    alignas(Metadata) char local[sizeof(Metadata)];
    alignas(Value) char value_bytes[256 * sizeof(Value)];
  };
  // Reads a track, from copies of its chunks.
  struct Cursor {
    Cursor(std::uint64_t number, SiteSource& sites) noexcept
        : track(number), spans(stack, std::size(stack)), decoder(number, sites, spans) {}

    std::uint64_t track;
    std::int64_t os_thread = 0;
    bool is_at_end = true;
    bool has_later_values = false;  // of spans
    std::size_t values_until = 0;   // how far values of spans are read
    std::size_t found_count = 0;
    std::size_t name_size = 0;
    SpanTracker<std::uint64_t> spans;
    Decoder decoder;
    Entry record;  // the event
    std::uint64_t stack[internal::kChunkBytes / sizeof(internal::RecordHead)];
    Found found[internal::kChunkBytes / sizeof(internal::RecordHead)];
    char name[64];
    ChunkCopy chunk;
  };
  union Slot {  // made when it is used
    Slot() noexcept {}
    ~Slot() {}
    Cursor cursor;
  };

  void start(internal::RecordStore const& store) noexcept;
  Cursor& cursor(std::size_t track) noexcept { return slots_[track].cursor; }
  void add_cursor(std::uint64_t track) noexcept;
  Found const* find_span(Cursor const& cursor, std::uint64_t key) const noexcept;
  bool load_next_chunk(Cursor& cursor) noexcept;
  bool copy_chunk(ChunkCopy& to, std::uint32_t chunk) noexcept;
  void advance(Cursor& cursor) noexcept;
  void learn(Cursor& cursor) noexcept;
  bool read_values(Cursor const& cursor, std::size_t at, Room& room) noexcept;
  bool read_event() noexcept;

  internal::RecordStore const* store_;
  std::uint64_t from_ticks_;
  std::uint64_t until_ticks_;  // without this limit, a thread that goes on recording would be read for ever
  std::size_t track_count_;
  bool skips_tracks_;
  Cursor* now_;
  std::size_t depth_;
  bool has_more_spans_;
  Found const* path_[kMaxDepth];
  RecordPieces pieces_;
  Room event_room_, span_room_, decoder_room_;
  Slot slots_[kMaxTracks];
  ChunkCopy searched_;  // for the begin of a span
};

}}}  // namespace tracing::v1::recording
