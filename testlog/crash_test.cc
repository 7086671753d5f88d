// Where a process may die: the report is there, and the way it ends stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <utility>

#include "testlog/testdata/run.h"
#include "tests/support/sanitizers.h"

namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;

constexpr char kEnd[] = "---- end of captured records ----\n";

TEST(Crash, ByEachSignalIsReported) {
  for (auto const& [signal, name] : {std::pair{SIGSEGV, "SIGSEGV"}, std::pair{SIGBUS, "SIGBUS"}, std::pair{SIGFPE, "SIGFPE"},
                                     std::pair{SIGILL, "SIGILL"}, std::pair{SIGABRT, "SIGABRT"}}) {
    Outcome const outcome = run_dying("Dies.ByOtherSignals", {{"SCENARIO_SIGNAL", std::to_string(signal)}});
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("---- " + std::string(name) + " in Dies.ByOtherSignals: "), EndsWith(kEnd)));
  }
}

TEST(Crash, ByTerminateIsReported) {
  Outcome const outcome = run_dying("Dies.ByTerminate");
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("---- SIGABRT in Dies.ByTerminate: "), HasSubstr(") died in outer\n"), EndsWith(kEnd)));
}

TEST(Crash, ByAnUncaughtExceptionIsReportedAfterTheTextOfTheRuntime) {
  Outcome const outcome = run_dying("Dies.ByAnExceptionOnAThread");
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("what():  unexpected end\n---- SIGABRT in "), HasSubstr("Dies_ByAnExceptionOnAThread"),
                                 EndsWith(kEnd)));
}

TEST(Crash, InsideMallocIsReported) {
  if (TESTLOG_ASAN || TESTLOG_TSAN) GTEST_SKIP() << "the sanitizer has a malloc of its own";
  Outcome const outcome = run_dying("Dies.InsideMalloc");
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(") died in allocate\n"), HasSubstr("  DEBUG allocate: dying_scenarios: before\n"),
                                 EndsWith(kEnd)));
}

TEST(Crash, InAFormatterIsReported) {
  Outcome const outcome = run_dying("Dies.InAFormatter");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(") died in print\n"), EndsWith(kEnd)));
}

TEST(Crash, WhileAnotherThreadIsInOurCodeIsReported) {
  Outcome const outcome = run_dying("Dies.WhileAnotherThreadFormats");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(") died in no span\n"), HasSubstr(") is in formatting\n"), EndsWith(kEnd)));
}

}  // namespace
