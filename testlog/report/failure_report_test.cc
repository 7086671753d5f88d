// Failure reports of programs, compared with approved files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using testlog::testdata::without_tree;
using tracing::testing::expect_approved;

// Returns what the tests print, with paths of sources relative to the root of the tree.
std::string text_of(std::string const& filter, Variables const& variables = {},
                    std::vector<std::string> const& more = {}) {
  return without_tree(run_scenarios(filter, variables, more).err);
}

TEST(FailureReport, PrintsCapturedRecords) { expect_approved("fails.txt", text_of("Plain.Fails")); }
TEST(FailureReport, PrintsLongFieldsOfSpansOnce) {
  expect_approved("report_of_requests.txt", text_of("Report.OfRequestsAtTheSameTime"));
}
TEST(FailureReport, PrintsLongFieldsInEveryLineOnDemand) {
  expect_approved("report_of_requests_lines.txt",
                  text_of("Report.OfRequestsAtTheSameTime", {{"TRACE_REPORT", "lines"}}));
}
TEST(FailureReport, IsOmittedIfAllRecordsWereShown) {
  expect_approved("fails_at_trace.txt", text_of("Plain.Fails", {{"TRACE_FILTER", "trace"}}));
}
TEST(FailureReport, HasAllRecordsWithShowFailed) {
  expect_approved("fails_show_failed.txt", text_of("Plain.*", {{"TRACE_SHOW", "failed"}}));
}
TEST(FailureReport, FollowsRecordsOfPassingTestsWithShowAll) {
  expect_approved("show_all.txt", text_of("Plain.Passes:Plain.Fails", {{"TRACE_SHOW", "all"}}));
}
TEST(FailureReport, IsOmittedWithShowNone) {
  EXPECT_THAT(run_scenarios("Plain.*", {{"TRACE_SHOW", "none"}}).err, IsEmpty());
}
TEST(FailureReport, IsOmittedWithoutCapture) {
  expect_approved("fails_without_capture.txt", text_of("Plain.Fails", {{"TRACE_CAPTURE", "off"}}));
}
TEST(FailureReport, HasOtherFormats) {
  for (char const* const format : {"compact", "pretty", "json"}) {
    expect_approved(std::string("fails_") + format + ".txt", text_of("Plain.Fails", {{"TRACE_FORMAT", format}}));
  }
}
// The live line has the whole value; reports, spans in front of records and messages of .fail_on do not.
TEST(FailureReport, PrintsALongValueOnce) {
  for (char const* const format : {"full", "compact", "pretty", "json"}) {
    Outcome const run =
        run_scenarios("Report.OfAValueOfThreeMegabytes", {{"TRACE_FAIL_ON", "error"}, {"TRACE_FORMAT", format}});
    std::size_t const size = run.out.size() + run.err.size();
    EXPECT_GT(size, 3u << 20) << format;
    EXPECT_LT(size, (3u << 20) + (300u << 10)) << format;
    EXPECT_THAT(run.err, HasSubstr("xxx... (3145728 bytes)")) << format;
    EXPECT_THAT(run.out, HasSubstr("bytes)")) << format;
  }
}
TEST(FailureReport, PrintsSpanEvents) {
  expect_approved("fails_span_events.txt",
                  text_of("Plain.Fails", {{"TRACE_SPAN_EVENTS", "new,enter"}, {"TRACE_FILTER", "info"}}));
}
TEST(FailureReport, HasSpansInWhichNothingWasRecorded) {
  std::string text;
  for (char const* const format : {"full", "compact", "pretty", "json"}) {
    text += text_of("SpansOnly.*", {{"TRACE_FORMAT", format}}) + "\n";
  }
  expect_approved("fails_spans_only.txt", text);
}
TEST(FailureReport, HasTheDurationsOfSilentSpansIfLinesHaveTimes) {
  Variables const uptime{{"TRACE_TIME", "uptime"}};
  EXPECT_THAT(run_scenarios("SpansOnly.Fails", uptime).err,
              testing::ContainsRegex("multiply\\{rows=2 columns=3\\}: [a-z]+: close "
                                     "time.busy=[0-9.]+ms time.idle=[0-9.]+[^ ]*s\n"));
  Variables slow = uptime;
  slow.emplace_back("TRACE_PERF_THRESHOLD_US", "60000000");
  EXPECT_EQ(run_scenarios("SpansOnly.Fails", slow).err, "    in checking\n");
}
TEST(FailureReport, HasSilentSpansOnceIfChangesOfSpansAreShown) {
  auto const report = [](std::string const& text) { return text.substr(text.find("----")); };
  for (char const* const show : {"live", "failed", "all"}) {
    std::string const text =
        text_of("SpansOnly.Fails", {{"TRACE_SHOW", show}, {"TRACE_SPAN_EVENTS", "close"}, {"TRACE_FILTER", "info"}});
    EXPECT_EQ(testlog::testdata::count(report(text), ": close\n"), 6) << show << text;
    std::string const begins =
        text_of("SpansOnly.Fails", {{"TRACE_SHOW", show}, {"TRACE_SPAN_EVENTS", "new"}, {"TRACE_FILTER", "info"}});
    EXPECT_EQ(testlog::testdata::count(report(begins), ": new\n"), 6) << show << begins;
    EXPECT_THAT(begins, Not(HasSubstr("close")));
  }
}
TEST(FailureReport, NamesTheParameterOfATest) {
  std::string const text = text_of("*Values.Fails/1:*Types/1.Fails");
  EXPECT_THAT(text, HasSubstr("---- Some/Values.Fails/1, where GetParam() = 2: captured records ----"));
  EXPECT_THAT(text, HasSubstr("---- Types/1.Fails, where TypeParam = char: captured records ----"));
}
TEST(FailureReport, CutsAFieldOfAMegabyte) {
  Outcome const outcome = run_scenarios("Captured.AFieldOfAMegabyte");
  EXPECT_THAT(outcome.err, HasSubstr("scenarios: received image=\"xxx"));
  EXPECT_THAT(outcome.err, HasSubstr("xxx... (1048576 bytes)\"\n FAIL "));
  EXPECT_EQ(testlog::testdata::count(outcome.out, ": Failure"), 1) << outcome.out;
  EXPECT_THAT(outcome.err + outcome.out, Not(HasSubstr("overwritten")));
}
TEST(FailureReport, IsOmittedForSkippedAndExpectedFailures) {
  EXPECT_THAT(text_of("Plain.Skips:Plain.ExpectsAFailure"), Not(HasSubstr("----")));
  expect_approved("skipped_after_error.txt", text_of("Skipped.AfterAnError", {{"TRACE_SHOW", "failed"}}));
}

