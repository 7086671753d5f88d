// Entry: a record of a recording, as readers see it.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/model/field_values.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace recording {

/// The type of an entry, by its number in the file. Types that describe the recording itself never reach a reader.
enum class EntryType : std::uint8_t {
  site = 1,     ///< describes a callsite
  track,        ///< describes the chunk's track: its system id and name
  tag,          ///< records from here on have the tag `site`
  state,        ///< describes a span that was opened before the chunk, and its tag
  scope_begin,  ///< a span is opened and entered; its parent is the innermost span
  scope_end,    ///< the innermost span is left and closed
  event,
  new_span,  ///< a span is opened
  enter,
  exit,
  close,
  values,  ///< values are recorded in an open span
  follows_from,
  timed,   ///< the innermost span, a perf span, ends: its duration in nanoseconds
  mark,    ///< like an event in no span, but about the run of tests: its callsite says what
  clock,   ///< turns the ticks of the chunk's records into times
  thread,  ///< records from here on are of another thread, which goes on in the chunk of a thread that has ended
};

// Steps that an entry makes with its span. Two types make two steps at once.
constexpr bool begins_span(EntryType type) noexcept {
  return type == EntryType::scope_begin || type == EntryType::new_span;
}
constexpr bool enters_span(EntryType type) noexcept {
  return type == EntryType::scope_begin || type == EntryType::enter;
}
constexpr bool leaves_span(EntryType type) noexcept { return type == EntryType::scope_end || type == EntryType::exit; }
constexpr bool ends_span(EntryType type) noexcept { return type == EntryType::scope_end || type == EntryType::close; }

/// Valid, with all that it refers to, during the call that it was passed to; `metadata` as long as the recording.
struct Entry {
  static constexpr std::uint8_t kRestated = 8;
  static constexpr std::uint8_t kForeign = 32;
  static constexpr std::uint8_t kShown = 64;
  static constexpr std::uint8_t kByException = 128;

  EntryType type = EntryType::event;
  std::uint8_t flags = 0;  ///< the bits of docs/recording-format.md
  std::uint32_t tag = 0;   ///< of the test, zero outside tests
  std::uint64_t ticks = 0;
  std::uint64_t ns_per_tick = 0;  ///< times 2^32
  Instant time{};
  std::uint64_t writer = 0;       ///< the thread that recorded it
  std::uint64_t ordinal = 0;      ///< how many records its chunk's track made before; of a restated record, of the next
  std::uint64_t track = 0;        ///< `writer`, or the other track that the entry is about, such as a stream of a GPU
  std::uint64_t span = 0;         ///< its key; of an event, the key of the span around it, or zero
  std::uint64_t parent = 0;       ///< of a span that begins: the key of its parent, or zero
  std::uint64_t cause = 0;        ///< of follows_from: the key of the span that `span` follows
  std::uint32_t span_tag = 0;     ///< of `state`: the tag when the span began
  std::uint64_t duration_ns = 0;  ///< of timed
  Metadata const* metadata = nullptr;  ///< its callsite; null if it has none
  bool is_context = false;             ///< from before start_at(): only for what later entries need to know
  bool is_after_left_out = false;      ///< `ordinal` may jump because of Recording::narrow(), not of a loss
  std::uint64_t chunk_track = 0;       ///< the track of its chunk: the first of several threads that shared it
  std::string_view track_name{};       ///< at that moment
  Value const* values = nullptr;       ///< in the order of the statement's arguments; null if it has none

  /// True if the entry repeats what was recorded before, for readers that miss the records before.
  bool is_restated() const noexcept { return (flags & kRestated) != 0; }
  /// True if the entry, or the beginning of its span, was printed when it happened.
  bool was_shown() const noexcept { return (flags & kShown) != 0; }
  /// True if an exception left the span. Only test programs record this, and only of spans that they are in, not of
  /// spans that begin while an exception unwinds the stack.
  bool is_by_exception() const noexcept { return leaves_span(type) && (flags & kByException) != 0; }
  /// True if `time` was given with the entry, which then need not be in the order of time.
  bool has_own_time() const noexcept { return (flags & kForeign) != 0; }
  /// REQUIRES: metadata != nullptr.
  FieldValues fields() const noexcept { return FieldValues(*metadata, values); }
};

}}}  // namespace tracing::v1::recording
