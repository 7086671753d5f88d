#include "testlog/cli/runs/packed_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"
#include "testlog/summary/recorded_tests.h"

namespace testlog::cli {
namespace {

using summary::is_failure;
using summary::TestOutcome;
using tracing::recording::Entry;
using tracing::recording::EntryType;
using tracing::recording::Recording;

std::string run_of(Recording& recording) {
  std::string run;
  recording.for_each([&run](Entry const& entry) {
    if (entry.type == EntryType::mark && entry.metadata->name() == "process")
      run = tracing::recording::text_of_field(entry, "run");
  });
  return run;
}

// Adds the next attempt of a test. What is known of the last failure stays if the test passes later.
void add(TestOutcome& test, TestOutcome attempt) {
  test.attempts.push_back({.number = static_cast<int>(test.attempts.size()) + 1,
                           .result = attempt.result,
                           .duration_ns = attempt.duration_ns,
                           .recording = attempt.recording,
                           .message = attempt.message.empty() ? attempt.how : attempt.message});
  attempt.attempts = std::move(test.attempts);
  bool const is_flaky =
      attempt.attempts.size() > 1 && !is_failure(attempt.result) && (is_failure(test.result) || test.is_flaky);
  if (is_flaky) {
    test.result = attempt.result;
    test.duration_ns = attempt.duration_ns;
    test.attempts = std::move(attempt.attempts);
  } else {
    test = std::move(attempt);
  }
  test.is_flaky = is_flaky;
}

}  // namespace

PackedRun read_packed_run(std::string const& command, std::vector<std::string> const& paths) {
  std::string const& path = paths.front();
  PackedRun packed;
  packed.run.folder = path;
  std::map<std::pair<std::string, std::string>, TestOutcome> tests;  // by the program and the name
  for (std::string const& file : files_of(command, Inputs{paths, {}})) {
    auto const opened = open_recording(command, file);
    if (opened == nullptr) {
      packed.is_complete = false;
      continue;
    }
    tracing::Instant const start = opened->recording->start();
    if (packed.recordings++ == 0) {
      packed.run.began = start;
      packed.summary.id = run_of(*opened->recording);
    }
    packed.run.last = std::max(packed.run.last, start);
    for (TestOutcome& outcome : summary::tests_in(*opened->recording, file)) {
      TestOutcome& test = tests[{outcome.command.substr(0, outcome.command.find(' ')), outcome.name}];
      add(test, std::move(outcome));
    }
  }
  if (!packed.summary.id.empty()) packed.run.ids = {packed.summary.id};
  packed.summary.folder = path;
  packed.summary.test_count = tests.size();
  for (auto& [name, test] : tests) {
    test.program = name.first.substr(name.first.rfind('/') + 1);
    test.key = test.program + "." + test.name;
    packed.summary.failed_count += is_failure(test.result) ? 1 : 0;
    packed.summary.flaky_count += test.is_flaky ? 1 : 0;
    packed.summary.tests.push_back(std::move(test));
  }
  packed.summary.causes = summary::causes_of(packed.summary.tests);
  if (!packed.summary.is_green())
    packed.summary.commands = {"testlog show --failed --run " + summary::shell_word(path)};
  return packed;
}

}  // namespace testlog::cli