TEST(FailureReport, HasRecordsOfTheSuiteSetUpOnce) {
  expect_approved("suite_set_up.txt", text_of("SetUpOnce.A*:SetUpOnce.B*:SetUpOnce.C*"));
}
TEST(FailureReport, HasRecordsOfTheSuiteSetUpInEachRun) {
  Outcome const outcome = run_scenarios("SetUpOnce.A*:SetUpOnce.B*", {}, {"--gtest_repeat=2"});
  EXPECT_EQ(testlog::testdata::count(outcome.err, "opening: SetUpOnce: device has room for 4 bytes\n"), 2)
      << outcome.err;
}
TEST(FailureReport, HasNoRecordsOfTheSetUpOfOtherSuites) {
  EXPECT_THAT(text_of("SetUpOnce.A*:Some/Values.*"), Not(HasSubstr("has room for")));
}
TEST(FailureReport, HasRecordsOfEnvironmentsAndInitialisersOnce) {
  std::string const text = text_of("SetUpOnce.A*:SetUpOnce.B*:Some/Values.*", {{"SCENARIO_OUTSIDE", "1"}});
  for (char const* const line : {"[outside any test] DEBUG library: spoken\n",
                                 "[outside any test] DEBUG Surroundings: environment set up in detail\n"}) {
    EXPECT_EQ(testlog::testdata::count(text, line), 1) << text;
    EXPECT_GT(text.find(line), text.find("---- SetUpOnce.BFails")) << text;
  }
}
TEST(FailureReport, HasRecordsOfTheSetUpOnceIfTestsAreShownAtTheirEnd) {
  for (char const* const show : {"all", "failed"}) {
    std::string const text = text_of("SetUpOnce.*:-*.D*:*.F*", {{"TRACE_SHOW", show}});
    std::string const reports = text.substr(text.find("---- SetUpOnce.BFails"));
    for (char const* const line : {"device opened\n", "device has room for 4 bytes\n"}) {
      EXPECT_EQ(testlog::testdata::count(reports, line), 1) << text;
    }
  }
}
TEST(FailureReport, SaysIfRecordsOfTheSetUpWereOverwritten) {
  std::string const text = text_of("SetUpFills.Fails", {{"TRACE_RECORD_LIMIT", "262144"}});
  EXPECT_THAT(text, HasSubstr("---- earlier set-up records were overwritten (TRACE_RECORD_LIMIT) ----\n"));
  EXPECT_THAT(text, HasSubstr("DEBUG scenarios: of one that failed\n"));
  EXPECT_THAT(text, Not(HasSubstr(" earlier records were overwritten")));
}
TEST(FailureReport, HasTheFirstAndTheLastRecordsOfATestThatFilledTheRecording) {
  std::string const text = text_of("Captured.TooMuchFails", {{"TRACE_RECORD_LIMIT", "262144"}});
  EXPECT_THAT(text,
              HasSubstr(" earlier records were overwritten (TRACE_RECORD_LIMIT) ----\nTRACE scenarios: filling i=0\n"));
  EXPECT_THAT(text, HasSubstr("TRACE scenarios: filling i=199999\n"));
  EXPECT_THAT(text, HasSubstr("ERROR scenarios: in the middle\n"));
}
TEST(FailureReport, HasFirstRecordsOfTheProgramAfterATestThatFilledTheRecording) {
  std::string const text = text_of("SetUpOnce.D*:SetUpOnce.E*", {{"TRACE_RECORD_LIMIT", "262144"}});
  EXPECT_THAT(text, HasSubstr("[outside any test] DEBUG opening: SetUpOnce: device has room for 4 bytes\n"
                              "DEBUG scenarios: of one that failed\n"));
  EXPECT_THAT(text, Not(HasSubstr("overwritten")));
}

