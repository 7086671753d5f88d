// `testlog show --failed --brief`: what it prints about runs of scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <string>
#include <vector>

#include "testlog/testdata/ctest.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run_ctest;
using testlog::testdata::run_dying;
using testlog::testdata::run_scenarios;
using testlog::testdata::without_tree;

class Brief : public testing::Test {
 protected:
  // Runs `testlog show --failed --brief ARGUMENTS...` in the folder.
  Outcome brief(std::vector<std::string> const& arguments = {}) const {
    std::vector<std::string> words{
        "/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder_ / ".", TESTLOG_COMMAND, "show", "--failed", "--brief"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return testlog::testdata::run(words);
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(Brief, PrintsFiveLinesForEachCause) {
  std::string const build = folder_ / "build";
  testlog::testdata::write_ctest(build, {"Counted.Steps", "Plain.Fails", "Plain.FailsTwice", "Plain.Passes",
                                         "Report.OfRequestsAtTheSameTime", "SpansOnly.Fails"});
  for (char const* const steps : {"5", "5", "5", "20"})
    run_ctest(build, {}, {{"SCENARIO_STEPS", steps}, {"SCENARIO_COUNTER", folder_ / "counter"}});
  Outcome const outcome = brief();
  static std::regex const time("[0-9.]+ [mun]?s before the failure"), tree("\\.\\./\\.\\./");
  std::string const text = std::regex_replace(without_tree(outcome.out), time, "1.204 ms before the failure");
  tracing::testing::expect_approved("brief.txt", std::regex_replace(text, tree, ""));
}

TEST_F(Brief, HasTenCausesInEightThousandBytes) {
  run_scenarios(
      "Plain.*:Report.OfAValueOf*:Report.OfFail*:Report.OfAn*:Report.OfReq*:SpansOnly.*:ReportOfSetUp.*:Properties.*:"
      "SetUpOnce*:Captured.TooMuchFails",
      {{"TRACE_RECORD", folder_ / "run.rec"}});
  Outcome const outcome = brief({"run.rec"});
  EXPECT_EQ(testlog::testdata::count(outcome.out, "\n  why: "), 10) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr(" more causes"));
  EXPECT_LE(outcome.out.size(), 8000u);
}

TEST_F(Brief, HasTheSelectedTests) {
  run_scenarios("Plain.*", {{"TRACE_RECORD", folder_ / "run.rec"}});
  Outcome const outcome = brief({"--test", "*.Fails", "run.rec"});
  EXPECT_THAT(outcome.out, HasSubstr("testlog: 1 test failed, 1 cause:\nPlain.Fails failed\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  testlog tree --test Plain.Fails run.rec\n"));
}

TEST_F(Brief, HasTheSpansInWhichProcessesEnded) {
  for (std::string const test : {"BySegv", "InAFormatter", "WithLongTexts"})
    run_dying("Dies." + test, {{"TRACE_RECORD", folder_ / (test + ".rec")}});
  std::string const text = brief({"BySegv.rec", "InAFormatter.rec", "WithLongTexts.rec"}).out;
  EXPECT_THAT(text, HasSubstr("testlog: 3 tests failed, 3 causes:\n"));
  EXPECT_THAT(text, HasSubstr("  assertion: SIGSEGV\n  spans: outer{id=7}\n"));
  EXPECT_THAT(text, HasSubstr("  assertion: SIGSEGV\n  spans: print\n"));
}

TEST_F(Brief, SaysThatATestHung) {
  testlog::testdata::run_with_signals(
      "Hangs.InAMutex", {{"---- end of the report ----\n", SIGKILL}},
      {{"TRACE_RECORD", folder_ / "run.rec"}, {"TRACE_HANG_AFTER", "0.5"}, {"TRACE_SHOW", "failed"}});
  EXPECT_THAT(brief({"run.rec"}).out, HasSubstr("Hangs.InAMutex hung\n"));
}

TEST_F(Brief, SaysThatNothingFailed) {
  run_scenarios("Plain.Passes", {{"TRACE_RECORD", folder_ / "run.rec"}});
  Outcome const outcome = brief({"run.rec"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "testlog show: no selected test has failed\n");
}

TEST_F(Brief, RefusesOptionsThatItWouldIgnore) {
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {"--json"}, {"--filter", "info"}, {"--grep", "x"}, {"--time", "none"}, {"--follow"}}) {
    Outcome const outcome = brief(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments[0];
    EXPECT_THAT(outcome.err, HasSubstr(arguments[0])) << outcome.err;
  }
  EXPECT_EQ(testlog::testdata::run({TESTLOG_COMMAND, "show", "--brief"}).exit_code, 2) << "without --failed";
}

}  // namespace
