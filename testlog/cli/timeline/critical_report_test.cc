// `testlog slow --critical`: the chain of tests that bounds a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/approval.h"
#include "tests/support/record_process.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/tracing.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing_test::RecordedProcess;

class SlowCritical : public testing::Test {
 protected:
  std::string record(RecordedProcess process, std::string const& test, std::int64_t begin, std::int64_t end) {
    process.test = test;
    process.begin = begin;
    process.end = end;
    std::string const path = folder_ / (std::to_string(files_.size()) + ".rec");
    files_.push_back(tracing_test::record_process(path, process));
    return path;
  }
  Outcome slow(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), "--critical");
    more.insert(more.end(), files_.begin(), files_.end());
    return run_command("slow", more);
  }

  tracing_test::TemporaryFolder const folder_;
  std::vector<std::string> files_;
};

TEST_F(SlowCritical, PrintsTheChainOfTheRunThatEndedLast) {
  RecordedProcess const a{.host = "builder-1", .run = "4711-96231"}, b{.host = "builder-2", .run = "52-7"};
  RecordedProcess failing = a;
  failing.result = "failed";
  record(a, "Pool.Grows", 0, 400);
  record(a, "Cache.Evicts", 2, 300);
  record(a, "Cache.Fills", 301, 350);
  record(failing, "Pool.Waits", 405, 1400);
  record(a, "Cache.Clears", 360, 500);
  record(a, "Reduce.Large", 1402, 3000);
  record(b, "Scan.Large", 0, 2000);
  record(b, "Scan.Small", 1, 100);
  Outcome const outcome = slow();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  tracing::testing::expect_approved("slow_critical.txt", outcome.out);
}

TEST_F(SlowCritical, PrintsTheLongestTestsOfALongChain) {
  RecordedProcess const process{.host = "builder-1", .run = "1-1"};
  for (int i = 0; i < 30; ++i) record(process, "Test.N" + std::to_string(i), i * 100, i * 100 + 50 + i % 3);
  Outcome const outcome = slow({"--top", "4"});
  EXPECT_THAT(outcome.out, HasSubstr("30 tests in 2.952 s, 1 slot, "));
  EXPECT_THAT(outcome.out, HasSubstr("52.000 ms  49.000 ms  Test.N2\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Test.N11\n... 26 shorter (--top)\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Test.N3\n")));
  EXPECT_THAT(slow({"--top", "0"}).out, Not(HasSubstr("shorter")));
}

TEST_F(SlowCritical, LeavesOutWhatTestsStarted) {
  RecordedProcess process{.host = "a", .run = "1-1"};
  process.body = [] { TRACE_SPAN(info, "spawn"); };
  std::string const path = record(process, "Tool.Runs", 0, 100);
  process.test = "Tool.Runs";
  RecordedProcess child{.host = "a", .run = "1-1", .traceparent = tracing_test::traceparent_in(path, process, "spawn")};
  record(child, "Inner.Test", 10, 90);
  EXPECT_THAT(slow().out, HasSubstr("1 test in 100.000 ms, 1 slot, idle for 0 ns (0%)\n"));
}

TEST_F(SlowCritical, SaysThatTestsThatPassedLeftNoRecordings) {
  RecordedProcess failing{.host = "a", .run = "1-1"};
  failing.result = "failed";
  record(failing, "Pool.Waits", 0, 100);
  EXPECT_EQ(
      slow().err,
      "testlog slow: no test that passed left a recording; after TRACE_RECORD_KEEP=all ctest, all tests leave one\n");
}

TEST_F(SlowCritical, SaysThatClocksDiffer) {
  RecordedProcess parent{.host = "a", .run = "1-1"};
  parent.body = [] { TRACE_SPAN(info, "spawn"); };
  std::string const path = record(parent, "Tool.Runs", 1000, 1100);
  RecordedProcess child{.host = "b", .traceparent = tracing_test::traceparent_in(path, parent, "spawn")};
  record(child, "", 0, 10);
  EXPECT_THAT(slow().err, HasSubstr("the clock of b is at least 1.000 s behind the clock of a"));
}

TEST_F(SlowCritical, NeedsTestsAndAllOfThem) {
  record({.host = "a"}, "", 0, 10);
  Outcome const outcome = slow();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "testlog slow: --critical needs recordings of test programs\n");
  for (std::vector<std::string> const& more :
       std::vector<std::vector<std::string>>{{"--failed"}, {"--test", "A.*"}, {"--filter", "info"}})
    EXPECT_EQ(slow(more).exit_code, 2);
}

}  // namespace