// ---- what it looks like ----

TEST(FailureReport, LooksAsApproved) {
  for (auto const& [name, test] : std::vector<std::pair<std::string, std::string>>{
           {"threads", "Report.OfSixtyFourThreads"},
           {"failures_in_threads", "Report.OfFailuresInThreeThreads"},
           {"hidden_spans", "Report.OfAnErrorInHiddenSpans"},
           {"set_up", "ReportOfSetUp.Fails"},
           {"death_test", "ReportOfDeath.*"},
           {"red_death_test", "RedDeathTest.MessageDiffers"},
           {"several_tests", "Plain.F*:SetUpOnce.A*:SetUpOnce.B*:ReportOfSetUp.*"},
       }) {
    expect_approved("report_of_" + name + ".txt", text_of(test));
  }
  Variables const short_one{{"TRACE_REPORT_LINES", "40"}};
  expect_approved("report_of_many_failures.txt", text_of("Report.OfManyFailures", short_one));
  // The number of overwritten records depends on their times.
  expect_approved("report_of_two_million_events.txt",
                  std::regex_replace(text_of("Report.OfTwoMillionEvents", short_one),
                                     std::regex("[0-9]+( earlier)? records"), "<n>$1 records"));
}
TEST(FailureReport, HasAtMost200LinesByDefault) {
  std::string const text = text_of("Captured.TooMuchFails");
  EXPECT_EQ(testlog::testdata::count(text, "\n"), 1 + 1 + 150 + 1 + 2 + 1) << text;
  EXPECT_EQ(testlog::testdata::count(text, " records left out; TRACE_REPORT_LINES=0 prints all\n"), 2);
  std::string const all = text_of("Captured.TooMuchFails", {{"TRACE_REPORT_LINES", "0"}});
  EXPECT_EQ(testlog::testdata::count(all, "\n"), 1 + 1 + 200'000 + 1 + 1 + 1);
}
TEST(FailureReport, NamesWhatIsLeftOutIfLimitedToOneLine) {
  EXPECT_THAT(text_of("Plain.Fails", {{"TRACE_REPORT_LINES", "1"}, {"TRACE_FILTER", "off"}}),
              testing::EndsWith("---- Plain.Fails: captured records ----\n"
                                "... 6 records and 1 failure left out; TRACE_REPORT_LINES=0 prints all\n"
                                "---- end of captured records ----\n"));
}
TEST(FailureReport, NamesTheRecordingThatHasWhatIsLeftOut) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder / "run.rec";
  std::string text = text_of("Captured.TooMuchFails", {{"TRACE_RECORD", path}, {"TRACE_REPORT_LINES", "10"}});
  for (std::size_t at; (at = text.find(path)) != text.npos;) text.replace(at, path.size(), "run.rec");
  expect_approved("report_with_gaps.txt", text);
}
TEST(FailureReport, HasTheTimeSinceTheTestBegan) {
  std::string const text = text_of("SetUpOnce.A*:SetUpOnce.B*", {{"TRACE_TIME", "utc"}});
  EXPECT_THAT(text, testing::ContainsRegex(
                        "\n +-[0-9]+\\.[0-9]{3} ms \\[outside any test\\] DEBUG opening: SetUpOnce: device has "
                        "room for 4 bytes\n"
                        " +\\+[0-9]+\\.[0-9]{3} ms DEBUG scenarios: of the first that failed\n"
                        " +\\+[0-9]+\\.[0-9]{3} ms  FAIL "));
}

