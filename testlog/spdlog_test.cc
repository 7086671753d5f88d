// What tested code logs with spdlog: recorded, shown in place of its console sinks, and all else as without testlog.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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

INSTANTIATE_TEST_SUITE_P(Shared, SpdlogInTests, testing::Values(TESTLOG_SPDLOG_SCENARIOS));
INSTANTIATE_TEST_SUITE_P(HeaderOnly, SpdlogInTests, testing::Values(TESTLOG_HEADER_ONLY_SCENARIOS));

TEST_P(SpdlogInTests, IsShownInTheSpansAndNotOnTheConsole) {
  Outcome const outcome = run_with({}, "Spdlog.Speaks");
  EXPECT_EQ(outcome.err, " INFO job{id=7}: spdlog: by default\n WARN job{id=7}: early: by name\n");
  EXPECT_THAT(outcome.out, Not(HasSubstr("by default")));
}

TEST_P(SpdlogInTests, IsShownAsTheFilterAsks) {
  EXPECT_EQ(run_with({{"TRACE_FILTER", "error,spdlog=debug,[job]=info"}}, "Spdlog.Speaks").err,
            " INFO job{id=7}: spdlog: by default\nDEBUG job{id=7}: spdlog: in detail\n WARN job{id=7}: early: by name\n");
}

TEST_P(SpdlogInTests, IsInTheStoryOfAFailingTest) {
  EXPECT_THAT(run_with({{"TRACE_SHOW", "failed"}}, "Spdlog.Fails").err, HasSubstr("DEBUG spdlog: in detail\n"));
}

// Where functions of spdlog cannot be replaced, loggers are looked for when a test begins.
TEST_P(SpdlogInTests, LoggersThatATestRegistersAreHeardInTheNext) {
  Outcome const outcome = run_with({{"TRACE_FILTER", "debug"}}, "SpdlogLogger.*");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, " INFO made_in_a_test: by default\nDEBUG made_in_a_test: in detail\n");
}

TEST_P(SpdlogInTests, EventsHaveTheStatementsPlace) {
  Outcome const outcome = run_with({{"TRACE_FORMAT", "pretty"}}, "Spdlog.SaysWhere");
  constexpr char const kBefore[] = "said in line ";
  std::size_t const at = outcome.out.find(kBefore);
  ASSERT_NE(at, std::string::npos) << outcome.out;
  std::string const line = std::to_string(std::atoi(outcome.out.c_str() + at + sizeof(kBefore) - 1));
  EXPECT_THAT(outcome.err,
              testing::MatchesRegex(
                  " +INFO early: from here\n    at [^\n]*testlog/testdata/spdlog_scenarios.cc:" + line + "\n\n"));
}

TEST_P(SpdlogInTests, CanBeTurnedOff) {
  Outcome const outcome = run_with({{"TRACE_SPDLOG", "off"}}, "Spdlog.Speaks");
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("[info] by default\n"));
  EXPECT_THAT(outcome.out, HasSubstr("[early] [warning] by name\n"));
}

