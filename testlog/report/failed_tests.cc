#include "testlog/report/failed_tests.h"

#include <errno.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "testlog/summary/recorded_tests.h"
#include "testlog/summary/xml_text.h"
#include "tracing_core/record/recording.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::recording::Entry;

constexpr std::size_t kMaxInFilter = 3;

// Returns commands that tell more. Without a recording, the first command makes one, of a test for each of the first
// causes.
std::vector<std::string> commands_of(summary::RunSummary const& run, std::string const& recording) {
  if (!recording.empty()) return {"testlog show --failed " + summary::shell_word(recording)};
  std::vector<std::string> tests;
  for (std::size_t i = 0; i < std::min(kMaxInFilter, run.causes.size()); ++i) {
    std::string const& name = run.tests[run.causes[i].tests.front()].name;
    if (!name.empty()) tests.push_back(name);
  }
  return {"TRACE_RECORD=run.rec " + summary::shell_word(program_invocation_name) + " " +
              summary::selection_of(framework::current().name, tests),
          "testlog show run.rec"};
}

// Returns an element that ctest parses as XML.
std::string measurement(std::string const& tag, std::string_view type, std::string_view name, std::string_view value) {
  return "<" + tag + summary::xml_attribute("type", type) + summary::xml_attribute("name", name) + ">" +
         summary::xml_text(value) + "</" + tag + ">\n";
}

}  // namespace

void FailedTests::note(std::string_view test, framework::Part const& failure, std::string const& path) {
  auto const [found, is_new] = tests_.try_emplace(std::string(test));
  if (!is_new) return;
  summary::TestOutcome& outcome = found->second.outcome;
  outcome.name = test;
  outcome.result = summary::Result::failed;
  std::string_view const file = failure.file == nullptr ? "" : failure.file;
  summary::set_failure(outcome, file, failure.line, failure.message);
  summary::set_span_path(outcome, path);
  found->second.ticks = capture_.now();
}

void FailedTests::end_test(std::string const& test, TestTag tag) {
  auto const found = tests_.find(test);
  auto const recording = found == tests_.end() ? nullptr : capture_.read(capture_.begin_of_test());
  if (recording == nullptr) return;
  FailedTest& failed = found->second;
  recording->for_each([&failed, tag](Entry const& entry) {
    bool const counts = entry.type == tracing::recording::EntryType::event && entry.tag == tag && !entry.is_context;
    if (counts && entry.metadata->level() == tracing::Level::error && entry.ticks <= failed.ticks)
      summary::set_error(failed.outcome, entry);
  });
}

std::string FailedTests::text(int tests, std::string const& recording) const {
  if (tests_.size() < 2) return {};
  summary::RunSummary run;
  run.test_count = static_cast<std::size_t>(tests);
  for (auto const& [name, test] : tests_) {
    run.failed_count += name.empty() ? 0 : 1;
    run.tests.push_back(test.outcome);
  }
  run.causes = summary::causes_of(run.tests);
  run.commands = commands_of(run, recording);
  return summary::text_of(run);
}

std::string FailedTests::cdash_text(std::string const& recording) const {
  if (tests_.empty()) return {};
  std::string const& path = tests_.begin()->second.outcome.span_path;
  std::string text = measurement("CTestMeasurement", "numeric/double", "failed tests", std::to_string(tests_.size()));
  if (!path.empty()) text += measurement("CTestMeasurement", "text/string", "spans", path);
  if (!recording.empty()) text += measurement("CTestMeasurementFile", "file", "recording", recording);
  return text;
}

}}  // namespace testlog::v1