// ---- spans without records ----

TEST(FailureReport, LeavesOutSpansThatOnlyWaited) {
  std::string const text = text_of("Waiting.OfThreads");
  EXPECT_THAT(text, Not(HasSubstr("wait_for_job")));
  EXPECT_THAT(text, Not(HasSubstr("join: process_scenarios: close")));
  EXPECT_THAT(text, testing::ContainsRegex("\n\\[pool [0-9]+\\] DEBUG job\\{i=2\\}: process_scenarios: done\n"));
  EXPECT_THAT(text, HasSubstr("[main] DEBUG multiply: process_scenarios: close\n"));
  EXPECT_THAT(text, HasSubstr("[main]  INFO checking: process_scenarios: close\n")) << "it is where the failure was";
  EXPECT_THAT(text_of("Waiting.OfThreads", {{"TRACE_SPAN_EVENTS", "close"}}), HasSubstr("[idle] DEBUG wait_for_job"));
}

// ---- death tests ----

class RedDeathTests : public testing::TestWithParam<char const*> {
 protected:
  std::string text_of_test(std::string const& filter, Variables const& variables = {}) const {
    return text_of(filter, variables, {std::string("--gtest_death_test_style=") + GetParam()});
  }
  static constexpr char kBroken[] = "[child 1] ERROR break_invariant{id=1}: process_scenarios: invariant broken\n";
};

TEST_P(RedDeathTests, ReportsHaveWhatTheChildRecorded) {
  for (Variables const& variables : std::vector<Variables>{{},
                                                           {{"CI", "true"}},
                                                           {{"TRACE_FILTER", "trace"}},
                                                           {{"TRACE_FILTER", "trace"}, {"CI", "true"}},
                                                           {{"TRACE_THREADS", "off"}},
                                                           {{"TRACE_SHOW", "all"}}}) {
    std::string const text = text_of_test("RedDeathTest.MessageDiffers", variables);
    EXPECT_EQ(testlog::testdata::count(text, "invariant broken"), 1) << text;
    EXPECT_THAT(text,
                testing::ContainsRegex("---- RedDeathTest.MessageDiffers: captured records ----\n.*FAIL testlog.*"
                                       "\\[child 1\\] ERROR break_invariant.*\n---- end of captured records ----"));
    EXPECT_THAT(text, HasSubstr(kBroken));
  }
}
TEST_P(RedDeathTests, ReportsSayWhereTheChildEnded) {
  EXPECT_THAT(text_of_test("RedDeathTest.EndsInASpan"),
              HasSubstr("[child 1]  INFO outermost:innermost: testlog: the process ended here\n"));
}
TEST_P(RedDeathTests, ReportsNameTheThreadsOfTheChild) {
  EXPECT_THAT(text_of_test("RedDeathTest.DiesOnAThread"),
              testing::AllOf(
                  HasSubstr("[child 1]  INFO process_scenarios: starts a thread\n"),
                  HasSubstr("[child 1: crasher] ERROR break_invariant{id=2}: process_scenarios: invariant broken\n")));
}
TEST_P(RedDeathTests, ReportsHaveAllChildren) {
  std::string const text = text_of_test("RedDeathTest.FailsAfterOthersThatPass");
  EXPECT_THAT(text, HasSubstr("[child 1] ERROR body:break_invariant{id=1}: process_scenarios: invariant broken\n"));
  EXPECT_THAT(text, HasSubstr("[child 2] ERROR body: process_scenarios: in the child\n"));
  EXPECT_THAT(text, HasSubstr("[child 3]  WARN body: process_scenarios: lives\n"));
  EXPECT_THAT(text_of_test("RedDeathTest.FailsElsewhere"), HasSubstr(kBroken));
  EXPECT_THAT(text_of_test("RedDeathTest.IsKilled"), HasSubstr("[child 1]  WARN process_scenarios: the last words\n"));
}
TEST_P(RedDeathTests, ReportsHaveTheLastOfManyChildren) {
  std::string const text = text_of_test("RedDeathTest.HasManyChildren");
  EXPECT_THAT(text, HasSubstr("[child 15] ERROR break_invariant{id=15}: "));
  EXPECT_THAT(text, HasSubstr("[child 16] ERROR break_invariant{id=20}: "));
  EXPECT_THAT(text, Not(HasSubstr("{id=16}")));
}
TEST_P(RedDeathTests, ReportsHaveAllThreadsOfTheChild) {
  tracing_test::TemporaryFolder const folder;
  for (Variables const& variables : {Variables(), Variables{{"TRACE_RECORD", folder / "run.rec"}}}) {
    std::string const text = text_of_test("RedDeathTest.BeginsOnFourThreads", variables);
    EXPECT_EQ(testlog::testdata::count(text, "on one of four threads"), 4) << text;
  }
}
TEST_P(RedDeathTests, ReportsHaveNothingOfTheChildsChild) {
  std::string const text = text_of_test("RedDeathTest.ForksInTheChild");
  EXPECT_THAT(text, HasSubstr("[child 1] ERROR process_scenarios: of the child\n"));
  EXPECT_THAT(text, Not(HasSubstr("of the child's child")));
}
TEST_P(RedDeathTests, ReportsHaveTheRecordsOfAChildThatFails) {
  EXPECT_THAT(text_of_test("RedDeathTest.FailsInTheChild"),
              HasSubstr("[child 1]  INFO process_scenarios: the child goes on\n"));
}
TEST_P(RedDeathTests, ReportsHaveTheRecordsAtAnyLimit) {
  EXPECT_THAT(text_of_test("RedDeathTest.MessageDiffers", {{"TRACE_RECORD_LIMIT", "2G"}}), HasSubstr(kBroken));
}
TEST_P(RedDeathTests, ReportsOfExitHaveThemToo) {
  EXPECT_THAT(text_of_test("RedDeathTest.CallsExit"), HasSubstr(kBroken));
}
TEST_P(RedDeathTests, AreInJsonToo) {
  EXPECT_THAT(
      text_of_test("RedDeathTest.MessageDiffers", {{"TRACE_FORMAT", "json"}, {"TRACE_SHOW", "failed"}}),
      HasSubstr(
          R"("message":"invariant broken"},"target":"process_scenarios","span":{"id":1,"name":"break_invariant"},)"
          R"("spans":[{"id":1,"name":"break_invariant"}],"test":"RedDeathTest.MessageDiffers","thread":"child 1"})"));
}
TEST_P(RedDeathTests, LeaveNothingToOtherTests) {
  std::string const text = text_of_test("GreenDeathTest.*", {{"TRACE_FILTER", "trace"}});
  EXPECT_THAT(text, Not(HasSubstr("invariant broken")));
  for (char const* const show : {"live", "failed", "all"})
    EXPECT_THAT(text_of_test("GreenDeathTest.Dies", {{"TRACE_FILTER", "trace"}, {"TRACE_SHOW", show}}),
                Not(HasSubstr("child")))
        << show;
}

