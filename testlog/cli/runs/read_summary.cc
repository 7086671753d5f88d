#include "testlog/cli/runs/read_summary.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "testlog/cli/runs/recording_head.h"
#include "testlog/summary/recorded_tests.h"
#include "testlog/why/baseline.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using summary::is_failure;
using summary::Result;
using summary::RunSummary;
using summary::TestAttempt;
using summary::TestOutcome;
using tracing::recording::Recording;

constexpr std::size_t kMaxLineBytes = 4096;

// A recording that an attempt has left.
struct AttemptFile {
  tracing::Instant start;
  std::string path;
  int number = 1;  // of the attempt
};
using TestKey = std::pair<std::string, std::string>;  // the name of its recording, and its program
using AttemptFiles = std::map<TestKey, std::vector<AttemptFile>>;

TestKey key_of(TestOfRun const& test) { return {test.recording, test.program}; }

// Returns true if a ctest of the run made the attempt.
bool is_of(RecordedRun const& run, Attempts::Attempt const* attempt) {
  return attempt != nullptr && std::find(run.ids.begin(), run.ids.end(), attempt->run) != run.ids.end();
}

// Finds the recordings of tests that failed in an attempt, the earliest first.
AttemptFiles files_of(RecordedRun const& run, Attempts const& attempts, std::vector<TestOfRun> const& tests) {
  AttemptFiles files;
  for (TestOfRun const& test : tests)
    if (test.has_failed() || test.is_flaky()) files[key_of(test)] = {};
  std::error_code error;
  for (std::string const& file :
       tracing::recording::recordings_in(run.folder.string(), tracing::recording::Folders::only_this, error)) {
    Attempts::Attempt const* const attempt = attempts.attempt_of(file);
    auto const found = is_of(run, attempt) ? files.find({attempt->recording, attempt->program}) : files.end();
    auto const start = found == files.end() ? std::nullopt : start_of(file);
    if (start && run.has(*start)) found->second.push_back({*start, file, attempt->number});
  }
  for (auto& [name, found] : files)
    std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.start < b.start; });
  return files;
}

std::vector<TestOutcome> read_tests(std::string const& path) {
  std::string error;
  OpenedRecording file{.path = path, .recording = Recording::read_file(path, error)};
  return file.recording == nullptr ? std::vector<TestOutcome>() : outcomes_in(file);
}

// Splits the name of a recording: `mylib_test.Pool.Grows` into the program and the test or, if ctest ran a whole
// program, `unit_tests.mylib_test` into the test of ctest and the program.
void set_names(TestOutcome& test, std::string const& key) {
  std::string const program = fs::path(test.command.substr(0, test.command.find(' '))).filename();
  if (!program.empty() && !test.name.empty() && ("." + key).ends_with("." + program)) {
    test.key = key;
    test.program = program;
    test.ctest = key.substr(0, key.size() - std::min(key.size(), program.size() + 1));
    return;
  }
  std::size_t const last = key.rfind('.');
  std::size_t const dot = last == key.npos || last == 0 ? key.npos : key.rfind('.', last - 1);
  test.key = key;
  test.program = dot == key.npos ? "" : key.substr(0, dot);
  if (test.name.empty()) test.name = dot == key.npos ? key : key.substr(dot + 1);
}

// Reads one test of a run after the other.
class Reader {
 public:
  Reader(RecordedRun const& run, ReadOptions const& options)
      : run_(run), options_(options), attempts_(run.folder), tests_(attempts_.tests_of(run)) {}

  RunSummary read() {
    files_ = files_of(run_, attempts_, tests_);
    summary_.id = run_.ids.empty() ? "" : run_.ids.front();
    summary_.folder = run_.folder.string();
    for (TestOfRun const& test : tests_) {
      summary_.test_count += test.test_count();
      summary_.failed_count += test.failed_count();
      summary_.flaky_count += test.flaky_count();
      add(test);
    }
    summary_.causes = summary::causes_of(summary_.tests);
    return std::move(summary_);
  }

 private:
  void add(TestOfRun const& test) {
    std::vector<TestOutcome> outcomes;
    if (auto const found = files_.find(key_of(test)); found != files_.end() && !found->second.empty()) {
      if (read_++ < options_.max_recordings) {
        outcomes = read_tests(found->second.back().path);
      } else if (test.has_failed()) {
        ++summary_.unread;
      }
    } else if (options_.passed && !test.has_failed()) {
      outcomes = read_passed(test);
    }
    if (test.is_flaky()) std::erase_if(outcomes, [](TestOutcome const& one) { return !is_failure(one.result); });
    if (outcomes.empty()) outcomes.push_back(by_log(test));
    for (TestOutcome& outcome : outcomes) add(test, std::move(outcome));
  }

  // Returns what the newest kept recording has, if this run made it.
  std::vector<TestOutcome> read_passed(TestOfRun const& test) const {
    auto const kept = baseline_of((run_.folder / test.recording).string());
    auto const start = kept.empty() ? std::nullopt : start_of(kept.front());
    return start && run_.has(*start) ? read_tests(kept.front()) : std::vector<TestOutcome>();
  }

  static TestOutcome by_log(TestOfRun const& test) {
    TestOutcome outcome;
    bool const has_ended = !test.attempts.empty() && test.attempts.back().passed.has_value();
    outcome.result = !test.has_failed() ? Result::passed : has_ended ? Result::failed : Result::unfinished;
    return outcome;
  }

  void add(TestOfRun const& test, TestOutcome outcome) {
    bool const is_by_log = outcome.recording.empty();
    bool const is_outside = !is_by_log && outcome.name.empty();
    set_names(outcome, fs::path(test.recording).stem().string());
    if (is_outside) outcome.name.clear();
    add_attempts(test, outcome);
    if (is_by_log && !test.attempts.empty()) outcome.duration_ns = outcome.attempts.back().duration_ns;
    outcome.is_flaky = test.is_flaky();
    if (outcome.is_flaky) outcome.result = Result::passed;
    summary_.tests.push_back(std::move(outcome));
  }

