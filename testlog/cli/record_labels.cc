#include "testlog/cli/record_labels.h"

#include <utility>

#include "testlog/cli/terminal.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/format/ansi.h"
#include "tracing_core/format/duration_text.h"
#include "tracing_core/format/span_prefix.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/record/ring/layout.h"

namespace testlog::cli {
namespace {

std::uint64_t main_track_of(tracing::recording::Recording const& recording) {
  for (tracing::recording::Thread const& thread : recording.threads()) {
    bool const is_main = thread.os_thread == static_cast<std::int64_t>(recording.process());
    if (is_main && thread.number < tracing::internal::kMarksTrack) return thread.number;
  }
  return 0;
}

// Returns the time between two instants. The result is wrong if it does not fit, as with instants centuries apart in a
// damaged recording.
std::int64_t between(tracing::Instant begin, tracing::Instant end) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(end.ns) - static_cast<std::uint64_t>(begin.ns));
}

// Prepares `format` for relative times. In JSON the time stays a member. In text, append() writes the time before the
// thread, so `format` prints no time.
tracing::FormatOptions without_time(tracing::FormatOptions format, bool relative, RecordPlace const& place) {
  if (!relative) return format;
  format.timer = nullptr;
  if (!tracing::formatting::is_json(format.kind)) return format;
  format.timer = tracing::make_timer([&place](tracing::TextBuffer& out, tracing::Instant time) {
    tracing::append_relative_time(out, between(place.begin(), time), 0);
    return true;
  });
  return format;
}

}  // namespace

std::string name_of(tracing::recording::Thread const& thread) {
  return thread.name.empty() ? "thread " + std::to_string(thread.number) : printable(thread.name);
}

RecordLabels::RecordLabels(tracing::FormatOptions format, bool relative, tracing::recording::Recording const& recording,
                           RecordPlace const& place)
    : place_(place),
      is_json_(tracing::formatting::is_json(format.kind)),
      is_coloured_(format.ansi),
      has_relative_time_(relative && !is_json_),
      main_track_(main_track_of(recording)),
      prefix_(format.prefix),
      format_(tracing::make_event_format(without_time(std::move(format), relative, place))) {}

bool RecordLabels::append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept {
  tracing::Track const& track = event.context.track();
  std::size_t const begin = out.size();
  if (has_relative_time_) {
    tracing::InlineTextBuffer<32> time;
    tracing::append_relative_time(time, between(place_.begin(), event.context.time()));
    tracing::formatting::append_painted(out, is_coloured_, tracing::formatting::kDim, time.view());
    out.push_back(' ');
  }
  if (!is_json_ && place_.is_outside_tests()) out.append("[outside any test] ");
  if (!is_json_ && place_.is_late()) {
    out.append("[late, from ");
    tracing::append_sanitized_in_line(out, place_.test());
    out.append("] ");
  }
  if (!is_json_ && track.number != main_track_) tracing::environment::append_thread_label(out, track);
  if (!format_->append(out, event)) {
    out.resize_down(begin);
    return false;
  }
  if (prefix_ != nullptr) prefix_->end_line(out, begin);
  if (!is_json_) return true;
  tracing::environment::JsonMembers members(out);
  if (!members.is_open()) return true;
  if (std::string_view const test = place_.test(); !test.empty())
    tracing::append_json_string(members.add("test"), test);
  if (place_.is_late()) members.add("late").append("true");
  members.add_thread(track);
  return true;
}

}  // namespace testlog::cli
