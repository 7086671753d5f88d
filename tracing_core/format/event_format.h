// EventFormat: makes the text of one event. The formats are full, compact, pretty and JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "tracing_core/collect/layer.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/format/style.h"
#include "tracing_core/format/timer.h"

namespace tracing::inline v1 {

/// What is printed as one line or block: an event, or a change of a span. Valid during the call.
struct EventView {
  Metadata const& metadata;  ///< of the event, or of the span that changed
  FieldValues fields;
  SpanRef scope;             ///< the parent; empty for a root
  SpanRef shown;             ///< the same, but for a root the current span of the thread
  Context const& context;    ///< track, time, and the current span of the track
};

/// Makes the text of one event. Thread-safe.
class EventFormat {
 public:
  EventFormat() = default;
  EventFormat(EventFormat const&) = delete;
  EventFormat& operator=(EventFormat const&) = delete;
  virtual ~EventFormat() = default;

  /// Appends the complete text with its line ends. If false, nothing is printed.
  virtual bool append(TextBuffer& out, EventView const& event) const noexcept = 0;
};

enum class FormatKind : std::uint8_t {
  full,     ///< `time LEVEL span{fields}:span{fields}: target: message fields`
  compact,  ///< `time LEVEL span:span: target: message fields span fields`
  pretty,   ///< several lines, for people
  json,     ///< an object on a line, for programs
};

/// How the four formats print. The fields do not depend on each other unless stated.
struct FormatOptions {
  FormatKind kind = FormatKind::full;
  bool ansi = false;               ///< colours; JSON has none
  bool ansi_sanitization = true;   ///< escape control characters in messages and error texts
  bool name_sanitization = true;   ///< escape these and line ends in names of targets, spans, fields and threads
  bool value_sanitization = false; ///< escape these in all values, too, and indent further lines; JSON needs neither
  bool shorten_span_values = false; ///< of a span's value that is longer, print the first 4 KiB and the size in bytes
  /// Print a field that was recorded several times with each of its values, `percent=0 percent=1`, as the reference does.
  /// Spans and lines then grow with each record(). Otherwise the last value is in the place of the first.
  bool all_values = false;
  /// Of JSON: let a field keep its name if the object has another member of this name, as the reference does. Readers then
  /// see only one of the two. Otherwise the field is `fields.<name>`.
  bool repeated_names = false;
  bool target = true;
  bool level = true;
  std::optional<bool> file{};         ///< on for pretty, off for the others
  std::optional<bool> line_number{};  ///< on for pretty, off for the others
  bool thread_ids = false;         ///< `ThreadId(01)`
  bool thread_names = false;       ///< the number if a thread has no name
  std::shared_ptr<Timer const> timer = utc_timer();  ///< null: no time, and no durations when spans close
  std::shared_ptr<FieldFormat const> fields{};        ///< null: the format's own; JSON always uses its own
  // Of JSON:
  bool flatten_event = false;      ///< put the event's fields into the outermost object
  bool current_span = true;        ///< "span": the innermost span
  bool span_list = true;           ///< "spans": all spans, the outermost first
};

/// One of the four formats.
std::shared_ptr<EventFormat const> make_event_format(FormatOptions const& options);

/// An event format that calls `append`, a `bool(TextBuffer& out, EventView const& event)` that is thread-safe and does
/// not throw.
template <class F>
  requires requires(F f, TextBuffer& out, EventView const& event) { bool{f(out, event)}; }
std::shared_ptr<EventFormat const> make_event_format(F append) {
  class Calling final : public EventFormat {
   public:
    explicit Calling(F&& f) : append_(std::move(f)) {}
    bool append(TextBuffer& out, EventView const& event) const noexcept override { return append_(out, event); }

   private:
    F append_;
  };
  return std::make_shared<Calling const>(std::move(append));
}

/// Calls `visit(context, span)` for `leaf` and all spans above it, the outermost first.
void visit_from_root(SpanRef leaf, void (*visit)(void* context, SpanRef span), void* context) noexcept;

/// Appends the time, or `<unknown time>`, and a blank; nothing without a timer.
void append_time(TextBuffer& out, Timer const* timer, EventView const& event, TextStyle style) noexcept;

}  // namespace tracing::inline v1
