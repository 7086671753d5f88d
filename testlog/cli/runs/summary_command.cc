#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/commands.h"
#include "testlog/cli/runs/failures.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/selection.h"
#include "testlog/cli/terminal.h"
#include "testlog/why/run_reader.h"
#include "testlog/why/why_text.h"
#include "tracing_core/environment/failed_attempts.h"
#include "tracing_core/environment/passed_recordings.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using tracing::support::counted;

constexpr std::uintmax_t kMaxPassedBytes = std::uintmax_t{256} << 20;
constexpr std::uint64_t kMaxCompared = 1'000'000;  // entries of a recording
constexpr std::size_t kMaxCauses = 10;
constexpr std::size_t kMaxNames = 3;  // of tests of one cause
constexpr std::size_t kMaxFlaky = 10;
constexpr std::size_t kMaxRecordings = 1000;  // that are read; each takes some 0.1 ms

struct Options {
  std::string run;
  std::vector<std::string> after_ctest;
};

// The facts that the summary of a run prints.
struct Summary {
  RecordedRun run;
  std::size_t tests = 0, failed = 0, unread = 0;
  std::vector<TestOfRun> flaky;
  std::vector<FailureCause> causes;
};

// Returns true if a ctest of the run made the attempt.
bool is_of(RecordedRun const& run, Attempts::Attempt const* attempt) {
  return attempt != nullptr && std::find(run.ids.begin(), run.ids.end(), attempt->run) != run.ids.end();
}

// Returns, for each test of the run that failed, its newest recording.
std::vector<std::string> failing_recordings(RecordedRun const& run, Attempts const& attempts,
                                            std::vector<TestOfRun> const& tests) {
  std::map<std::string, std::pair<tracing::Instant, std::string>> newest;  // by the name of the test's recording
  for (TestOfRun const& test : tests)
    if (test.has_failed()) newest[test.recording] = {};
  std::error_code error;
  for (std::string const& file :
       tracing::recording::recordings_in(run.folder.string(), tracing::recording::Folders::only_this, error)) {
    auto const found = newest.find(tracing::environment::name_of_attempt(fs::path(file).filename()));
    auto const start = found == newest.end() ? std::nullopt : start_of(file);
    if (start && run.has(*start) && *start >= found->second.first && is_of(run, attempts.attempt_of(file)))
      found->second = {*start, file};
  }
  std::vector<std::string> files;
  for (auto& [name, recording] : newest)
    if (!recording.second.empty()) files.push_back(std::move(recording.second));
  return files;
}

// Returns the first answer of testlog why for a failure; empty if it has no answer or no passing runs to compare with.
std::string first_difference(Failure const& failure) {
  why::ComparedTests tests;
  auto const read = [](std::string const& file, auto add) {
    std::string error;
    auto const recording = tracing::recording::Recording::read_file(file, error);
    if (recording != nullptr && recording->entry_count() <= kMaxCompared) add(*recording, file);
  };
  read(failure.file, [&](tracing::recording::Recording& recording, std::string const& file) {
    why::add_failing_runs(tests, recording, file, [&failure](std::string_view name) { return name == failure.test; });
  });
  for (std::string const& file : baseline_of(failure.file)) {
    read(file, [&tests](tracing::recording::Recording& recording, std::string const& path) {
      why::add_passing_runs(tests, recording, path);
    });
  }
  auto const test = tests.find(failure.test);
  if (test == tests.end() || test->second.passing.size() < why::kMinPassing) return {};
  why::Explanation const explanation = why::explain(test->first, test->second);
  return explanation.causes.empty() ? "" : why::line_of(explanation.causes.front(), explanation.passing);
}

Summary summary_of(RecordedRun const& run) {
  Summary summary;
  summary.run = run;
  Attempts const attempts(run.folder);
  std::vector<TestOfRun> const tests = attempts.tests_of(run);
  summary.tests = tests.size();
  for (TestOfRun const& test : tests) {
    summary.failed += test.has_failed() ? 1 : 0;
    if (test.is_flaky()) summary.flaky.push_back(test);
  }
  std::vector<Failure> failures;
  std::vector<std::string> const files = failing_recordings(run, attempts, tests);
  for (std::string const& file : files) {
    if (&file - files.data() >= static_cast<std::ptrdiff_t>(kMaxRecordings)) {
      ++summary.unread;
    } else if (std::string error; auto const recording = tracing::recording::Recording::read_file(file, error)) {
      for (Failure& failure : failures_of(*recording, file)) failures.push_back(std::move(failure));
    }
  }
  summary.causes = causes_of(std::move(failures));
  return summary;
}

