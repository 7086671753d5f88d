// A report takes two walks over the captured records: the first counts its lines and chooses those that are printed,
// the second prints them. So the text of a record that is left out is never made.
#include "testlog/report/failure_report.h"

#include <cstdint>
#include <utility>

#include "testlog/framework.h"
#include "testlog/report/report_printer.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/record/replay.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;

using Kind = ReportLines::Kind;

constexpr std::size_t kKept = 16384;  // bytes of a report

Kind kind_of(Entry const& entry) noexcept {
  if (entry.type != tracing::recording::EntryType::event) return Kind::other;
  switch (entry.metadata->level()) {
    case tracing::Level::error: return Kind::error;
    case tracing::Level::warn: return Kind::warning;
    default: return Kind::other;
  }
}

ReportPlan plan_of(ReportParts const& parts, Recording& recording, std::vector<NotedFailure> const& failures) {
  Environment const& environment = parts.environment;
  ReportPlan plan(environment.report_lines);
  ReportWalk walk(parts.capture.unreported(), environment.span_events, failures, parts.attribution.test_thread());
  auto const add_failure = [&plan](NotedFailure const& failure) {
    plan.add(Kind::failure, failure.ticks, failure.thread);
  };
  recording.for_each([&](Entry const& entry) {
    if (!walk.follow(entry, add_failure)) return;
    plan.add(kind_of(entry), entry.ticks, entry.track);
    if (!plan.misses_any) plan.misses_any = environment.show != Show::live || !walk.was_shown(entry);
  });
  walk.finish(add_failure);
  plan.lines.choose();
  return plan;
}

// Returns the line that tells how to repeat what TRACE_PERTURB did; empty if the variable is not set.
std::string perturb_line(ReportParts const& parts, std::string_view test) {
  if (!parts.environment.perturb) return {};
  return parts.output.note(
      "failure_report", test,
      "---- TRACE_PERTURB=" + parts.environment.perturb->to_string() + " was set: set it again to repeat ----\n");
}

// Returns true if TRACE_FILTER selected the record.
bool was_selected(Entry const& entry, tracing::recording::Span const* span) noexcept {
  if (entry.type == tracing::recording::EntryType::event) return entry.was_shown();
  return span != nullptr && span->shown;
}

}  // namespace

void FailureReport::note(framework::Part const& failure, std::string_view path, Owner owner) {
  if (!parts_.is_mute || framework::current().writes_results())
    failures_.add(failure, path, owner, parts_.capture.now());
}

// Returns a line for each kind of unreported records that were overwritten. `from` is the first unreported place.
std::string FailureReport::overwritten(std::uint64_t from) const {
  Capture& capture = parts_.capture;
  if (capture.store() == nullptr) return {};
  auto const note = [this](std::string_view text) { return parts_.output.note("failure_report", {}, text); };
  tracing::internal::Region const& region = capture.store()->region();
  std::uint32_t const tag = capture.store()->tag();
  std::uint64_t const of_test = region.lost_of(tag);
  std::string lines;
  if (tag != 0 && from < capture.begin_of_test() && region.lost_of(0) > 0 && capture.is_overwritten(from))
    lines += note("---- earlier set-up records were overwritten (" + capture.bound() + ") ----\n");
  if (of_test > 0 && capture.is_overwritten(capture.unreported().first_of_tests()))
    lines +=
        note("---- " + std::to_string(of_test) + " earlier records were overwritten (" + capture.bound() + ") ----\n");
  return lines;
}

std::string FailureReport::print_unreported(std::string_view headline, bool always) {
  tracing::internal::InSubscriber const
      in_subscriber;  // otherwise a statement in an allocation function would add records to read
  std::uint64_t const now = parts_.capture.now();
  auto const failures = failures_.take();
  std::string text;
  if (!parts_.is_mute || framework::current().writes_results()) text = print(headline, always, failures);
  parts_.capture.unreported().report_to(now);
  return text;
}

