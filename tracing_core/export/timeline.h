// draw_timeline(): what a trace shows of a recording, whatever its format: rows, slices, marks, counters and arrows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/export/trace_source.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {

// What draws. The slices of a row nest, and its times do not go backwards: an earlier one is moved to the latest.
class Timeline {
 public:
  using Row = std::uint64_t;  // never zero
  struct Slice {
    Row row = 0;
    Instant begin{};
    SpanRef span{};
    std::uint64_t key = 0;   // of the span
    bool has_links = false;  // arrows lead here from the span's causes, and from here to what follows it
    bool is_part = false;    // of a held span: an arrow leads here from the slice of the whole
  };

  Timeline() = default;
  Timeline(Timeline const&) = delete;
  Timeline& operator=(Timeline const&) = delete;
  virtual ~Timeline() = default;

  virtual Row add_thread(std::int64_t tid, std::string_view name) = 0;
  // Of no thread, such as a GPU stream. `number` differs between tracks.
  virtual Row add_track(std::uint64_t number, std::string_view name) = 0;
  // None: tests are slices around the spans of their threads.
  virtual std::optional<Row> add_tests() = 0;
  virtual Row add_counter(std::string_view name) = 0;

  virtual void begin(Slice const& slice) = 0;
  virtual void begin_test(Row row, Instant time, std::string_view name) = 0;
  struct End {
    Row row = 0;
    Instant time{};
    SpanRef span{};            // empty: of a test
    std::uint32_t changes = 0;  // StoredValues::changes() of the span when the slice began
    bool is_known = true;      // no: the recording ends here, but the span did not
  };
  // Ends the innermost slice of the row.
  virtual void end(End const& end) = 0;
  // A whole span that is entered on another track than it was made on, several times or never. `end`: none if it did not end.
  virtual void add_held(Slice const& slice, std::optional<Instant> end) = 0;
  virtual void mark(Row row, Instant time, Event const& event, std::string_view name) = 0;
  virtual void count(Row row, Instant time, Value const& number) = 0;
};

// Each thread and each other track has a row, with a slice while it is in a span and a mark for each event. A span that is
// entered on another track than it was made on, or several times, or never, also has a slice of its own. Fields `counter.<name>` of events are the
// values of counters. `links` are those of the recording.
void draw_timeline(TraceSource source, SpanLinks const& links, Timeline& timeline);

// Whether a field is shown with its slice or mark: not the message and counters.
bool is_argument(Metadata const& metadata, std::size_t field) noexcept;

// Calls `each(FieldValues const&)` for groups of the span's values, each field once, while the span is locked.
template <class F>
void for_each_value_of(SpanRef span, F&& each) {
  SpanLock const lock = span.lock();
  span.values().for_each_last_group(span.metadata(), each);
}

// The same for all that were recorded since the span's beginning; for none if there were no changes after `changes`.
template <class F>
void for_each_value_since(SpanRef span, std::uint32_t changes, F&& each) {
  SpanLock const lock = span.lock();
  if (span.values().changes() == changes) return;
  bool is_first = true;
  span.values().for_each_group(span.metadata(), [&](FieldValues const& values) {
    if (!std::exchange(is_first, false)) each(values);
  });
}

// Calls `f` with a text, or with what is printed of another value.
template <class F>
void with_text_of(Value const& value, F&& f) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  if (value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim) return f(value.as_text().substr(0, kMaxBytes));
  InlineTextBuffer<256> printed;
  append_debug(printed, value);
  f(printed.view().substr(0, kMaxBytes));
}

}  // namespace tracing::inline v1::internal
