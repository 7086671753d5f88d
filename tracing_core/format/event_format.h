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

namespace tracing { inline namespace v1 {

class RepeatedFields;
class SpanPrefix;

/// An event, or a change of a span, that is printed as one line or block. Valid only during the call.
struct EventView {
  Metadata const& metadata;  ///< metadata of the event, or of the span that changed
  FieldValues fields;
  SpanRef scope;           ///< the parent; empty for a root
  SpanRef shown;           ///< the parent; for a root the thread's current span
  Context const& context;  ///< track, time, and the current span of the track
};

/// Makes the text of one event. Thread-safe.
class EventFormat {
 public:
  EventFormat() = default;
  EventFormat(EventFormat const&) = delete;
  EventFormat& operator=(EventFormat const&) = delete;
  virtual ~EventFormat() = default;

  /// Appends the complete text with its line ends. Returns false if nothing is to be printed.
  virtual bool append(TextBuffer& out, EventView const& event) const noexcept = 0;
};

/// The order of the enumerators is the order of the words of TRACE_FORMAT in environment/variables.inc.
enum class FormatKind : std::uint8_t {
  full,     ///< `time LEVEL span{fields}:span{fields}: target: message fields`
  compact,  ///< `time LEVEL span:span: target: message fields span fields`
  pretty,   ///< several lines, for people
  json,     ///< an object on a line, for programs
};

namespace formatting {

/// Returns true if the format is for programs: each record is a JSON object on a line of its own, labels and times are
/// members of the object, and colours are left out.
constexpr bool is_json(FormatKind kind) noexcept { return kind == FormatKind::json; }

/// Returns the end of a record: a format of several lines has an empty line between records.
constexpr char const* record_end(FormatKind kind) noexcept { return kind == FormatKind::pretty ? "\n\n" : "\n"; }

}  // namespace formatting

/// Says how the four formats print. The fields do not depend on each other unless stated.
struct FormatOptions {
  FormatKind kind = FormatKind::full;
  bool ansi = false;              ///< use colours; JSON never does
  bool ansi_sanitization = true;  ///< escape control characters in messages and error texts
  bool name_sanitization = true;  ///< escape control characters and line ends in all names, also of targets and threads
  bool value_sanitization = false;  ///< escape them in all values, too, and indent further lines; JSON does not need it
  bool shorten_span_values = false;  ///< print only the first 4 KiB, and the size in bytes, of longer values of spans
  /// Print a field that was recorded several times with each of its values, `percent=0 percent=1`, as the reference
  /// does. Spans and lines then grow with each record(). Otherwise the last value is printed in place of the first
  /// value.
  bool all_values = false;
  /// For JSON: let a field keep its name even if the object has another member with this name, as the reference does.
  /// Readers then see only one of the two members. Otherwise the field is `fields.<name>`.
  bool repeated_names = false;
  bool target = true;
  bool level = true;
  std::optional<bool> file{};                        ///< on for pretty, off for the other formats
  std::optional<bool> line_number{};                 ///< on for pretty, off for the other formats
  bool thread_ids = false;                           ///< `ThreadId(01)`
  bool thread_names = false;                         ///< prints the number of a thread without a name
  std::shared_ptr<Timer const> timer = utc_timer();  ///< null: print no time, and no durations when spans close
  std::shared_ptr<FieldFormat const> fields{};       ///< null: use the format's own; JSON always uses its own
  /// For full: lets the caller shorten each line by SpanPrefix::end_line(). The format is then single-thread. Null: all
  /// fields stay in every line, as in the reference.
  std::shared_ptr<SpanPrefix> prefix{};
  /// For full, without `prefix`: lets the caller shorten each line by RepeatedFields::end_line(). Null: as above.
  std::shared_ptr<RepeatedFields const> repeated{};
  // For JSON:
  bool flatten_event = false;  ///< put the event's fields into the outermost object
  bool current_span = true;    ///< "span": the innermost span
  bool span_list = true;       ///< "spans": all spans, the outermost first
};

/// Makes the format that the options name.
std::shared_ptr<EventFormat const> make_event_format(FormatOptions const& options);

/// Makes an event format that calls `append`, a `bool(TextBuffer& out, EventView const& event)`. It must be thread-safe
/// and must not throw.
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

/// Calls `visit(context, span)` for `leaf` and all spans above it, outermost first.
void visit_from_root(SpanRef leaf, void (*visit)(void* context, SpanRef span), void* context) noexcept;

/// Appends the time, or `<unknown time>`, and a blank. Appends nothing without a timer.
void append_time(TextBuffer& out, Timer const* timer, EventView const& event, TextStyle style) noexcept;

}}  // namespace tracing::v1
