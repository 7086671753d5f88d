// draw_timeline(): draws a recording as rows, slices, marks, counters and arrows, whatever the format of the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace recording {

// Receives what draw_timeline() draws, to write it in the format of a trace. The slices of a row nest. The times of a
// row do not go backwards: a time that is earlier than the latest so far is moved there.
class Timeline {
 public:
  using Row = std::uint64_t;  // never zero
  struct Slice {
    Row row = 0;
    Instant begin{};
    SpanRef span{};
    std::uint64_t key = 0;   // of the span
    bool has_links = false;  // arrows lead here from the span's causes, and from here to the spans that follow it
    bool is_part = false;    // a part of a held span: an arrow leads here from the slice of the whole span
  };

  Timeline() = default;
  Timeline(Timeline const&) = delete;
  Timeline& operator=(Timeline const&) = delete;
  virtual ~Timeline() = default;

  virtual Row add_thread(std::int64_t tid, std::string_view name) = 0;
  // Adds a track other than a thread, such as a GPU stream. `number` differs between tracks.
  virtual Row add_track(std::uint64_t number, std::string_view name) = 0;
  // Adds a row for tests. Returns nothing if tests are slices around the spans of their threads instead.
  virtual std::optional<Row> add_tests() = 0;
  virtual Row add_counter(std::string_view name) = 0;

  virtual void begin(Slice const& slice) = 0;
  // `tag` is the tag of the test's records.
  virtual void begin_test(Row row, Instant time, std::string_view name, std::uint32_t tag) = 0;
  struct End {
    Row row = 0;
    Instant time{};
    SpanRef span{};             // empty: the slice is a test
    std::uint32_t changes = 0;  // StoredValues::changes() of the span when the slice began
    bool is_known = true;       // false: the recording ends here, but the span did not
  };
  // Ends the innermost slice of the row.
  virtual void end(End const& end) = 0;
  // Adds the whole of a span that was entered on another track than it was made on, or several times, or never. `end`:
  // empty if the span did not end.
  virtual void add_held(Slice const& slice, std::optional<Instant> end) = 0;
  virtual void mark(Row row, Instant time, Event const& event, std::string_view name) = 0;
  virtual void count(Row row, Instant time, Value const& number) = 0;
};

// Draws a row for each thread and each other track, with a slice while it is in a span and a mark for each event. A
// span that is entered on another track than it was made on, or several times, or never, also gets a slice of its own.
// Fields `counter.<name>` of events are the values of counters. `links` is SpanLinks::of() the recording.
void draw_timeline(TraceSource source, SpanLinks const& links, Timeline& timeline);

// Returns true if a field is shown with its slice or mark; false for the message and for counters.
bool is_argument(Metadata const& metadata, std::size_t field) noexcept;

// Calls `each(FieldValues const&)` for groups of the span's values, each field once, while the span is locked.
template <class F>
void for_each_value_of(SpanRef span, F&& each) {
  SpanLock const lock = span.lock();
  span.values().for_each_last_group(span.metadata(), each);
}

// Calls `each(FieldValues const&)` for all groups of values that were recorded after the span's beginning, while the
// span is locked. Does nothing if the span has not changed since `changes`.
template <class F>
void for_each_value_since(SpanRef span, std::uint32_t changes, F&& each) {
  SpanLock const lock = span.lock();
  if (span.values().changes() == changes) return;
  bool is_first = true;
  span.values().for_each_group(span.metadata(), [&](FieldValues const& values) {
    if (!std::exchange(is_first, false)) each(values);
  });
}

// Calls `f` with the text of a value: a text itself, or any other value as it is printed, up to 1 MiB.
template <class F>
void with_text_of(Value const& value, F&& f) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  if (value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim)
    return f(value.as_text().substr(0, kMaxBytes));
  InlineTextBuffer<256> printed;
  append_debug(printed, value);
  f(printed.view().substr(0, kMaxBytes));
}

}}}  // namespace tracing::v1::recording
