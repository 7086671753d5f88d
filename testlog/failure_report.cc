// A report takes two walks over the captured records: the first counts its lines and chooses those that are printed, the
// second prints them. So the text of a record that is left out is never made.
#include "testlog/failure_report.h"

#include <cstdint>
#include <utility>

#include "testlog/report_printer.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/record/replay.h"

namespace testlog::inline v1 {
namespace {

using tracing::internal::RecordedSpan;
using tracing::internal::RecordEntry;
using tracing::internal::Recording;

using Kind = ReportLines::Kind;

Kind kind_of(RecordEntry const& entry) noexcept {
  if (entry.type != tracing::internal::RecordType::event) return Kind::other;
  switch (entry.metadata->level()) {
    case tracing::Level::error: return Kind::error;
    case tracing::Level::warn: return Kind::warning;
    default: return Kind::other;
  }
}

ReportPlan plan_of(Session& session, Recording& recording, std::vector<NotedFailure> const& failures) {
  Environment const& environment = session.environment();
  ReportPlan plan(environment.report_lines);
  ReportWalk walk(session.capture().unreported(), environment.span_events, failures);
  auto const add_failure = [&plan](NotedFailure const& failure) { plan.add(Kind::failure, failure.ticks, failure.thread); };
  recording.for_each([&](RecordEntry const& entry) {
    if (!walk.follow(entry, add_failure)) return;
    plan.add(kind_of(entry), entry.ticks, entry.track);
    if (!plan.misses_any) plan.misses_any = environment.show != Show::live || !walk.was_shown(entry);
  });
  walk.finish(add_failure);
  plan.lines.choose();
  return plan;
}

// Whether TRACE_FILTER selected it.
bool was_selected(RecordEntry const& entry, RecordedSpan const* span) noexcept {
  if (entry.type == tracing::internal::RecordType::event) return (entry.flags & tracing::internal::kShown) != 0;
  return span != nullptr && span->shown;
}

}  // namespace

void FailureReport::note(testing::TestPartResult const& failure, std::string_view path) {
  if (!session_.is_mute()) failures_.add(failure, path, session_.capture().now());
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
    lines += note("---- earlier set-up records were overwritten (" + capture.bound() + ") ----\n");
  if (of_test > 0 && capture.is_overwritten(capture.unreported().first_of_tests()))
    lines += note("---- " + std::to_string(of_test) + " earlier records were overwritten (" + capture.bound() + ") ----\n");
  return lines;
}

void FailureReport::print_unreported(std::string_view headline, bool always) {
  tracing::internal::InSubscriber const in_subscriber;  // an allocation function with a statement would lengthen what is read
  std::uint64_t const now = session_.capture().now();
  auto const failures = failures_.take();
  if (!session_.is_mute()) print(headline, always, failures);
  session_.capture().unreported().report_to(now);
}

void FailureReport::print(std::string_view headline, bool always, std::vector<NotedFailure> const& failures) {
  UnreportedRecords const& unreported = session_.capture().unreported();
  Output& output = session_.output();
  std::string_view const test = session_.attribution().name_of(session_.attribution().running());
  tracing::InlineTextBuffer<256> first;
  first.append("---- ");
  tracing::append_sanitized_in_line(first, headline);
  first.append(": captured records ----\n");
  std::string begin = output.note("failure_report", test, first.view()) + overwritten(unreported.first());
  std::string const end = output.note("end_of_failure_report", test, "---- end of captured records ----\n");

  auto const recording = session_.capture().read(unreported.first());
  auto const plan = recording == nullptr ? ReportPlan(0) : plan_of(session_, *recording, failures);
  bool has_records = false;
  if (plan.misses_any) {
    ReportPrinter printer(session_, plan, std::move(begin));
    has_records = printer.print(*recording, ReportWalk(unreported, session_.environment().span_events, failures));
    if (has_records) printer.end(end);
  }
  if (!has_records && always) output.write(begin + end);
  Capture const& capture = session_.capture();
  if (capture.lacks_memory())
    output.write(output.note("failure_report", test, "---- nothing is captured: " + std::string(capture.why_nothing()) + " ----\n"));
}

void FailureReport::print_matching(std::string_view test) {
  tracing::internal::InSubscriber const in_subscriber;
  std::uint64_t const from = session_.capture().unreported().first_of_tests();
  auto const recording = session_.is_mute() ? nullptr : session_.capture().read(from);
  if (recording != nullptr) {
    TestTag const running = session_.attribution().running();
    std::string lines;
    // Filters again, since the filter also decides which spans around a record are printed.
    auto filter = std::make_unique<tracing::EnvFilter>(tracing::internal::filter_of(session_.live().filter().directives()));
    auto sink = tracing::make_sink([&lines](tracing::Level, std::string_view line) { lines += line; });
    auto const registry =
        printing_registry(session_.live().print_options(tracing::to_sink(std::move(sink))), std::move(filter));
    LabelledFormat::Replaying replaying(session_.environment().threads);
    tracing::internal::RecordedSpans spans;
    tracing::internal::replay(*recording, *registry, [&](RecordEntry const& entry) -> bool {
      spans.follow(entry);
      Owner const owner = session_.attribution().owner_of(entry, spans.current());
      bool const is_of_test = running == 0 || owner.test == 0 || owner.test == running || owner.late;
      if (entry.ticks < from || !was_selected(entry, spans.current()) || !is_of_test) return false;
      replaying.set_owner(owner);
      return true;
    });
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
