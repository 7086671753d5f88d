#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/span_times.h"
#include "testlog/cli/terminal.h"

namespace testlog::cli {
namespace {

struct Options {
  Selection selection;
  std::string filter = "trace";
  std::size_t top = 10;
};

// The sums of all spans of one name.
struct Sum {
  std::uint64_t entered = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  std::uint64_t max_ns = 0;
};

struct Sums {
  std::unordered_map<std::string, Sum> spans;
  std::vector<RecordedTest> tests;

  // The time of a span inside one of the same name counts once in the total.
  void add(SpanNode const& node, std::set<std::string_view>& around) {
    Sum& sum = spans[node.name];
    bool const is_outermost = around.insert(node.name).second;
    sum.entered += node.entered;
    if (is_outermost) sum.total_ns += node.total_ns;
    sum.self_ns += node.self_ns();
    sum.max_ns = std::max(sum.max_ns, node.max_ns);
    for (auto const& child : node.children) add(*child, around);
    if (is_outermost) around.erase(node.name);
  }

  void add(SpanTimes const& times, Selection const& selection) {
    for (auto const& [tag, root] : times.roots) {
      auto const test = times.tests.find(tag);
      bool const is_of_test = test != times.tests.end();
      if (selection.is_narrow() && (!is_of_test || !selection.has(test->second))) continue;
      std::set<std::string_view> around;
      for (auto const& child : root.children) add(*child, around);
    }
    for (auto const& [tag, test] : times.tests) {
      if (selection.has(test)) tests.push_back(test);
    }
  }
};

void print_spans(Sums const& sums, std::size_t top) {
  std::vector<std::pair<std::string, Sum>> sorted(sums.spans.begin(), sums.spans.end());
  std::sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) {
    return a.second.self_ns != b.second.self_ns ? a.second.self_ns > b.second.self_ns : a.first < b.first;
  });
  fmt::print("      self      total    longest  entered  span\n");
  for (std::size_t i = 0; i < std::min(top, sorted.size()); ++i) {
    auto const& [name, sum] = sorted[i];
    fmt::print("{:>10} {:>10} {:>10} {:>8}  {}\n", text_of_ns(sum.self_ns), text_of_ns(sum.total_ns), text_of_ns(sum.max_ns),
               sum.entered, printable(name));
  }
  if (sorted.size() > top) fmt::print("... {} more (--top)\n", sorted.size() - top);
}

void print_tests(Sums& sums, std::size_t top) {
  if (sums.tests.empty()) return;
  std::stable_sort(sums.tests.begin(), sums.tests.end(),
                   [](RecordedTest const& a, RecordedTest const& b) { return a.duration_ms > b.duration_ms; });
  fmt::print("\n  duration  test\n");
  for (std::size_t i = 0; i < std::min(top, sums.tests.size()); ++i) {
    RecordedTest const& test = sums.tests[i];
    std::string const duration = test.result.empty() ? "no end" : fmt::format("{} ms", test.duration_ms);
    fmt::print("{:>10}  {}{}\n", duration, printable(test.name), test.result == "failed" ? " (failed)" : "");
  }
  if (sums.tests.size() > top) fmt::print("... {} more (--top)\n", sums.tests.size() - top);
}

int run(Options const& options) {
  (void)filter_of("slow", options.filter);
  std::vector<std::string> const paths = files_of("slow", options.selection.paths);
  Status status = kDone;
  Sums sums;
  {
    Progress progress("slow", paths.size());
    for (std::string const& path : paths) {
      if (auto const file = open_recording("slow", path)) {
        sums.add(times_of(*file, filter_of("slow", options.filter)), options.selection);
      } else {
        status = kFailed;
      }
      progress.step();
    }
  }
  if (sums.spans.empty() && sums.tests.empty()) {
    if (status == kDone)
      std::fputs(options.selection.is_narrow() ? "testlog slow: no test is selected\n" : "testlog slow: no spans are recorded\n", stderr);
    return kFailed;
  }
  print_spans(sums, options.top);
  print_tests(sums, options.top);
  return std::fflush(stdout) == 0 ? status : kFailed;
}

constexpr char kFooter[] = R"(
Of all recordings together: the spans in which threads spent the most time outside of the spans below them, and the tests
that took longest.

Examples:
  TRACE_RECORD_KEEP=all ctest; testlog slow           of all tests, also those that passed
  testlog slow --top 30 --filter mylib=trace run.rec

Exit status: 0 something was printed; 1 a file could not be read, or nothing is selected; 2 a mistake in the command line.)";

}  // namespace

Command add_slow_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("slow", "Prints the slowest spans and tests of recordings.");
  add_selection(*app, options->selection);
  app->add_option("--filter", options->filter, "Directives, as in TRACE_FILTER: only these spans")->capture_default_str();
  app->add_option("--top", options->top, "So many spans, and so many tests")->capture_default_str()->check(CLI::PositiveNumber);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
