// Messages other than records: about signals, settings, variables, filters and matchers, compared with approved files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/matchers.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tracing_core/tracing.h"

namespace {

using testing::Gt;
using testing::HasSubstr;
using testlog::testdata::run_dying;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using testlog::testdata::without_tree;
using tracing::testing::expect_approved;

// Replaces the system's numbers of threads, `(4711)`, by `(0)`, and removes the frames of stacks.
std::string without_numbers(std::string const& with_stacks) {
  std::string text = std::regex_replace(with_stacks, std::regex("    #[^\n]*\n"), "");
  for (std::size_t at = 0; (at = text.find('(', at)) != text.npos; ++at) {
    std::size_t end = at + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end > at + 1 && end < text.size() && text[end] == ')') text.replace(at + 1, end - at - 1, "0");
  }
  return text;
}

// Returns the messages of failures, as GoogleTest prints them, without file and line.
std::string failures(std::string const& filter, Variables const& variables = {}) {
  std::istringstream lines(run_scenarios(filter, variables).out);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(": Failure")) {
      inside = true;
    } else if (line.starts_with('[')) {
      inside = false;
    } else if (inside) {
      text += line + "\n";
    }
  }
  return text;
}

TEST(Printed, ReportsOfSignals) {
  expect_approved("signal.txt", without_numbers(run_dying("Dies.BySegv").err));
  expect_approved("abort.txt", without_numbers(run_dying("Dies.ByAbort").err));
  expect_approved("signal_nothing_shown.txt",
                  without_numbers(run_dying("Dies.BySegv", {{"TRACE_SHOW", "failed"}}).err));
}

TEST(Printed, FailuresOfFailOn) {
  expect_approved("fail_on.txt", failures("Settings.FailsOnWarnings"));
  expect_approved("fail_on_without_capture.txt", failures("Settings.FailsOnWarnings", {{"TRACE_CAPTURE", "off"}}));
}

TEST(Printed, FailureOfRecordsWithoutCapture) {
  expect_approved("records_without_capture.txt", failures("Captured.StartsEmpty", {{"TRACE_CAPTURE", "off"}}));
}

TEST(Printed, FailureOfRecordsNamesTheCaller) {
  EXPECT_THAT(
      run_scenarios("Captured.StartsEmpty", {{"TRACE_CAPTURE", "off"}}).out,
      testing::ContainsRegex("testdata/scenarios.cc:[0-9]+: Failure\nFailed\ntestlog::records\\(\\) does not have"));
}

TEST(Printed, ReportsOfVariables) {
  std::string text;
  for (Variables const& variables : std::vector<Variables>{
           {{"TRACE_FILTER", "info,library=debgu"}},
           {{"TRACE_CAPTURE", "trace,[launch"}},
           {{"TRACE_SHOW", "alive"}, {"TRACE_FORMAT", "JSON"}, {"TRACE_SPAN_EVENTS", "clsoe"}, {"TRACE_COLOR", "blue"}},
           {{"TRACE_OUTPUT", "/no/such/folder/file"}},
       }) {
    text += run_scenarios("Plain.Skips", variables).err;
  }
  expect_approved("variables.txt", text);
}

TEST(Printed, FiltersThatMatchedNothingAndHelp) {
  expect_approved("unmatched.txt",
                  without_tree(run_scenarios("Plain.Fails", {{"TRACE_FILTER", "error,libary=info,[lanch]=info"}}).err));
  expect_approved("help.txt", run_scenarios("Plain.Passes", {{"TRACE_FILTER", "help"}}).err);
}

TEST(Printed, RecordsAndMatchers) {
  {
    TRACE_SPAN(info, "launch", tracing::target("gpu"), tracing::kv("stream", 7), tracing::kv("mode", "fast"));
    TRACE_WARN("moved {} bytes", 12, tracing::target("gpu"), tracing::kv("kept", true));
  }
  auto const records = testlog::records();
  std::string text;
  for (testlog::Record const& record : records) text += testing::PrintToString(record) + "\n";
  for (testing::Matcher<testlog::Record const&> const& matcher : std::vector<testing::Matcher<testlog::Record const&>>{
           testlog::HasField("kept"), testlog::HasField("kept", false), testlog::HasField("lost"),
           testlog::HasField("lost", Gt(1)), testlog::HasMessage(HasSubstr("moved")), testlog::HasTarget("host"),
           testlog::Event(testlog::HasField("kept", true),
                          testlog::InSpan("launch", testlog::HasField("stream", 8)))}) {
    testing::StringMatchResultListener listener;
    bool const matches = matcher.MatchAndExplain(records.at(1), &listener);
    text += testing::DescribeMatcher<testlog::Record const&>(matcher) + "\n  ";
    text += (matches ? "matches" : "does not match") + (listener.str().empty() ? "" : ": " + listener.str()) + "\n";
  }
  expect_approved("matchers.txt", text);
}

}  // namespace
