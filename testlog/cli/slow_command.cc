#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/recording_statistics.h"
#include "testlog/cli/terminal.h"
#include "testlog/cli/timeline/critical_report.h"
#include "tracing_core/format/amounts.h"

namespace testlog::cli {
namespace {

using tracing::formatting::text_of_ns;
using tracing::formatting::text_of_partial;

struct Options {
  Selection selection;
  std::string filter = "trace";
  std::size_t top = 10;
  bool critical = false;
  CLI::Option const* filter_option = nullptr;
};

void print_spans(std::vector<tracing::SpanStatistics> const& spans, std::size_t top) {
  fmt::print("      self      total    longest  entered  span\n");
  for (std::size_t i = 0; i < std::min(top, spans.size()); ++i) {
    tracing::SpanStatistics const& span = spans[i];
    fmt::print("{:>10} {:>10} {:>10} {:>8}  {}{}\n", text_of_ns(span.self_ns), text_of_ns(span.time.total_ns),
               text_of_ns(span.time.max_ns), span.time.calls, printable(span.name),
               text_of_partial(span.open, span.cut));
  }
  if (spans.size() > top) fmt::print("... {} more (--top)\n", spans.size() - top);
}

void print_tests(std::vector<RecordedTest> tests, std::size_t top) {
  if (tests.empty()) return;
  // Tests without an end come first: each may have hung.
  std::stable_sort(tests.begin(), tests.end(), [](RecordedTest const& a, RecordedTest const& b) {
    return std::tuple(!a.result.empty(), b.duration_ms) < std::tuple(!b.result.empty(), a.duration_ms);
  });
  fmt::print("\n  duration  test\n");
  for (std::size_t i = 0; i < std::min(top, tests.size()); ++i) {
    RecordedTest const& test = tests[i];
    std::string const duration = test.result.empty() ? "no end" : fmt::format("{} ms", test.duration_ms);
    fmt::print("{:>10}  {}{}\n", duration, printable(test.name), test.result == "failed" ? " (failed)" : "");
  }
  if (tests.size() > top) fmt::print("... {} more (--top)\n", tests.size() - top);
}

int run(Options const& options) {
  if (options.critical) {
    if (options.selection.is_narrow() || options.filter_option->count() > 0)
      throw UsageError("slow: --critical looks at all tests of a run; expected no --test, --failed or --filter");
    return report_critical(options.selection.inputs, options.top);
  }
  RecordingStatistics read("slow", options.filter, tracing::StatisticsBy::all);
  Status const status = read.add_all(options.selection) ? kDone : kFailed;
  tracing::Statistics const statistics = read.finish();
  report(read.notes());
  if (statistics.empty() && read.tests().empty()) {
    if (status == kDone)
      report(options.selection.is_narrow() ? "testlog slow: no test is selected\n"
                                           : "testlog slow: no spans are recorded\n");
    return kFailed;
  }
  std::size_t const top = options.top == 0 ? SIZE_MAX : options.top;
  print_spans(statistics.empty() ? std::vector<tracing::SpanStatistics>() : statistics.groups.front().spans, top);
  print_tests(read.tests(), top);
  return flush_output("slow") ? status : kFailed;
}

constexpr char kFooter[] = R"(
Of all recordings together: the spans in which threads spent the most time outside of the spans below them, and the tests
that took longest. A span that is open at the end counts until the last record, one whose beginning was overwritten (cut)
from the first that is left.

With --critical: which tests made the run take so long. From the test that ended last, each time the test before is the
one that made room for it; and how long the slots of ctest -j had no test.

Examples:
  TRACE_RECORD_KEEP=all ctest; testlog slow           of all tests, also those that passed
  ctest -j8; testlog slow --critical
  testlog slow --top 30 --filter mylib=trace run.rec

Exit status: 0 something was printed; 1 a file could not be read, or nothing is selected; 2 a mistake in the command line.)";

}  // namespace

Command add_slow_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("slow", "Prints the slowest spans and tests of recordings.");
  add_selection(*app, options->selection);
  options->filter_option =
      app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER: only these spans")
          ->capture_default_str();
  app->add_option("--top", options->top, "So many spans, and so many tests; 0: all")
      ->check(CLI::Range(1'000'000).description(""))
      ->capture_default_str();
  app->add_flag("--critical", options->critical, "The chain of tests that bounds the run, and idle slots of ctest -j");
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