  void add_attempts(TestOfRun const& test, TestOutcome& outcome) {
    for (Attempts::Attempt const& attempt : test.attempts) {
      TestAttempt one{.number = attempt.number, .duration_ns = attempt.ended.ns - attempt.began.ns};
      if (!attempt.passed.value_or(false)) one.result = attempt.passed ? Result::failed : Result::unfinished;
      if (auto const found = files_.find(key_of(test)); found != files_.end() && is_failure(one.result))
        for (AttemptFile const& file : found->second)
          if (file.number == attempt.number) one.recording = file.path;
      outcome.attempts.push_back(std::move(one));
    }
    for (TestAttempt& one : outcome.attempts) {
      bool const is_read = one.recording == outcome.recording;
      if (is_read && !one.recording.empty()) {
        one.message = outcome.message.empty() ? outcome.how : outcome.message;
        one.result = outcome.result;
      } else if (!one.recording.empty() && read_++ < options_.max_recordings) {
        for (TestOutcome const& other : read_tests(one.recording)) {
          if (other.name != outcome.name) continue;
          one.result = other.result;
          if (is_failure(one.result)) one.message = other.message.empty() ? other.how : other.message;
        }
      }
    }
  }

  RecordedRun const& run_;
  ReadOptions const& options_;
  Attempts const attempts_;
  std::vector<TestOfRun> const tests_;
  AttemptFiles files_;
  std::size_t read_ = 0;
  RunSummary summary_;
};

// Returns a testlog command, with --run unless it would read this run anyway.
std::string command_of(std::string_view words, RecordedRun const& run) {
  bool const is_last = run.next_began == tracing::Instant{INT64_MAX};
  return "testlog " + std::string(words) + (is_last || run.ids.empty() ? "" : " --run " + run.ids.front());
}

}  // namespace

std::vector<TestOutcome> outcomes_in(OpenedRecording& file) {
  std::vector<TestOutcome> tests = summary::tests_in(*file.recording, file.path);
  auto const lacks_spans = [](TestOutcome const& test) {
    return is_failure(test.result) && test.result != Result::failed && test.span_path.empty();
  };
  if (std::none_of(tests.begin(), tests.end(), lacks_spans)) return tests;
  file.recording->for_each([&file](tracing::recording::Entry const& entry) { file.learn(entry); });
  std::string const path = path_at_end(file);
  for (TestOutcome& test : tests)
    if (lacks_spans(test)) summary::set_span_path(test, path);
  return tests;
}

RunSummary read_summary(RecordedRun const& run, ReadOptions const& options) {
  RunSummary summary = Reader(run, options).read();
  if (!summary.is_green()) summary.commands = {command_of("show --failed", run)};
  return summary;
}

void explain_causes(RunSummary& run, std::size_t max_causes, std::size_t max_lines) {
  constexpr std::string_view kShow = "testlog show --failed";
  bool can_explain = false;  // testlog why has passing runs to compare with
  for (std::size_t i = 0; i < std::min(max_causes, run.causes.size()); ++i) {
    TestOutcome const& first = run.tests[run.causes[i].tests.front()];
    run.causes[i].why = differences_of(first, max_lines);
    can_explain |= baseline_of(first.recording).size() >= why::kMinPassing;
  }
  if (!can_explain || run.commands.empty() || !run.commands.front().starts_with(kShow)) return;
  run.commands.insert(run.commands.begin(), "testlog why" + run.commands.front().substr(kShow.size()));
}

std::vector<std::string> differences_of(TestOutcome const& failure, std::size_t max_lines) {
  std::string error;
  auto const recording = Recording::read_file(failure.recording, error);
  if (recording == nullptr) return {};
  std::uint64_t entries_left = why::kMaxCompared;
  auto const explanation = why::explain_by_baseline({.name = failure.name,
                                                     .recording = *recording,
                                                     .file = failure.recording,
                                                     .is_ending = false,
                                                     .passing = baseline_of(failure.recording)},
                                                    entries_left);
  std::vector<std::string> lines;
  for (std::size_t i = 0; explanation && i < std::min(max_lines, explanation->causes.size()); ++i)
    lines.push_back(why::line_of(explanation->causes[i], explanation->passing));
  return lines;
}

void for_each_line_of_report(TestOutcome const& test, std::function<void(std::string_view)> const& f) {
  std::string error;
  OpenedRecording file{.path = test.recording, .recording = Recording::read_file(test.recording, error)};
  if (test.recording.empty() || file.recording == nullptr) return;
  LineOptions options{.marks = true, .relative_time = true};
  options.format.timer = nullptr;
  options.format.shorten_span_values = options.format.value_sanitization = true;
  options.selection.tests = test.name;
  LinePrinter printer("summary", std::move(options), [&](std::string_view text) {
    while (!text.empty()) {
      std::string_view const line = text.substr(0, std::min(text.find('\n'), text.size()));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      if (!line.empty()) f(summary::cut(line, kMaxLineBytes));
    }
  });
  try {
    printer.add(file, true);
    printer.finish();
  } catch (std::runtime_error const&) {  // it names too much to print; the lines so far count
  }
}

std::vector<std::string> report_of(TestOutcome const& test, std::size_t max_lines) {
  std::deque<std::string> lines;
  for_each_line_of_report(test, [&lines, max_lines](std::string_view line) {
    lines.emplace_back(line);
    if (lines.size() > max_lines) lines.pop_front();
  });
  return {std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end())};
}

}  // namespace testlog::cli