TEST_P(SpdlogInTests, PrintsOnTheConsoleWhereNothingIsShown) {
  Outcome const outcome = run_with({{"TRACE_SHOW", "none"}}, "Spdlog.Speaks");
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("[info] by default\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("in detail")));
}

TEST_P(SpdlogInTests, PrintsOnTheConsoleWhereNobodyElseWould) {
  Outcome const lost = run_with({{"TRACE_SHOW", "failed"}, {"TRACE_CAPTURE", "off"}}, "Spdlog.FailsForAReason");
  EXPECT_THAT(lost.out, HasSubstr("[error] the reason\n"));
  Outcome const told = run_with({{"TRACE_SHOW", "failed"}}, "Spdlog.FailsForAReason");
  EXPECT_THAT(told.out, Not(HasSubstr("the reason")));
  EXPECT_THAT(told.err, HasSubstr("ERROR spdlog: the reason\n"));
  Outcome const kept_in_part = run_with({{"TRACE_SHOW", "failed"}, {"TRACE_CAPTURE", "early=trace"}}, "Spdlog.Speaks");
  EXPECT_THAT(kept_in_part.out, HasSubstr("[info] by default\n"));
  EXPECT_THAT(kept_in_part.out, Not(HasSubstr("by name")));
  Outcome const live = run_with({{"TRACE_FILTER", "warn"}, {"TRACE_CAPTURE", "off"}}, "Spdlog.Speaks");
  EXPECT_THAT(live.out, HasSubstr("[info] by default\n"));
  EXPECT_EQ(live.err, " WARN early: by name\n");
  Outcome const forked = run_with({{"TRACE_SHOW", "failed"}}, "Spdlog.LogsInAForkedChild");
  EXPECT_THAT(forked.out, HasSubstr("[info] from the child\n"));
}

class SpdlogAroundTests : public testing::TestWithParam<char const*> {
 protected:
  static Outcome run_shown(char const* show, char const* argument = "--gtest_print_time=0") {
    return run({GetParam(), argument}, {{"TRACE_SHOW", show}, {"TRACE_TIME", "none"}});
  }
};

INSTANTIATE_TEST_SUITE_P(Shared, SpdlogAroundTests, testing::Values(TESTLOG_SPDLOG_OWN_MAIN));
INSTANTIATE_TEST_SUITE_P(HeaderOnly, SpdlogAroundTests, testing::Values(TESTLOG_HEADER_ONLY_OWN_MAIN));

TEST_P(SpdlogAroundTests, PrintsOnTheConsoleWhatNoStoryTells) {
  for (char const* const show : {"failed", "all"}) {
    Outcome const ended = run_shown(show, "--without-config");
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.out, HasSubstr("[info] main begins\n")) << show;
    EXPECT_THAT(ended.out, HasSubstr("[critical] no config file\n")) << show;
    Outcome const outcome = run_shown(show);
    EXPECT_THAT(outcome.out, HasSubstr("[info] main begins\n")) << show;
    EXPECT_THAT(outcome.out, HasSubstr("[warning] main ends\n")) << show;
    EXPECT_THAT(outcome.out, Not(HasSubstr("in the test"))) << show;
    EXPECT_THAT(outcome.out, Not(HasSubstr("no database"))) << show;
  }
}

TEST_P(SpdlogAroundTests, IsPrintedOnceWhereItIsShownAsItHappens) {
  Outcome const ended = run_shown("live", "--without-config");
  EXPECT_EQ(ended.err, "[outside any test]  INFO spdlog: main begins\n[outside any test] ERROR spdlog: no config file\n");
  EXPECT_THAT(ended.out, IsEmpty());
}

TEST_P(SpdlogAroundTests, IsToldWhereSetUpEndsTheProcess) {
  Outcome const outcome = run_shown("failed", "--exit-in-set-up");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("exit() outside any test"));
  EXPECT_THAT(outcome.err, HasSubstr("ERROR spdlog: no database\n"));
}

// Rule 1.
TEST_P(SpdlogInTests, ResultsDoNotDependOnWhatIsShown) {
  for (char const* const filter : {"off", "info", "trace", "spdlog=debug"}) {
    for (char const* const show : {"live", "failed", "all", "none"}) {
      Outcome const outcome = run_with({{"TRACE_FILTER", filter}, {"TRACE_SHOW", show}}, "-Spdlog.Fails*");
      EXPECT_EQ(outcome.exit_code, 0) << filter << " " << show << "\n" << outcome.out << outcome.err;
    }
  }
  Outcome const off = run_with({{"TRACE_SPDLOG", "off"}}, "-Spdlog.Fails*:Spdlog.IsRecorded");
  EXPECT_EQ(off.exit_code, 0) << off.out << off.err;
  Outcome const not_there = run_with({{"TRACE_SHOW", "none"}, {"TRACE_CAPTURE", "off"}}, "-Spdlog.Fails*:Spdlog.IsRecorded");
  EXPECT_EQ(not_there.exit_code, 0) << not_there.out << not_there.err;
}

TEST_P(SpdlogInTests, NothingIsPrintedWhereTestsAreListed) {
  Outcome const outcome = run({GetParam(), "--gtest_list_tests"});
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, Not(HasSubstr("[")));
}

}  // namespace
