#include "testlog/failure_report.h"

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "testlog/labels.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/record/recorded_spans.h"
#include "tracing_core/record/replay.h"

namespace testlog::inline v1 {
namespace {

using tracing::SpanEvents;
using tracing::internal::RecordedSpan;
using tracing::internal::RecordEntry;
using tracing::internal::Recording;
using tracing::internal::RecordType;

// A registry that prints the records that `filter` selects into `out`, in the format of the live output.
std::shared_ptr<tracing::Registry> printing_registry(LiveOutput const& live, std::unique_ptr<tracing::Filter> filter,
                                                     SpanEvents span_events, std::string& out) {
  auto sink = tracing::make_sink([&out](tracing::Level, std::string_view line) { out += line; });
  tracing::PrintOptions options = live.print_options(tracing::to_sink(std::move(sink)));
  options.span_events = span_events;
  return tracing::RegistryBuilder()
      .with(tracing::print_layer(std::move(options)), tracing::with_perf_spans(std::move(filter)))
      .build();
}

// The keys of the spans that began and ended in the recording without an event or another span inside. Not perf spans,
// which report themselves.
std::unordered_set<std::uint64_t> silent_spans(Recording& recording) {
  std::unordered_set<std::uint64_t> open, silent;
  recording.for_each([&](RecordEntry const& entry) {
    switch (entry.type) {
      case RecordType::event: open.erase(entry.span); break;
      case RecordType::scope_begin:
      case RecordType::new_span:
        open.erase(entry.parent);
        if (!entry.metadata->is_perf()) open.insert(entry.span);
        break;
      case RecordType::scope_end:
      case RecordType::close:
        if (open.erase(entry.span) > 0) silent.insert(entry.span);
        break;
      default: break;
    }
  });
  return silent;
}

bool is_end(RecordEntry const& entry) noexcept {
  return entry.type == RecordType::scope_end || entry.type == RecordType::close;
}

// Whether TRACE_FILTER selected it.
bool was_selected(RecordEntry const& entry, RecordedSpan const* span) noexcept {
  if (entry.type == RecordType::event) return (entry.flags & tracing::internal::kShown) != 0;
  return span != nullptr && span->shown;
}

}  // namespace

template <class Select>
std::string FailureReport::lines_of(Recording& recording, std::unique_ptr<tracing::Filter> filter,
                                    SpanEvents span_events, Select&& select) const {
  Attribution const& attribution = session_.attribution();
  std::string lines;
  LabelledFormat::Replaying replaying;
  auto const registry = printing_registry(session_.live(), std::move(filter), span_events, lines);
  tracing::internal::RecordedSpans spans;
  tracing::internal::replay(recording, *registry, [&](RecordEntry const& entry) -> bool {
    spans.follow(entry);
    if (!session_.capture().unreported().contains(entry.ticks) || !select(entry, spans.current())) return false;
    replaying.set_owner(attribution.owner_of(entry, spans.current()));
    return true;
  });
  return lines;
}

// One line for each kind of unreported record that was overwritten; `from` is the first place that is unreported.
std::string FailureReport::overwritten(std::uint64_t from) const {
  Capture& capture = session_.capture();
  if (capture.store() == nullptr) return {};
  auto const note = [this](std::string_view text) { return session_.output().note("failure_report", {}, text); };
  tracing::internal::Region const& region = capture.store()->region();
  std::uint32_t const tag = capture.store()->tag();
  std::uint64_t const of_test = region.lost_of(tag);
  std::string lines;
  if (tag != 0 && from < capture.begin_of_test() && region.lost_of(0) > 0 && capture.is_overwritten(from))
    lines += note("---- earlier set-up records were overwritten (TRACE_RECORD_LIMIT) ----\n");
  if (of_test > 0 && capture.is_overwritten(capture.unreported().first_of_tests()))
    lines += note("---- " + std::to_string(of_test) + " earlier records were overwritten (TRACE_RECORD_LIMIT) ----\n");
  return lines;
}

void FailureReport::print_unreported(std::string_view headline, bool always) {
  Capture& capture = session_.capture();
  UnreportedRecords& unreported = capture.unreported();
  std::uint64_t const now = capture.now();
  if (!session_.is_mute()) {
    Show const show = session_.environment().show;
    std::uint64_t const from = unreported.first();
    SpanEvents const span_events = session_.environment().span_events;
    bool const adds_silent = span_events == SpanEvents::none;  // otherwise all spans have lines
    std::string lines;
    if (auto const recording = capture.read(from)) {
      auto const silent = adds_silent ? silent_spans(*recording) : std::unordered_set<std::uint64_t>();
      auto const select = [&](RecordEntry const& entry, RecordedSpan const* span) {
        if (adds_silent && is_end(entry)) return silent.contains(entry.span);
        bool const is_shown = show == Show::live || (show == Show::all && entry.ticks < unreported.first_of_tests());
        return !is_shown || !was_selected(entry, span);
      };
      lines = lines_of(*recording, nullptr, adds_silent ? SpanEvents::close : span_events, select);
    }
    if (!lines.empty() || always) {
      Output& output = session_.output();
      std::string_view const test = session_.attribution().name_of(session_.attribution().running());
      tracing::InlineTextBuffer<256> first;
      first.append("---- ");
      tracing::append_sanitized_in_line(first, headline);
      first.append(": captured records not shown yet ----\n");
      output.write(output.note("failure_report", test, first.view()) + overwritten(from) + lines +
                   output.note("end_of_failure_report", test, "---- end of captured records ----\n"));
    }
  }
  unreported.report_to(now);
}

void FailureReport::print_matching(std::string_view test) {
  std::uint64_t const from = session_.capture().unreported().first_of_tests();
  auto const recording = session_.is_mute() ? nullptr : session_.capture().read(from);
  if (recording != nullptr) {
    TestTag const running = session_.attribution().running();
    // Filters again, since the filter also decides which spans around a record are printed.
    auto filter = std::make_unique<tracing::EnvFilter>(tracing::internal::filter_of(session_.live().filter().directives()));
    auto const select = [running](RecordEntry const& entry, RecordedSpan const* span) {
      return was_selected(entry, span) && (running == 0 || entry.tag == 0 || entry.tag == running);
    };
    std::string const lines = lines_of(*recording, std::move(filter), session_.environment().span_events, select);
    if (!lines.empty()) {
      std::string const headline = "---- " + std::string(test) + " ----\n";
      Output& output = session_.output();
      output.write((test.empty() ? "" : output.note("test", test, headline)) + overwritten(from) + lines);
    }
  }
  skip();
}

void FailureReport::skip() noexcept { session_.capture().unreported().skip_to(session_.capture().now()); }

}  // namespace testlog::inline v1