std::string FailureReport::print(std::string_view headline, bool always, std::vector<NotedFailure> const& failures) {
  UnreportedRecords const& unreported = parts_.capture.unreported();
  Output& output = parts_.output;
  std::string_view const test = parts_.attribution.name_of(parts_.attribution.running());
  tracing::InlineTextBuffer<256> first;
  first.append("---- ");
  tracing::append_sanitized_in_line(first, headline);
  first.append(": captured records ----\n");
  std::string begin =
      output.note("failure_report", test, first.view()) + perturb_line(parts_, test) + overwritten(unreported.first());
  std::string const end = output.note("end_of_failure_report", test, "---- end of captured records ----\n");

  auto const recording = parts_.capture.read(unreported.first());
  auto const plan = recording == nullptr ? ReportPlan(0) : plan_of(parts_, *recording, failures);
  bool const is_mute = parts_.is_mute;
  std::string text;
  bool has_records = false;
  if (plan.misses_any || (recording != nullptr && framework::current().writes_results())) {
    auto const write = [&](std::string_view part) {
      if (text.size() < kKept) text += part.substr(0, kKept - text.size());
      if (plan.misses_any && !is_mute) output.write(part);
    };
    ReportPrinter printer(parts_, plan, begin, write);
    has_records = printer.print(
        *recording, ReportWalk(unreported, parts_.environment.span_events, failures, parts_.attribution.test_thread()));
    if (has_records) printer.end(end);
  }
  if (is_mute) return text;
  if (!(has_records && plan.misses_any)) {
    std::string const rest = always ? begin + end : perturb_line(parts_, test);
    if (!rest.empty()) output.write(rest);
  }
  Capture const& capture = parts_.capture;
  if (capture.lacks_memory())
    output.write(output.note("failure_report", test,
                             "---- nothing is captured: " + std::string(capture.why_nothing()) + " ----\n"));
  return text;
}

void FailureReport::print_why(std::string const& test) noexcept {
  constexpr std::size_t kMaxLines = 3;
  try {
    tracing::internal::InSubscriber const in_subscriber;
    if (parts_.is_mute || parts_.run_records == nullptr) return;
    std::vector<std::string> passing = parts_.recording_file.passed_recordings();
    if (passing.empty()) return;
    auto const recording = parts_.capture.read(parts_.capture.begin_of_test());
    if (recording == nullptr) return;
    auto const name_of = [this](TestTag tag) { return std::string(parts_.attribution.name_of(tag)); };
    auto const explanation = why::explain_by_baseline({.name = test,
                                                       .recording = *recording,
                                                       .file = parts_.recording_file.path(),
                                                       .is_ending = true,
                                                       .passing = std::move(passing),
                                                       .name_of = name_of},
                                                      entries_left_);
    if (!explanation) return;
    std::string const text = why::text_of(*explanation, kMaxLines, false, "testlog why");
    std::string lines;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = text.find('\n', begin) + 1;
      lines += parts_.output.note("why", test, std::string_view(text).substr(begin, end - begin));
    }
    parts_.output.write(lines);
  } catch (...) {  // out of memory
  }
}

bool FailureReport::print_matching(std::string_view test) {
  tracing::internal::InSubscriber const in_subscriber;
  std::uint64_t const from = parts_.capture.unreported().first_of_tests();
  auto const recording = parts_.is_mute ? nullptr : parts_.capture.read(from);
  std::string lines;
  if (recording != nullptr) {
    TestTag const running = parts_.attribution.running();
    // Filters again, since the filter also decides which spans around a record are printed.
    auto filter =
        std::make_unique<tracing::EnvFilter>(tracing::environment::filter_of(parts_.live.filter().directives()));
    auto sink = tracing::make_sink([&lines](tracing::Level, std::string_view line) { lines += line; });
    auto const registry =
        printing_registry(parts_.live.print_options(tracing::to_sink(std::move(sink))), std::move(filter));
    LabelledFormat::Replaying replaying(parts_.environment.threads);
    tracing::recording::Spans spans;
    tracing::recording::replay(*recording, *registry, [&](Entry const& entry) -> bool {
      spans.follow(entry);
      Owner const owner = parts_.attribution.owner_of(entry, spans.current());
      bool const is_of_test = running == 0 || owner.test == 0 || owner.test == running || owner.late;
      if (entry.ticks < from || !was_selected(entry, spans.current()) || !is_of_test) return false;
      replaying.set_owner(owner);
      return true;
    });
    if (!lines.empty()) {
      std::string const headline = "---- " + std::string(test) + " ----\n";
      Output& output = parts_.output;
      output.write((test.empty() ? "" : output.note("test", test, headline)) + overwritten(from) + lines);
    }
  }
  return !lines.empty();
}

std::uint64_t FailureReport::spans_without_events() const {
  tracing::internal::InSubscriber const in_subscriber;
  std::uint64_t const from = parts_.capture.unreported().first_of_tests();
  auto const recording = parts_.capture.read(from);
  if (recording == nullptr) return 0;
  std::uint64_t spans = 0, events = 0;
  tracing::recording::Spans open;
  recording->for_each([&](Entry const& entry) {
    open.follow(entry);
    if (entry.is_restated() || entry.ticks < from || !was_selected(entry, open.current())) return;
    bool const is_event = entry.type == EntryType::event;
    bool const begins = begins_span(entry.type);
    if (!is_event && (!begins || entry.metadata->is_perf())) return;
    Owner const owner = parts_.attribution.owner_of(entry, open.current());
    if (owner.test == parts_.attribution.running() && !owner.late) ++(is_event ? events : spans);
  });
  return events == 0 ? spans : 0;
}

void FailureReport::skip() noexcept { parts_.capture.unreported().skip_to(parts_.capture.now()); }

}}  // namespace testlog::v1
