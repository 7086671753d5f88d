#include "testlog/cli/runs/brief.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/read_summary.h"
#include "testlog/cli/terminal.h"
#include "testlog/summary/run_summary.h"
#include "tracing_core/environment/failed_attempts.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using summary::TestOutcome;
using tracing::support::counted;

// How many bytes a part has at most. Ten failures and the commands then have at most kMaxBriefBytes.
constexpr std::size_t kMaxCauses = 10;
constexpr std::size_t kName = 80, kOthers = 50, kPlace = 90, kAssertion = 120, kSpans = 110, kWhy = 170, kWords = 80;

std::string in_line(std::string_view text, std::size_t max_bytes) {
  return summary::cut(printable(summary::on_one_line(text, 4 * max_bytes)), max_bytes);
}

// Returns the end of a text, at most `max_bytes`: the file of a path, or the innermost spans.
std::string end_of(std::string_view whole, std::size_t max_bytes) {
  constexpr std::string_view kBegin = "...";
  std::string const text = printable(summary::on_one_line(whole, 16 * 1024));
  if (text.size() <= max_bytes) return text;
  std::size_t begin = text.size() - max_bytes + kBegin.size();
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
  return std::string(kBegin).append(text.substr(begin));
}

// Returns the failures in a recording that are selected.
std::vector<TestOutcome> failures_in(std::string const& file, Selection const& selection) {
  auto const opened = open_recording("show", file);
  if (opened == nullptr) return {};
  std::set<std::string> selected;
  for (auto const& [tag, test] : recorded_tests_of(*opened->recording))
    if (selection.has(test)) selected.insert(test.name);
  if (selection.tests.empty()) selected.insert("");  // what failed outside of tests
  std::vector<TestOutcome> failures = outcomes_in(*opened);
  std::erase_if(failures, [&selected](TestOutcome const& test) {
    return !is_failure(test.result) || !selected.contains(test.name);
  });
  return failures;
}

// Returns the last failure of each test: a test may have failed in several attempts. Leaves out tests that passed in a
// later attempt, and reports that they are flaky.
std::vector<TestOutcome> failures_of(Selection const& selection) {
  std::map<std::pair<std::string, std::string>, TestOutcome> failures;  // by program and test
  std::vector<std::string> const files = files_of("show", selection.inputs);
  std::set<std::string> const flaky = flaky_of(files);
  std::vector<std::string> selected_flaky;
  Progress progress("show", files.size());
  for (std::string const& file : files) {
    std::string const program = tracing::environment::name_of_attempt(std::filesystem::path(file).filename());
    progress.step();
    std::vector<TestOutcome> tests = failures_in(file, selection);
    if (flaky.contains(file)) {
      if (!tests.empty()) selected_flaky.push_back(file);
      continue;
    }
    for (TestOutcome& test : tests) {
      test.key = tracing::recording::name_of_recording(program);
      failures[{program, test.name}] = std::move(test);
    }
  }
  report(notes_on_flaky("show", selected_flaky));
  std::vector<TestOutcome> all;
  for (auto& [key, failure] : failures) all.push_back(std::move(failure));
  return all;
}

// Returns `, and 7 more tests: Pool.Drains, Pool.Shrinks, ...` for the other tests of the cause.
std::string others_of(summary::RunSummary const& run, summary::Cause others) {
  others.tests.erase(others.tests.begin());
  if (others.tests.empty()) return {};
  return fmt::format(", and {}: {}", counted(others.tests.size(), "more test"),
                     in_line(names_of(run, others, 2), kOthers));
}

// Returns what may explain the failure: the first answer of `testlog why` or, without one, the last error.
std::string why_of(TestOutcome const& test) {
  auto const differences = differences_of(test, 1);
  if (!differences.empty()) return differences.front();
  if (test.error.empty()) return "unknown: no event of level ERROR, and no known difference from passing runs";
  return fmt::format("the last error before it: {} ({})", test.error, test.error_place);
}

std::string text_of(summary::RunSummary const& run, summary::Cause const& cause) {
  TestOutcome const& test = run.tests[cause.tests.front()];
  return fmt::format("{} {}{}\n  at: {}\n  assertion: {}\n  spans: {}\n  why: {}\n", in_line(name_of(test), kName),
                     summary::name(test.result), others_of(run, cause),
                     test.file.empty() ? "unknown" : end_of(fmt::format("{}:{}", test.file, test.line), kPlace),
                     in_line(test.message.empty() ? test.how : test.message, kAssertion),
                     test.span_path.empty() ? "none" : end_of(test.span_path, kSpans), in_line(why_of(test), kWhy));
}

// Returns the words that select the same recordings again, with a blank before each.
std::string words_of(Inputs const& inputs, std::string_view option = "") {
  if (inputs.paths.empty()) return inputs.run.empty() ? "" : " --run " + summary::shell_word(printable(inputs.run));
  std::string words(option);
  for (std::string const& path : inputs.paths) words += " " + summary::shell_word(printable(path));
  return words.size() <= kWords ? words : std::string(option) + " RECORDING...";
}

std::string commands_for(TestOutcome const& test, Inputs const& inputs) {
  std::string const word = summary::shell_word(printable(test.name));
  bool const has_name = !test.name.empty() && word.size() <= kName;
  std::string const name = has_name ? word : "NAME";
  return fmt::format(
      "testlog: read on{}:\n"
      "  testlog why --test {}{}\n"
      "  testlog tree --test {}{}\n"
      "  testlog show --test {} --time relative --filter info{}\n",
      has_name ? ", here about the first test" : "", name, words_of(inputs, " --failing"), name, words_of(inputs), name,
      words_of(inputs));
}

}  // namespace

std::string brief_of(Selection const& selection) {
  summary::RunSummary run;
  run.tests = failures_of(selection);
  run.causes = causes_of(run.tests);
  if (run.tests.empty()) return {};
  std::string text =
      fmt::format("testlog: {} failed, {}:\n", counted(run.tests.size(), "test"), counted(run.causes.size(), "cause"));
  for (std::size_t i = 0; i < std::min(kMaxCauses, run.causes.size()); ++i) text += text_of(run, run.causes[i]);
  if (run.causes.size() > kMaxCauses)
    text += fmt::format("... {} more causes; --test selects tests\n", run.causes.size() - kMaxCauses);
  return text + commands_for(run.tests[run.causes.front().tests.front()], with_run(selection.inputs));
}

}  // namespace testlog::cli
