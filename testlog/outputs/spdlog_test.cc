// Tested code that logs with spdlog: its messages are recorded, and shown in place of spdlog's console output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testlog/testdata/run.h"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run;
using testlog::testdata::Variables;

class SpdlogInTests : public testing::TestWithParam<char const*> {
 protected:
  static Outcome run_with(Variables variables, std::string const& filter = "*") {
    variables.emplace_back("TRACE_TIME", "none");
    return run({GetParam(), "--gtest_print_time=0", "--gtest_filter=" + filter}, variables);
  }
};

INSTANTIATE_TEST_SUITE_P(Library, SpdlogInTests, testing::Values(TESTLOG_SPDLOG_SCENARIOS));
INSTANTIATE_TEST_SUITE_P(HeaderOnly, SpdlogInTests, testing::Values(TESTLOG_HEADER_ONLY_SCENARIOS));

TEST_P(SpdlogInTests, AreShownInTheirSpansAndNotOnTheConsole) {
  Outcome const outcome = run_with({}, "Spdlog.Logs");
  EXPECT_EQ(outcome.err, " INFO job{id=7}: spdlog: by default\n WARN job{id=7}: early: by name\n");
  EXPECT_THAT(outcome.out, Not(HasSubstr("by default")));
}

TEST_P(SpdlogInTests, AreSelectedByTheFilter) {
  EXPECT_EQ(run_with({{"TRACE_FILTER", "error,early=warn"}}, "Spdlog.Logs").err, " WARN early: by name\n");
}

TEST_P(SpdlogInTests, AreInTheReportOfAFailingTest) {
  Outcome const outcome = run_with({{"TRACE_SHOW", "failed"}}, "Spdlog.Fails");
  EXPECT_THAT(outcome.err, HasSubstr("ERROR spdlog: the reason\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("the reason")));
}

TEST_P(SpdlogInTests, LoggersThatATestRegistersAreAttachedInTheNext) {
  Outcome const outcome = run_with({}, "SpdlogLogger.*");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, " INFO made_in_a_test: in the next\n");
}

TEST_P(SpdlogInTests, CanBeTurnedOff) {
  Outcome const outcome = run_with({{"TRACE_SPDLOG", "off"}}, "Spdlog.Logs");
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("[info] by default\n"));
  EXPECT_THAT(outcome.out, HasSubstr("[early] [warning] "));
}

TEST_P(SpdlogInTests, ArePrintedOnTheConsoleIfNothingIsShown) {
  Outcome const outcome = run_with({{"TRACE_SHOW", "none"}}, "Spdlog.Logs");
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("[info] by default\n"));
}

TEST_P(SpdlogInTests, ArePrintedOnTheConsoleIfNothingIsShownLiveOrCaptured) {
  Outcome const lost = run_with({{"TRACE_SHOW", "failed"}, {"TRACE_CAPTURE", "off"}}, "Spdlog.Fails");
  EXPECT_THAT(lost.out, HasSubstr("[error] the reason\n"));
}

TEST_P(SpdlogInTests, ArePrintedOnTheConsoleOutsideOfTheTests) {
  Outcome const outcome = run({GetParam(), "--log-in-main", "--gtest_filter=Spdlog.Logs"}, {{"TRACE_SHOW", "failed"}});
  EXPECT_THAT(outcome.out, HasSubstr("[info] before the tests\n"));
  EXPECT_THAT(outcome.out, HasSubstr("[info] after the tests\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("by default")));
}

// Rule 1.
TEST_P(SpdlogInTests, ResultsDoNotDependOnWhatIsShown) {
  for (char const* const filter : {"off", "info", "trace"}) {
    for (char const* const show : {"live", "failed", "all", "none"}) {
      Outcome const outcome = run_with({{"TRACE_FILTER", filter}, {"TRACE_SHOW", show}}, "-Spdlog.Fails");
      EXPECT_EQ(outcome.exit_code, 0) << filter << " " << show << "\n" << outcome.out << outcome.err;
    }
  }
  for (Variables const& variables :
       {Variables{{"TRACE_SPDLOG", "off"}}, {{"TRACE_SHOW", "none"}, {"TRACE_CAPTURE", "off"}}}) {
    Outcome const outcome = run_with(variables, "-Spdlog.Fails:Spdlog.IsRecorded*");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
}

}  // namespace
