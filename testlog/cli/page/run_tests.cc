#include "testlog/cli/page/run_tests.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/read_summary.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/cli/runs/recording_head.h"
#include "testlog/summary/recorded_tests.h"
#include "tracing_core/environment/failed_attempts.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli::page {
namespace {

namespace fs = std::filesystem;
using summary::is_failure;
using summary::TestAttempt;
using summary::TestOutcome;

constexpr std::int64_t kMillisecond = 1'000'000;

std::int64_t began_ms(std::string const& file) {
  auto const start = start_of(file);
  return start ? start->ns / kMillisecond : 0;
}

Source source_of(std::string const& file, std::string_view result) {
  Source source{.file = file, .result = std::string(result)};
  if (!file.empty()) source.began_ms = began_ms(file);
  return source;
}

std::vector<Source> passing_of(std::string const& file) {
  std::vector<Source> passing;
  for (std::string const& passed : baseline_of(file)) passing.push_back(source_of(passed, "passed"));
  return passing;
}

// ---- a run of ctest ----

TestSources sources_of(std::string const& folder, TestOutcome const& test) {
  TestSources sources;
  for (auto attempt = test.attempts.rbegin(); attempt != test.attempts.rend(); ++attempt) {
    bool const is_kept = attempt->recording.empty() && attempt == test.attempts.rbegin() && !is_failure(test.result);
    std::string const& file = is_kept && !test.is_flaky ? test.recording : attempt->recording;
    sources.attempts.push_back(source_of(file, summary::name(attempt->result)));
  }
  if (is_failure(test.result) || test.is_flaky)
    sources.passing = passing_of((fs::path(folder) / (test.key + ".rec")).string());
  return sources;
}

RunTests read_run(RecordedRun const& run) {
  RunTests tests;
  tests.run = read_summary(run, {.passed = true});
  for (TestOutcome const& test : tests.run.tests) tests.sources.push_back(sources_of(tests.run.folder, test));
  return tests;
}

// ---- recordings ----

// Collects the tests of recordings, which are added in the order in which they began.
class Collector {
 public:
  void add(OpenedRecording& file) {
    RecordedTests const recorded = recorded_tests_of(*file.recording);
    auto tag = recorded.begin();
    std::int64_t const began = file.recording->start().ns / kMillisecond;
    auto outcomes = summary::tests_in(*file.recording, file.path);
    if (outcomes.empty()) outcomes.push_back(of_program(file));
    for (TestOutcome& outcome : outcomes) {
      bool const is_test = !outcome.name.empty() && !recorded.empty();
      std::uint32_t const number = is_test && tag != recorded.end() ? tag->first : 0;
      if (is_test && tag != recorded.end()) ++tag;
      add(file.path, number, began, std::move(outcome));
    }
  }

  RunTests finish() && {
    for (std::size_t i = 0; i < tests_.sources.size(); ++i) finish(tests_.run.tests[i], tests_.sources[i]);
    summary::RunSummary& run = tests_.run;
    run.test_count = run.tests.size();
    for (TestOutcome const& test : run.tests) {
      run.failed_count += is_failure(test.result) ? 1 : 0;
      run.flaky_count += test.is_flaky ? 1 : 0;
    }
    run.causes = summary::causes_of(run.tests);
    return std::move(tests_);
  }

 private:
  static std::string program_of(TestOutcome const& test) { return test.command.substr(0, test.command.find(' ')); }
  static TestOutcome of_program(OpenedRecording const& file) {
    TestOutcome outcome;
    outcome.name = tracing::recording::name_of_recording(file.path);
    outcome.recording = file.path;
    if (file.recording->end())
      outcome.duration_ns = std::max<std::int64_t>(0, file.recording->end().ns - file.recording->start().ns);
    return outcome;
  }

  void add(std::string const& file, std::uint32_t tag, std::int64_t began, TestOutcome outcome) {
    std::string const key = tracing::environment::name_of_attempt(fs::path(file).filename());
    auto const [at, is_new] = index_of_.try_emplace({program_of(outcome), outcome.name}, tests_.run.tests.size());
    if (is_new) {
      tests_.run.tests.emplace_back();
      tests_.sources.emplace_back();
    }
    TestOutcome& test = tests_.run.tests[at->second];
    TestSources& sources = tests_.sources[at->second];
    sources.attempts.insert(sources.attempts.begin(),
                            Source{file, tag, std::string(summary::name(outcome.result)), began});
    outcome.attempts = std::move(test.attempts);
    outcome.attempts.push_back({.number = static_cast<int>(outcome.attempts.size()) + 1,
                                .result = outcome.result,
                                .duration_ns = outcome.duration_ns,
                                .recording = file,
                                .message = outcome.message});
    outcome.key = fs::path(key).stem().string();
    bool const had_failed = !test.name.empty() && (is_failure(test.result) || test.is_flaky);
    if (had_failed && !is_failure(outcome.result)) {  // keeps the failure of the attempt before
      test.is_flaky = true;
      test.result = outcome.result;
      test.duration_ns = outcome.duration_ns;
      test.attempts = std::move(outcome.attempts);
    } else {
      test = std::move(outcome);
    }
  }

  static void finish(TestOutcome const& test, TestSources& sources) {
    if (!is_failure(test.result) && !test.is_flaky) return;
    sources.passing = passing_of(sources.attempts.front().file);
  }

  RunTests tests_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_of_;  // by program and name
};

RunTests read_recordings(std::vector<std::string> const& files) {
  Collector collector;
  bool is_complete = true;
  Progress progress("report", files.size(), "recordings", false);
  for (std::string const& path : files) {
    if (auto const file = open_recording("report", path)) {
      collector.add(*file);
    } else {
      is_complete = false;
    }
    progress.step();
  }
  RunTests tests = std::move(collector).finish();
  tests.is_complete = is_complete;
  return tests;
}

// Leaves out the tests that are not selected.
void select(RunTests& tests, Selection const& selection) {
  RunTests chosen;
  for (std::size_t i = 0; i < tests.sources.size(); ++i) {
    TestOutcome& test = tests.run.tests[i];
    bool const is_wanted =
        selection.tests.empty() || test.name == selection.tests || matches_any(test.name, selection.tests);
    if (!is_wanted || (selection.failed && !is_failure(test.result) && !test.is_flaky)) continue;
    chosen.run.tests.push_back(std::move(test));
    chosen.sources.push_back(std::move(tests.sources[i]));
  }
  tests.run.tests = std::move(chosen.run.tests);
  tests.sources = std::move(chosen.sources);
  tests.run.causes = summary::causes_of(tests.run.tests);
}

}  // namespace

std::optional<std::uint32_t> find_tag(tracing::recording::Recording& recording, std::string const& name) {
  std::optional<std::uint32_t> last, failed;
  if (name.empty()) return 0;  // outside of tests
  for (auto const& [tag, test] : tracing::recording::tests_of(recording)) {
    if (test.name != name) continue;
    last = tag;
    if (test.has_failed()) failed = tag;
  }
  return failed ? failed : last;
}

RunTests read_tests(Selection const& selection) {
  Inputs const inputs = with_run(selection.inputs);
  bool const is_ctest = inputs.paths.empty() && !tracing::recording::is_tar(inputs.run);
  RunTests tests = is_ctest ? read_run(run_named("report", inputs.run.empty() ? "latest" : inputs.run))
                            : read_recordings(files_of("report", inputs));
  if (selection.is_narrow()) select(tests, selection);
  return tests;
}

}  // namespace testlog::cli::page
