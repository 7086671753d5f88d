// The lines of `testlog why` at the end of a failure report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/spans.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

constexpr char kThird[] = "Flaky.FailsInEachThirdRun", kFourth[] = "Stale.FailsInEachFourthRun";

class WhyLines : public testing::Test {
 protected:
  void SetUp() override {
#ifndef TRACING_HAS_ZLIB
    GTEST_SKIP() << "passing runs are kept only with zlib";
#endif
  }

  // Runs scenarios `count` times and returns the outcome of the last run.
  Outcome run(std::string const& tests, int count, Variables variables = {}) const {
    variables.emplace_back("TRACE_RECORD_DEFAULT", recordings_ + "/");
    variables.emplace_back("SCENARIO_COUNTER", folder_ / "counter");
    Outcome outcome;
    for (int i = 0; i < count; ++i) outcome = testlog::testdata::run_scenarios(tests, variables);
    return outcome;
  }
  // Returns the lines of `testlog why` in a text.
  static std::string lines_in(std::string const& text) {
    std::istringstream lines(text);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
      static std::regex const pattern(R"(---- .* against .* ----|\d\. .*|\.\.\. .* more .*)");
      if (std::regex_match(line, pattern)) found += line + "\n";
    }
    return found;
  }
  std::vector<fs::path> passed() const {
    std::vector<fs::path> paths;
    for (auto const& entry : fs::directory_iterator(recordings_ + "/passed")) paths.push_back(entry.path());
    return paths;
  }
  static void damage(fs::path const& path) { std::ofstream(path) << "no recording"; }

  tracing_test::TemporaryFolder const folder_;
  std::string const recordings_ = folder_ / "recordings";
};

TEST_F(WhyLines, EndTheReport) {
  std::string text = run(kFourth, 4).err;
  text = std::regex_replace(text, std::regex(R"([^ (]*(testlog/testdata/))"), "$1");
  text = std::regex_replace(text, std::regex(R"([0-9.]+ (ns|us|ms|s) before)"), "T before");
  tracing::testing::expect_approved("why_lines.txt", std::regex_replace(text, std::regex(folder_ / ""), ""));
}

TEST_F(WhyLines, AreThoseOfTheCommand) {
  std::string const lines = lines_in(run(kFourth, 4).err);
  std::string command = lines_in(
      testlog::testdata::run({TESTLOG_COMMAND, "why", "--failing", recordings_, "--passing", recordings_ + "/passed"})
          .out);
  std::size_t const fourth = command.find("\n4. ");
  ASSERT_NE(fourth, command.npos) << command;
  EXPECT_EQ(lines, command.substr(0, fourth + 1) + "... 1 more (testlog why)\n");
}

TEST_F(WhyLines, NameTheInnermostSpanThatAnExceptionLeft) {
  constexpr char kThrows[] = "Parsed.ThrowsInEachFourthRun";
  std::string const report = run(kThrows, 4).err;
  EXPECT_THAT(lines_in(report),
              testing::MatchesRegex(".*: 1 failing run against 3 passing runs ----\n"
                                    "1\\. request:load:parse:line: left by an exception; in 0 of 3 passing runs .*"
                                    "; [0-9]+ more follow\n"));
  EXPECT_THAT(report, HasSubstr("thrown in request{runs=4}:load:parse:line"));
}

// Also by the handle of a span, but not those of destructors.
TEST_F(WhyLines, KnowWhichSpansExceptionsLeft) {
  run("Parsed.*", 4);
  std::string error;
  auto const recording = tracing::recording::Recording::read_file(recordings_ + "/testlog_scenarios.rec", error);
  ASSERT_NE(recording, nullptr) << error;
  std::string left, ended;
  tracing::recording::Spans spans;
  recording->for_each([&](tracing::recording::Entry const& entry) {
    spans.follow(entry);
    if (!leaves_span(entry.type) || spans.current() == nullptr) return;
    (entry.is_by_exception() ? left : ended).append(spans.current()->metadata->name()).append(" ");
  });
  EXPECT_EQ(left, "probe line parse load request ");
  EXPECT_EQ(ended, "clean ");
}

TEST_F(WhyLines, NameTheThreadThatAnEarlierTestLeft) {
  run("Left.*", 3);
  std::string const lines = lines_in(run("Left.*", 1, {{"SCENARIO_LEAVES", "1"}}).err);
  EXPECT_THAT(lines, testing::ContainsRegex("1\\. a thread of Left.RaisesTheLevel, which had ended, went on after "
                                            "\"raises the level\" \\([^ ]*process_scenarios.cc:[0-9]+\\): "
                                            "process_scenarios \"raised\"; in 0 of 3 passing runs "
                                            "\\([^ ]*process_scenarios.cc:[0-9]+, thread [0-9]+, "));
  EXPECT_THAT(lines, HasSubstr("2. process_scenarios \"looked\": level is 1; 0 in 3 of 3 passing runs"));
}

TEST_F(WhyLines, AreMissingIfNothingDiffers) { EXPECT_EQ(lines_in(run(kThird, 3).err), ""); }

TEST_F(WhyLines, NeedTwoPassingRuns) {
  run(kFourth, 3);
  damage(passed().at(0));
  EXPECT_THAT(run(kFourth, 1).err, HasSubstr(": 1 failing run against 2 passing runs ----\n"));
  run(kFourth, 3);  // the damaged one has moved on
  damage(passed().at(1));
  damage(passed().at(2));
  Outcome const outcome = run(kFourth, 1);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("---- end of captured records ----\n"));
  EXPECT_EQ(lines_in(outcome.err), "");
}

TEST_F(WhyLines, AreAboutTheTestAmongOthersInTheProcess) {
  std::string const tests = std::string("Plain.Passes:") + kThird + ":" + kFourth;
  Outcome const outcome = run(tests, 12);  // the counter is 23 and 24: the third test alone fails
  EXPECT_EQ(testlog::testdata::count(outcome.err, " failing run against "), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("---- " + std::string(kFourth) + ": 1 failing run against "));
  EXPECT_THAT(outcome.err, HasSubstr("request \"found\": is_stale is true; false in "));
}

TEST_F(WhyLines, AreJsonInAFileOfJson) {
  std::string const output = folder_ / "output.jsonl";
  run(kFourth, 4, {{"TRACE_FORMAT", "json"}, {"TRACE_OUTPUT", output}});
  std::istringstream lines(testlog::testdata::content_of(output));
  std::vector<std::string> texts;
  for (std::string line; std::getline(lines, line);) {
    auto const object = nlohmann::json::parse(line);
    if (object.value("kind", "") != "why") continue;
    EXPECT_EQ(object["test"], kFourth);
    texts.push_back(object["text"]);
  }
  EXPECT_THAT(texts, testing::ElementsAre(std::string(kFourth) + ": 1 failing run against 3 passing runs",
                                          testing::StartsWith("1. request \"found\": is_stale is true"),
                                          HasSubstr("2. "), HasSubstr("3. "), "... 1 more (testlog why)"));
}

TEST_F(WhyLines, AreNotPrintedWithShowNone) { EXPECT_EQ(run(kFourth, 4, {{"TRACE_SHOW", "none"}}).err, ""); }

}  // namespace
