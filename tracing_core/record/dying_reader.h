// DyingReader: reads a recording where nothing may lock or allocate, as in the handler of a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/record/record_layer.h"
#include "tracing_core/record/site_reader.h"
#include "tracing_core/record/value_reader.h"

namespace tracing::inline v1::internal {

/// Async-signal-safe: takes no lock and allocates nothing, so it has some 3 MiB, of which it touches what it needs, and must
/// be made beforehand. Other threads may go on recording, since it reads copies of chunks. Reads at most 64 tracks: start()
/// reads the events of all of them, go_to_end_of() the last events of one and the spans that it is in.
class DyingReader {
 public:
  static constexpr std::size_t kMaxTracks = 64;
  static constexpr std::size_t kMaxEnded = 8;
  static constexpr std::size_t kMaxDepth = 64;

  DyingReader() noexcept = default;
  DyingReader(DyingReader const&) = delete;
  DyingReader& operator=(DyingReader const&) = delete;

  /// Reads the records from `from_ticks` until now. `store` must live as long as it is read.
  void start(RecordStore const& store, std::uint64_t from_ticks) noexcept;
  /// Finds the tracks to which threads may still add, then the last eight whose threads ended since then; go_to_end_of() goes to
  /// one of them. `store` must live as long as it is read.
  std::size_t find_tracks(RecordStore const& store, std::uint64_t ended_since) noexcept;
  /// Reads from the last chunks of a track until now, each of which begins with the spans that it was in. False if there are
  /// none.
  bool go_to_end_of(std::size_t track) noexcept;
  /// Reads the same records again, until the time of the last call of go_to_end_of(). False if they are overwritten meanwhile.
  bool go_to_same_end_of(std::size_t track) noexcept;

  /// When start(), find_tracks() or go_to_end_of() was called last.
  std::uint64_t until_ticks() const noexcept { return until_ticks_; }
  /// Goes to the next event in the order of time. False at the end.
  bool next() noexcept;
  /// Whether tracks are left out.
  bool skips_tracks() const noexcept { return skips_tracks_; }

  // The event; valid until next().
  std::uint64_t ticks() const noexcept { return now_->event_ticks; }
  std::uint32_t tag() const noexcept { return now_->tag; }
  bool shown() const noexcept { return (event_.flags & kShown) != 0; }
  Track track() const noexcept;
  /// The number of the thread that recorded it; after go_to_open_spans() of the last thread of the track.
  std::uint64_t thread() const noexcept { return now_->thread; }
  FieldValues values() const noexcept { return FieldValues(*event_room_.metadata, event_room_.values()); }

  /// The size of a text of the event or of its spans, of which the recording has only the beginning if that is greater.
  std::size_t whole_size(std::string_view text) const noexcept;

  /// After the last event of go_to_end_of(track): the spans below are those that the track is in.
  void go_to_open_spans(std::size_t track) noexcept;
  /// The system's number of the thread; of go_to_end_of() only.
  std::int64_t os_thread() const noexcept { return now_->os_thread; }
  struct Begin {
    std::uint64_t ticks = 0;
    enum Kind : std::uint8_t { entered, made, before } kind = before;  ///< `before`: not later than `ticks`
  };
  /// When a span of go_to_open_spans() began.
  Begin begin_of_span(std::size_t index) noexcept;

  // The spans around the event, the innermost one is number 0.
  std::size_t depth() const noexcept { return depth_; }
  bool has_more_spans() const noexcept { return has_more_spans_; }
  std::uint32_t tag_of_span(std::size_t index) const noexcept { return path_[index]->tag; }
  /// Valid until the next call.
  Metadata const& span(std::size_t index) noexcept;
  /// Calls `f(FieldValues const&)` for each group of values that the span had at the event, the last ones of a field last.
  template <class F>
  void for_each_group(std::size_t index, F&& f) noexcept {
    Found const& found = *path_[index];
    for (std::size_t at = found.offset; at != now_->at;) {
      RecordHead const head = head_at(*now_, at);
      if (at == found.offset || (head.type == RecordType::values && reference(*now_, at, 0) == found.key)) {
        if (read_values(*now_, at, span_room_)) f(FieldValues(*span_room_.metadata, span_room_.values()));
      }
      if (!now_->has_later_values) break;
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
  // Reads a copy of a chunk of one track.
  struct Cursor {
    std::uint64_t track;
    std::uint64_t thread;
    std::int64_t os_thread;
    std::uint64_t event_ticks;
    std::uint64_t first_ticks;
    std::uint64_t first_record;
    std::uint64_t next_span;
    std::uint32_t tag;
    bool is_at_end;
    bool has_later_values;  // of spans
    std::size_t at;         // the event
    std::size_t next;       // the record after it
    std::size_t size;
    std::size_t depth;
    std::size_t found_count;
    std::size_t name_size;
    std::uint64_t stack[kChunkBytes / sizeof(RecordHead)];
    Found found[kChunkBytes / sizeof(RecordHead)];
    char name[64];
    alignas(8) char bytes[kChunkBytes];
  };
  // The callsite of a record and its values.
  struct Room {
    Metadata const* metadata;
    bool has_values;
    FieldEntry fields[SiteRoom::kMaxFields];
    MessagePlaceholder placeholders[SiteRoom::kMaxPlaceholders];
    alignas(Metadata) char local[sizeof(Metadata)];  // one that the chunk describes
    alignas(Value) char value_bytes[256 * sizeof(Value)];

    Value* values() noexcept { return reinterpret_cast<Value*>(value_bytes); }
    Value const* values() const noexcept { return reinterpret_cast<Value const*>(value_bytes); }
  };

  static RecordHead head_at(Cursor const& cursor, std::size_t at) noexcept;
  void start(RecordStore const& store) noexcept;
  Cursor* cursor_of(std::uint64_t track) noexcept;
  Found const* find_span(Cursor const& cursor, std::uint64_t key) const noexcept;
  bool load_next_chunk(Cursor& cursor) noexcept;
  bool copy_chunk(Cursor& cursor, std::uint32_t chunk) noexcept;
  void advance(Cursor& cursor) noexcept;
  void apply(Cursor& cursor, RecordHead const& head) noexcept;
  void add_span(Cursor& cursor, std::uint64_t key, std::uint64_t parent, std::uint32_t tag) noexcept;
  std::uint64_t reference(Cursor const& cursor, std::size_t at, unsigned index) noexcept;
  // After the kinds of values and the words of kForeign; false if the callsite is not known.
  bool skip_to_references(Cursor const& cursor, std::size_t at, Room& room, ValueReader& content,
                          std::string_view& more_kinds) noexcept;
  bool find_site(Cursor const& cursor, std::uint32_t site, Room& room) noexcept;
  bool read_values(Cursor const& cursor, std::size_t at, Room& room) noexcept;
  bool read_event() noexcept;

  RecordStore const* store_;
  std::uint64_t from_ticks_;
  std::uint64_t until_ticks_;  // or a thread that goes on recording would be read for ever
  std::size_t track_count_;
  bool skips_tracks_;
  Cursor* now_;
  RecordHead event_;
  std::uint64_t foreign_track_;
  std::size_t depth_;
  bool has_more_spans_;
  Found const* path_[kMaxDepth];
  Room event_room_, span_room_, reference_room_;
  Cursor cursors_[kMaxTracks];
  Cursor searched_;  // for the begin of a span
};

}  // namespace tracing::inline v1::internal
