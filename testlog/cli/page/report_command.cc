#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/output_file.h"
#include "testlog/cli/page/page_builder.h"
#include "testlog/cli/page/run_tests.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using tracing::support::counted;

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kHeavyBytes = 50 * kMegabyte;

struct Options {
  Selection selection;
  std::string output = "report.html";
  std::uint64_t max_bytes = 25 * kMegabyte;
  bool all = false;
};

void print(std::string const& text) { report("testlog report: " + text + "\n"); }

std::string text_of_size(std::uint64_t bytes) {
  if (bytes < kMegabyte) return std::to_string((bytes + 999) / 1000) + " kB";
  return std::to_string(bytes / kMegabyte) + "." + std::to_string(bytes % kMegabyte / 100'000) + " MB";
}

void check(Options const& options) {
  if (options.output == "-" && isatty(STDOUT_FILENO) == 1)
    throw UsageError("report: standard output is a terminal; expected -o FILE, or a pipe");
  check_output("report", options.selection.inputs.paths, options.output);
}

int run(Options const& options) {
  check(options);
  page::RunTests const tests = page::read_tests(options.selection);
  if (tests.sources.empty()) {
    print(options.selection.is_narrow() ? "no test is selected"
                                        : "no page was written, since no recording could be read");
    return kFailed;
  }
  OutputFile output(options.output);
  std::uint64_t bytes = 0;
  page::PageCounts const counts =
      page::build_page(tests, {.max_bytes = options.max_bytes, .all = options.all}, [&](std::string_view text) {
        output.write(text);
        bytes += text.size();
      });
  if (std::error_code const error = output.finish()) {
    std::string const place = options.output == "-" ? "standard output" : printable(options.output);
    print("cannot write " + place + ": " + error.message());
    return kFailed;
  }
  print((options.output == "-" ? "" : printable(options.output) + ": ") + summary::counts_of(tests.run) +
        "; the records of " + std::to_string(counts.whole) + "; " + text_of_size(bytes));
  if (counts.cut > 0)
    print("the middle of " + counted(counts.cut, "run") + " is left out, so that the page is no larger than --max");
  if (bytes > options.max_bytes)
    print("the page is larger than --max: its script and the list of tests take " + text_of_size(bytes) +
          " without records");
  if (bytes >= kHeavyBytes) print("browsers are slow with pages of 50 MB and more; --max limits the size");
  return counts.is_complete ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
Writes one file that opens in any current browser by a double click, without a network. It shows the tests, failures first; how each
failed, and how it differed from runs that passed; and records, as `testlog show` prints them, with a filter, a timeline, and the sums
of spans. Tests that failed or are flaky, and the ten slowest others, have all their records. If the file would be larger
than --max, the longest lose their middle; of other tests the page says only how they ended. Keep in mind that records may be confidential.

Examples:
  testlog report                                      the last ctest, to report.html
  testlog report -o red.html --max 8M run.tar
  testlog report --all --test 'Pool.*' run.rec

Exit status: 0 the page was written; 1 it could not be written, a file could not be read, or no test is selected; 2 a mistake in
the command line.)";

}  // namespace

Command add_report_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app =
      program.add_subcommand("report", "Writes a page that shows a run, its tests and their records in a browser.");
  add_selection(*app, options->selection);
  app->add_option("-o,--output", options->output, "The file; -: standard output")->capture_default_str();
  app->add_option("--max", options->max_bytes,
                  "The most bytes of the file, such as 25M: the longest tests lose records in their middle")
      ->transform(CLI::AsSizeValue(true))
      ->option_text("SIZE=25M");
  app->add_flag("--all", options->all, "All tests with their records, not only those that failed, are flaky or slow");
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
