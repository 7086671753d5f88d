#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/ci/junit.h"
#include "testlog/cli/ci/report_run.h"
#include "testlog/cli/commands.h"
#include "testlog/cli/otlp/send_run.h"
#include "testlog/cli/runs/packed_run.h"
#include "testlog/cli/runs/read_summary.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/environment/passed_recordings.h"
#include "tracing_core/environment/variables.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using tracing::support::counted;

struct Options {
  std::string run;
  std::vector<std::string> after_ctest;
};

void print(std::string const& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

summary::RunSummary explained(RecordedRun const& run) {
  summary::RunSummary summary = read_summary(run);
  explain_causes(summary, kMaxExplained);
  return summary;
}

// Returns the runs of the ctest that started this process, in the folders, without other ctests that count as part of
// them. Nothing if it ran no test there.
std::vector<RecordedRun> runs_of_ctest(std::vector<std::string> const& folders) {
  std::string const own = tracing::environment::run_of_this_process().id;
  std::vector<RecordedRun> runs;
  for (std::string const& folder : folders) {
    for (RecordedRun& run : find_runs(fs::path(folder))) {
      if (std::find(run.ids.begin(), run.ids.end(), own) == run.ids.end()) continue;
      run.ids = {own};
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

// Calls `f`, and reports what it throws.
template <class F>
void try_to(F f) {
  try {
    f();
  } catch (std::exception const& error) {
    report(std::string("testlog summary: ") + error.what() + "\n");
  }
}

// Returns the path of TRACE_JUNIT; empty if there is to be no file.
std::string junit_path() {
  char const* const path = tracing::environment::environment_variable("TRACE_JUNIT");
  return path == nullptr ? "" : path;
}

// Prints the summary, and reports the run to a CI service, which takes certain words anywhere for commands. Returns all
// tests if `has_junit`.
summary::RunSummary sum_up(RecordedRun const& run, CiSettings const& ci, bool has_junit) {
  bool const is_plain = ci.service == CiService::none && !has_junit;
  summary::RunSummary summary = is_plain ? explained(run) : read_summary(run, has_junit ? kReadForJunit : kReadAll);
  if (!is_plain) explain_causes(summary, kMaxExplained, kMaxWhyLines);
  std::string const text = summary::text_of(summary);
  print(ci.service == CiService::none ? text : without_commands(text));
  try_to([&] { print(report_to_ci(summary, ci, report_end_of)); });
  return summary;
}

// Reports problems but returns success, since a ctest fails if its hook fails.
int run_after_ctest(std::vector<std::string> const& folders) {
  CiSettings ci;
  try_to([&ci] { ci = ci_settings(); });
  try_to([&folders, &ci] {
    std::string const junit = junit_path();
    summary::RunSummary all;
    std::vector<RecordedRun> const runs = runs_of_ctest(folders);
    for (RecordedRun const& run : runs) {
      try_to([&] {
        summary::RunSummary summary = sum_up(run, ci, !junit.empty());
        if (all.folder.empty()) all.folder = summary.folder;
        all.tests.insert(all.tests.end(), std::move_iterator(summary.tests.begin()),
                         std::move_iterator(summary.tests.end()));
      });
      tracing::environment::limit_passed(run.folder.string());
    }
    if (!junit.empty() && !all.folder.empty()) try_to([&] { write_junit(all, ci, for_each_line_of_report, junit); });
    std::string const sent = otlp::send_run(runs);
    print(ci.service == CiService::none ? sent : without_commands(sent));
  });
  (void)flush_output("summary");
  return kDone;
}

int run(Options const& options) {
  if (!options.after_ctest.empty()) return run_after_ctest(options.after_ctest);
  PackedRun packed;
  if (tracing::recording::is_tar(options.run)) {
    packed = read_packed_run("summary", {options.run});
  } else {
    packed.summary = explained(run_named("summary", options.run.empty() ? "latest" : options.run));
  }
  summary::RunSummary const& summary = packed.summary;
  if (summary.is_green()) fmt::print("testlog: {} passed\n", counted(summary.test_count, "test"));
  print(summary::text_of(summary));
  return flush_output("summary") && packed.is_complete ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
Failures count as one cause if the innermost span around the failure and the last event of level ERROR before it are the same or,
without such an event, the assertion. ctest prints this at its end, for the tests of testlog_discover_tests(); with
TRACE_OTLP=failed or all it also sends their spans to a receiver of OpenTelemetry.

Examples:
  testlog summary
  testlog summary --run 4711
  testlog summary --run run.tar                       the tests whose recordings testlog pack put there

Exit status: 0 the run was summed up; 1 there is no such run, or a file could not be read; 2 a mistake in the command line.)";

}  // namespace

Command add_summary_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app =
      program.add_subcommand("summary", "Sums up a run: how many tests failed, by their causes, and flaky ones.");
  CLI::Option* const run_option =
      app->add_option("-R,--run", options->run, "latest, the beginning of an id that testlog runs prints, or a TAR")
          ->default_str("latest");
  app->add_option("--after-ctest", options->after_ctest,
                  "Sums up what the ctest that runs this command has left in these folders; never fails")
      ->type_name("FOLDER");
  app->get_option("--after-ctest")->excludes(run_option);
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