std::string names_of(std::vector<Failure> const& failures) {
  std::string names;
  for (std::size_t i = 0; i < std::min(kMaxNames, failures.size()); ++i)
    names += (i == 0 ? "" : ", ") + (failures[i].test.empty() ? std::string("outside any test") : failures[i].test);
  return failures.size() > kMaxNames ? names + ", ..." : names;
}

// Returns a testlog command, with --run unless it would read this run anyway.
std::string command_of(std::string_view words, RecordedRun const& run) {
  bool const is_last = run.next_began == tracing::Instant{INT64_MAX};
  return "testlog " + std::string(words) + (is_last || run.ids.empty() ? "" : " --run " + run.ids.front());
}

void print(Summary const& summary) {
  if (summary.failed == 0 && summary.flaky.empty()) return;
  std::string text = fmt::format("testlog: {} of {} failed", summary.failed, counted(summary.tests, "test"));
  if (!summary.flaky.empty()) text += fmt::format(", {} flaky", summary.flaky.size());
  text += summary.causes.empty() ? "\n" : fmt::format("; {}:\n", counted(summary.causes.size(), "cause"));
  bool can_explain = false;  // testlog why has passing runs to compare with
  for (std::size_t i = 0; i < std::min(kMaxCauses, summary.causes.size()); ++i) {
    FailureCause const& cause = summary.causes[i];
    text += fmt::format("  {}: {} ({})\n", counted(cause.failures.size(), "test"), printable(cause.text),
                        printable(names_of(cause.failures)));
    std::string const difference = first_difference(cause.failures.front());
    can_explain |= baseline_of(cause.failures.front().file).size() >= why::kMinPassing;
    if (!difference.empty()) text += fmt::format("    why: {}\n", printable(difference));
  }
  if (summary.causes.size() > kMaxCauses)
    text += fmt::format("  ... {} more causes\n", summary.causes.size() - kMaxCauses);
  if (summary.unread > 0) text += fmt::format("  {} were not read\n", counted(summary.unread, "more recording"));
  for (std::size_t i = 0; i < std::min(kMaxFlaky, summary.flaky.size()); ++i) {
    TestOfRun const& test = summary.flaky[i];
    text += fmt::format("  flaky: {}: attempt {} failed, attempt {} passed\n",
                        printable(fs::path(test.recording).stem().native()), test.failed_attempt, test.passed_attempt);
  }
  std::string const why = can_explain ? command_of("why", summary.run) + ", " : "";
  text += fmt::format("testlog: read on: {}{}\n", why, command_of("show --failed", summary.run));
  std::fwrite(text.data(), 1, text.size(), stdout);
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

// Reports problems but returns success, since a ctest fails if its hook fails.
int run_after_ctest(std::vector<std::string> const& folders) {
  try {
    for (RecordedRun const& run : runs_of_ctest(folders)) {
      print(summary_of(run));
      tracing::environment::limit_passed(run.folder.string(), kMaxPassedBytes);
    }
    (void)flush_output("summary");
  } catch (std::exception const& error) {
    report(std::string("testlog summary: ") + error.what() + "\n");
  }
  return kDone;
}

int run(Options const& options) {
  if (!options.after_ctest.empty()) return run_after_ctest(options.after_ctest);
  Summary const summary = summary_of(run_named("summary", options.run.empty() ? "latest" : options.run));
  if (summary.failed == 0 && summary.flaky.empty()) fmt::print("testlog: {} passed\n", counted(summary.tests, "test"));
  print(summary);
  return flush_output("summary") ? kDone : kFailed;
}

constexpr char kFooter[] = R"(
Failures count as one cause if the innermost span around the failure and the last event of level ERROR before it are the same or,
without such an event, the assertion. ctest prints this at its end, for the tests of testlog_discover_tests().

Examples:
  testlog summary
  testlog summary --run 4711

Exit status: 0 the run was summed up; 1 there is no such run; 2 a mistake in the command line.)";

}  // namespace

Command add_summary_command(CLI::App& program) {
  auto const options = std::make_shared<Options>();
  CLI::App* const app =
      program.add_subcommand("summary", "Sums up a run: how many tests failed, by their causes, and flaky ones.");
  app->add_option("-R,--run", options->run, "latest, or the beginning of an id that testlog runs prints")
      ->default_str("latest");
  app->add_option("--after-ctest", options->after_ctest,
                  "Sums up what the ctest that runs this command has left in these folders; never fails")
      ->type_name("FOLDER");
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace testlog::cli
