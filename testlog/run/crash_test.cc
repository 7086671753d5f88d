// Wherever a process dies, it writes the report, and ends as it would without testlog.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <string_view>
#include <utility>

#include "testlog/testdata/run.h"
#include "tests/support/sanitizers.h"

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;

constexpr char kEnd[] = "---- end of captured records ----\n";

TEST(Crash, ByEachSignalIsReported) {
  for (auto const& [signal, name] :
       {std::pair{SIGSEGV, "SIGSEGV"}, std::pair{SIGBUS, "SIGBUS"}, std::pair{SIGFPE, "SIGFPE"},
        std::pair{SIGILL, "SIGILL"}, std::pair{SIGABRT, "SIGABRT"}}) {
    Outcome const outcome = run_dying("Dies.ByOtherSignals", {{"SCENARIO_SIGNAL", std::to_string(signal)}});
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_THAT(outcome.err,
                AllOf(StartsWith("---- " + std::string(name) + " in Dies.ByOtherSignals: "), EndsWith(kEnd)));
  }
}

TEST(Crash, ByTerminateIsReported) {
  Outcome const outcome = run_dying("Dies.ByTerminate");
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("---- SIGABRT in Dies.ByTerminate: "), HasSubstr(") died in outer\n"), EndsWith(kEnd)));
}

TEST(Crash, ByAnUncaughtExceptionIsReportedAfterTheTextOfTheRuntime) {
  Outcome const outcome = run_dying("Dies.ByAnExceptionOnAThread");
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("what():  unexpected end\n---- SIGABRT in "),
                                 HasSubstr("Dies_ByAnExceptionOnAThread"), EndsWith(kEnd)));
}

TEST(Crash, InsideMallocIsReported) {
  if (TESTLOG_ASAN || TESTLOG_TSAN) GTEST_SKIP() << "the sanitizer has a malloc of its own";
  Outcome const outcome = run_dying("Dies.InsideMalloc");
  EXPECT_EQ(outcome.signal, SIGABRT);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(") died in allocate\n"),
                                 HasSubstr("  DEBUG allocate: dying_scenarios: before\n"), EndsWith(kEnd)));
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

// The frames after the address are the frames of the calls.
TEST(Crash, ByAJumpToNoCodeHasTheStackOfTheCaller) {
  std::pair<char const*, char const*> const jumps[] = {
      {"Dies.ByACallOfNull", "  jump to address 0x0: a null pointer\n"},
      {"Dies.ByACallOfANumber", "  jump to address 0x1234: not mapped\n"},
      {"Dies.ByACallIntoData", "  jump to address 0x[0-9a-f]+: mapped, but not executable\n"},
      // Sanitizers may map a freed page again.
      {"Dies.ByACallIntoAFreedPage", "  jump to address 0x[0-9a-f]+: (not mapped|mapped, but not executable)\n"},
      {"Dies.ByACallIntoItsStack", "  jump to address 0x[0-9a-f]+: mapped, but not executable\n"},
  };
  for (auto const& [test, cause] : jumps) {
    Outcome const outcome = run_dying(test, {{"SCENARIO_OWN_HANDLER", "1"}});
    EXPECT_EQ(outcome.exit_code, 9) << "the handler of the program runs";
    EXPECT_THAT(outcome.err, AllOf(ContainsRegex(cause), HasSubstr(" died in calling\n"),
                                   ContainsRegex("    #0 0x[0-9a-f]+, which is no code\n"
                                                 "    #1 \\(anonymous namespace\\)::call [^\n]+\n"
                                                 "    #2 [^\n]+::TestBody [^\n]+\n---- end"),
                                   EndsWith(std::string(kEnd) + "own handler\n")));
  }
}

TEST(Crash, WithADamagedStackIsReportedToTheEnd) {
  for (char const* const test : {"Dies.ByAReturnToANumber", "Dies.ByAReturnToNoAddress", "Dies.OnADamagedStack"}) {
    Outcome const outcome = run_dying(test, {{"SCENARIO_OWN_HANDLER", "1"}});
    EXPECT_EQ(outcome.exit_code, 9) << "the handler of the program runs";
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("  the stack of the thread that died:\n    #0 "),
                      HasSubstr("    (the stack is damaged here)\n"), EndsWith(std::string(kEnd) + "own handler\n")));
  }
}

TEST(Crash, SaysWhatTheSignalSaysOfItsCause) {
  std::pair<char const*, char const*> const causes[] = {
      {"Dies.ByWildPointer", "(write|access) to address 0x10: a null pointer and an offset"},
      {"Dies.ByAWriteToCode", "(write|access) to address 0x[0-9a-f]+: mapped, but not writable"},
      {"Dies.ByAReadOfNothing", "(read of|access to) address 0x0: a null pointer"},
      {"Dies.ByAReadOfAFreedPage", "(read of|access to) address 0x[0-9a-f]+: not mapped"},
      {"Dies.ByStackOverflow", "(write|access) to address 0x[0-9a-f]+: the stack has overflowed"},
      {"Dies.BehindAFile", "(write|access) to address 0x[0-9a-f]+: behind the end of a mapped file"},
      {"Dies.ByADivision", "integer division by zero, or of the least integer by -1"},
      {"Dies.ByATrap", "no valid instruction, or a trap such as that of __builtin_trap\\(\\)"},
      {"Dies.ByAnotherProcess", "sent by process [0-9]+"},
  };
  for (auto const& [test, cause] : causes) {
    if (TESTLOG_ASAN != 0 && std::string_view(test) == "Dies.ByADivision")
      continue;  // UndefinedBehaviorSanitizer is first
    EXPECT_THAT(run_dying(test).err, ContainsRegex("---- SIG[A-Z]+ in " + std::string(test) + ": [^\n]+\n  " + cause));
  }
}

#ifdef TESTLOG_SANITIZED_SCENARIOS
Outcome run_sanitized(std::string const& filter) {
  return testlog::testdata::run({TESTLOG_SANITIZED_SCENARIOS, "--gtest_filter=" + filter}, {{"TRACE_TIME", "none"}});
}

TEST(Sanitizer, IsFollowedByTheReportIfItEndsTheProcess) {
  Outcome const outcome = run_sanitized("Sanitized.UsesFreedMemory");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.err,
      ContainsRegex("SUMMARY: AddressSanitizer: heap-use-after-free [^$]*"
                    "---- a sanitizer's report in Sanitized.UsesFreedMemory: open spans and captured records not "
                    "shown yet ----\n"
                    "  thread main \\([0-9]+\\) died in load\\{id=7\\}\n"
                    "  DEBUG load\\{id=7\\}: sanitized_scenarios: not shown\n"
                    "---- end of captured records ----\n"));
}

TEST(Sanitizer, IsPrecededByTheOpenSpansIfItGoesOn) {
#ifdef __clang__
  GTEST_SKIP() << "its programs contain hooks of its own";
#endif
  Outcome const outcome = run_sanitized("Sanitized.Overflows");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.err,
      ContainsRegex("^---- UndefinedBehaviorSanitizer reports an error in Sanitized.Overflows: open spans ----\n"
                    "  thread main \\([0-9]+\\) is in add\n"
                    "---- end of open spans ----\n"
                    "[^\n]+ runtime error: signed integer overflow"));
}
#endif

}  // namespace