INSTANTIATE_TEST_SUITE_P(Styles, RedDeathTests, testing::Values("fast", "threadsafe"));

TEST(RedDeathTests, SurviveAFailureOfAnotherThread) {
  std::string const text = text_of("RedDeathTest.FailsElsewhereMeanwhile");
  EXPECT_THAT(text, HasSubstr("[child 1]  INFO process_scenarios: the child goes on\n"));
  EXPECT_EQ(testlog::testdata::count(text, " FAIL "), 1) << text;
}

TEST(CrashReport, HasRecordsOfTheSetUp) {
  std::string const text = testlog::testdata::run_dying("SetUpOnce.A*:SetUpOnce.F*").err;
  EXPECT_THAT(text, HasSubstr("  [outside any test] DEBUG opening: SetUpOnce: device has room for 4 bytes\n"));
  EXPECT_THAT(text, Not(HasSubstr("of a test that passed")));
}

TEST(SpanPath, FollowsTheFailure) {
  std::string const text = run_scenarios("Plain.FailsTwice").err;
  EXPECT_THAT(text, HasSubstr("    in first\n    in second\n"));
}
TEST(SpanPath, NamesWhereAnExceptionWasThrown) {
  EXPECT_THAT(run_scenarios("Plain.Throws").err, HasSubstr("    thrown in launch{count=3}:check\n"));
  EXPECT_THAT(run_scenarios("Plain.ThrowsOutsideSpans").err, Not(HasSubstr("    thrown in")));
  EXPECT_THAT(run_scenarios("Exceptions.InAnInnerSpanAfterACaughtOne").err, HasSubstr("    thrown in second\n"));
  EXPECT_THAT(run_scenarios("Exceptions.ThrownAgain").err, HasSubstr("    thrown in outer\n"));
}
TEST(SpanPath, IgnoresSpansOfDestructors) {
  EXPECT_THAT(run_scenarios("Exceptions.PassThroughDestructors").err, HasSubstr("    thrown in outer:inner\n"));
  EXPECT_THAT(run_scenarios("Exceptions.PassSpansThatAreOnlyMade").err, HasSubstr("    thrown in outer:inner\n"));
}

}  // namespace
