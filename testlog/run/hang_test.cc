// The reports of test programs that hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <string>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::content_of;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run_scenarios;
using testlog::testdata::run_with_signals;
using testlog::testdata::Variables;
using tracing::testing::expect_approved;

constexpr char kWhyNotThreadSanitizer[] = "the runtime has a thread of its own, and defers signals";
constexpr char kEnd[] = "---- end of the report ----\n";

// Returns the text without stacks, times and the system's numbers of threads.
std::string scrubbed(std::string text) {
  text = std::regex_replace(text, std::regex("    (#[0-9]+ [^\n]*|\\.\\.\\.)\n"), "");
  std::string const timeless = std::regex_replace(text, std::regex("[0-9]+\\.[0-9]{3} m?s"), "<time>");
  return std::regex_replace(timeless, std::regex("\\([0-9]+\\)"), "(<number>)");
}

// Returns what a test prints until its first report ends; then it is killed.
std::string report_of(std::string const& filter, Variables variables = {}) {
  variables.emplace_back("TRACE_HANG_AFTER", "0.5");
  variables.emplace_back("TRACE_SHOW", "failed");
  Outcome const outcome = run_with_signals(filter, {{kEnd, SIGKILL}}, variables);
  EXPECT_EQ(outcome.signal, SIGKILL) << outcome.err;
  return scrubbed(outcome.err);
}

TEST(Hang, IsReportedWithTestThreadsAndSpans) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << kWhyNotThreadSanitizer;
  std::string reports;
  for (char const* const test :
       {"Hangs.InAMutex", "Hangs.InAConditionVariable", "Hangs.AfterAMissedWakeUp", "Hangs.InALoop",
        "Hangs.InAForkedChild", "Hangs.InAFormatter", "Hangs.AfterManyRecords", "HangsInSetUp.OfItsSuite"})
    reports += report_of(test) + "\n";
  reports += report_of("Plain.Passes", {{"SCENARIO_STATIC_HANG", "1"}}) + "\n";
  reports += report_of("Plain.Passes", {{"SCENARIO_EXIT_HANG", "1"}});
  expect_approved("hangs.txt", reports);
}

// Returns what a test prints until its first report ends, with stacks.
std::string report_with_stacks_of(std::string const& filter) {
  return run_with_signals(filter, {{kEnd, SIGKILL}}, {{"TRACE_HANG_AFTER", "0.5"}, {"TRACE_SHOW", "failed"}}).err;
}

TEST(Hang, IsReportedOfAThreadWithoutTheRecordsOfAnEarlierOne) {
  EXPECT_THAT(report_of("Hangs.AfterAThreadThatEnded"),
              ContainsRegex("  thread second \\(<number>\\), waiting in [a-z]+, is in no span\n"
                            "   its stack:\n"
                            "   its last records:\n"
                            "    -<time> \\[second\\] DEBUG hanging_scenarios: of the second\n"
                            "  thread first \\(<number>\\) has ended\n"
                            "   its last records:\n"
                            "    -<time> \\[first\\] DEBUG hanging_scenarios: of the first\n"
                            "---- end"));
}

TEST(Hang, IsReportedFirstOfTheThreadThatRunsTheTest) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << kWhyNotThreadSanitizer;
  std::string const report = report_with_stacks_of("Hangs.InALockOfAWorker");
  EXPECT_THAT(
      report,
      ContainsRegex("doing ----\n  thread main \\([0-9]+\\), waiting in futex, has recorded nothing\n   its stack:\n"
                    "(    #[0-9]+ [^\n]+\n)+"
                    "    #[0-9]+ [^\n]*Hangs_InALockOfAWorker_Test::TestBody [^\n]+\n"
                    "  thread [0-9]+ \\([0-9]+\\), waiting in [a-z]+, is in\n    download, entered "));
}

TEST(Hang, IsReportedOfEveryThreadWithItsStateAndStack) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << kWhyNotThreadSanitizer;
  std::string const report = report_with_stacks_of("Hangs.AmongThreadsThatRecordNothing");
  EXPECT_EQ(count(report, "\n  thread "), 105) << report;
  EXPECT_EQ(count(report, " has recorded nothing\n"), 104) << report;
  EXPECT_THAT(report,
              ContainsRegex("\n  thread \\([0-9]+\\), running, has recorded nothing\n   its stack:\n"
                            "    #0 ([^\n]+\n    #1 )?[^\n]*spin [^\n]+\n"));  // a sanitizer's function may be inside
  EXPECT_EQ(count(report, "\n   no stack, since it blocks SIGURG\n"), 1) << report;
  EXPECT_THAT(report, ContainsRegex(
                          "\n  thread blocked \\([0-9]+\\), waiting in [a-z]+, has recorded nothing\n   its stack:\n"));
  EXPECT_THAT(
      report,
      ContainsRegex("\n  thread vforks \\([0-9]+\\), waiting for the kernel, has recorded nothing\n   its stack:\n"));
  EXPECT_THAT(count(report, "\n   its stack is that of thread ("), testing::Ge(99));
}

TEST(Hang, IsReportedWhileThreadsEnd) {
  EXPECT_THAT(report_with_stacks_of("Hangs.AmongThreadsThatEnd"),
              AllOf(HasSubstr(" is in\n    starting_threads, entered "),
                    AnyOf(HasSubstr("TestBody"), HasSubstr("   no stack, since it "))));
}

TEST(Hang, HasNoStacksIfTheProgramHandlesSigurg) {
  std::string const report = report_with_stacks_of("Hangs.WithAHandlerOfSigurg");
  EXPECT_THAT(report, ContainsRegex("main \\([0-9]+\\), waiting in [a-z]+, has recorded nothing\n"
                                    "   no stack, since the program handles SIGURG\n"));
}

TEST(Hang, IsReportedWithoutInterruptingSystemCalls) {
  Outcome const outcome = run_scenarios("Waits.ForAWhile", {{"TRACE_HANG_AFTER", "0.1"}, {"PATH", "/nowhere"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("waiting in "));
}

TEST(Hang, ReportsTheInnermostOfManySpans) {
  std::string const report = report_of("Hangs.InDeepSpans");
  EXPECT_EQ(count(report, "\n    level{"), 32);
  EXPECT_THAT(report, AllOf(HasSubstr("(more spans around these)"), HasSubstr("    level{levels=0}, entered")));
}

TEST(Hang, ReportsTheLastRecordsOfAThreadThatGoesOnRecording) {
  std::string const report = report_of("Hangs.WhileItRecords");
  EXPECT_THAT(report, HasSubstr("    retry, entered"));
  EXPECT_EQ(count(report, "DEBUG retry:attempt{i="), 10) << report;
}

TEST(Hang, IsReportedAgainWithWhatChanged) {
  Outcome const outcome =
      run_with_signals("Hangs.InALoop", {{kEnd, 0}, {kEnd, SIGKILL}}, {{"TRACE_HANG_AFTER", "0.3"}});
  EXPECT_EQ(count(outcome.err, "---- still running: Hangs.InALoop"), 2) << outcome.err;
  EXPECT_EQ(count(outcome.err, "   its last records:\n"), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err, "   no records since the last report\n"), 1) << outcome.err;
}

TEST(Hang, IsNotReportedUnlessAsked) {
  EXPECT_THAT(run_scenarios("Plain.Passes", {{"TRACE_HANG_AFTER", "60"}}).err, Not(HasSubstr("still running")));
  Variables const off{{"TRACE_HANG_AFTER", "off"}, {"TRACE_HANG_AFTER_DEFAULT", "0.001"}};
  EXPECT_THAT(run_scenarios("Dies.AfterAWhile", off).err, Not(HasSubstr("still running")));
}

TEST(Hang, CountsFromTheBeginOfAProcessWithALimit) {
  Variables const variables{{"TRACE_HANG_AFTER_DEFAULT", "0.3"}};
  Outcome const outcome = run_with_signals("Hangs.InALoop", {{kEnd, SIGKILL}}, variables);
  EXPECT_THAT(outcome.err, HasSubstr("---- still running: Hangs.InALoop, for "));
}

TEST(Hang, IsALineWithTheRecordingWithoutALimit) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "long.rec";
  Variables const variables{{"TRACE_LONG_AFTER", "0.2"}, {"TRACE_RECORD", file}};
  Outcome const outcome = run_with_signals("Hangs.InALoop", {{file, SIGKILL}}, variables);
  EXPECT_THAT(
      outcome.err,
      ContainsRegex(
          "testlog: Hangs.InALoop: the process has run for 0?[0-9]*\\.?[0-9]+ m?s; what its threads are doing: kill "
          "-USR1 [0-9]+; the recording so far: testlog show " +
          file));
  EXPECT_THAT(outcome.err, Not(HasSubstr("what each thread is doing")));
  Outcome const with_handler = run_with_signals("HangsWithHandlers.OfItsOwn", {{"what its threads are doing", SIGKILL}},
                                                {{"TRACE_LONG_AFTER", "0.2"}});
  EXPECT_THAT(with_handler.err, HasSubstr("what its threads are doing: kill -QUIT "));
}

TEST(Hang, IsReportedInContinuousIntegrationWithoutALimit) {
  Outcome const outcome =
      run_with_signals("Hangs.InALoop", {{kEnd, SIGKILL}}, {{"TRACE_LONG_AFTER", "0.2"}, {"CI", "1"}});
  EXPECT_THAT(outcome.err, HasSubstr("---- still running: Hangs.InALoop, for "));
}

TEST(Hang, IsNotLookedForInDeathTestsWithoutALimit) {
  EXPECT_EQ(run_scenarios("WaitsDeathTest.ForAWhile", {{"TRACE_LONG_AFTER", "0.1"}}).err, "");
}

TEST(Hang, IsOneLineEachInAFileOfJsonRecords) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder / "log.json";
  Variables const variables{{"TRACE_FORMAT", "json"},
                            {"TRACE_OUTPUT", path},
                            {"TRACE_HANG_AFTER", "0.3"},
                            {"SCENARIO_ALARM", "1"},
                            {"PATH", "/nowhere"}};
  run_scenarios("Hangs.InALoop", variables);
  EXPECT_THAT(content_of(path), AllOf(HasSubstr(R"({"kind":"hang_report","text":"still running: Hangs.InALoop, for )"),
                                      HasSubstr(R"({"kind":"hang_report","text":"end of the report"})")));
}

TEST(Hang, WithoutARecordingSaysSo) {
  EXPECT_THAT(report_of("Hangs.InALoop", {{"TRACE_CAPTURE", "off"}}),
              HasSubstr("  nothing is recorded: TRACE_CAPTURE is off\n"));
}

TEST(Signals, AreReportedBeforeTheyEndTheProcess) {
  for (int const signal : {SIGTERM, SIGINT}) {
    Outcome const outcome = run_with_signals("Hangs.InALoop", {{"started", signal}});
    EXPECT_EQ(outcome.signal, signal);
    std::string const name = signal == SIGTERM ? "SIGTERM" : "SIGINT";
    EXPECT_THAT(scrubbed(outcome.err), HasSubstr("---- " + name +
                                                 ": Hangs.InALoop, for <time>: what each thread is doing ----\n"
                                                 "  thread main (<number>) is in\n"
                                                 "    search{limit=10}, entered <time> ago\n"));
    EXPECT_THAT(outcome.err, testing::EndsWith(kEnd));
  }
}

TEST(Signals, LetTheProcessGoOnIfTheyAskForAReport) {
  for (int const signal : {SIGQUIT, SIGUSR1}) {
    Outcome const outcome = run_with_signals("Hangs.InALoop", {{"started", signal}, {kEnd, signal}, {kEnd, SIGTERM}});
    EXPECT_EQ(outcome.signal, SIGTERM);
    EXPECT_EQ(count(outcome.err, "what each thread is doing"), 3) << outcome.err;
  }
}

TEST(Signals, AreNotReportedInForkedChildren) {
  Outcome const outcome = run_scenarios("Hangs.InAChildThatIsEnded");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST(Signals, ReachTheHandlersOfTheProgram) {
  Outcome const terminated = run_with_signals("Hangs.InALoop", {{"started", SIGTERM}}, {{"SCENARIO_OWN_SIGTERM", "1"}});
  EXPECT_EQ(terminated.exit_code, 9);
  EXPECT_THAT(terminated.err,
              AllOf(HasSubstr("---- SIGTERM: Hangs.InALoop"), HasSubstr(std::string(kEnd) + "own handler\n")));
  if (TESTLOG_TSAN != 0) return;  // its runtime defers the signal until the loop makes a call
  Outcome const asked = run_with_signals("HangsWithHandlers.OfItsOwn", {{"started", SIGUSR1}});
  EXPECT_EQ(asked.exit_code, 9);
  EXPECT_THAT(asked.err, Not(HasSubstr("what each thread is doing")));
}

TEST(Hang, IsNotReportedIfNothingIsShown) {
  Variables const variables{{"TRACE_SHOW", "none"}, {"TRACE_HANG_AFTER", "0.2"}, {"SCENARIO_ALARM", "1"}};
  EXPECT_EQ(run_scenarios("Hangs.InALoop", variables).err, "");
}

// CTest ends the tests by SIGKILL. Its log has the innermost span of each test.
TEST(Hang, IsExplainedInTheLogOfCTestAndInItsJUnitFile) {
  tracing_test::TemporaryFolder const folder;
  struct Hanging {
    char const *test, *headline, *thread, *span;
  };
  constexpr Hanging kAll[] = {
      {"Hangs.InAMutex", "Hangs.InAMutex", "worker-a (", "take_second, entered "},
      {"Hangs.InAConditionVariable", "Hangs.InAConditionVariable", "main (", "wait_for_result{id=7}, entered "},
      {"Hangs.InALoop", "Hangs.InALoop", "main (", "search{limit=10}, entered "},
      {"Hangs.InAForkedChild", "Hangs.InAForkedChild", "main (", "wait_for_child, entered "},
      {"Hangs.InAFormatter", "Hangs.InAFormatter", "main (", "print_result, entered "},
      {"HangsInSetUp.OfItsSuite", "the set-up of suite HangsInSetUp", "main (", "connect{port=5432}, entered "},
      {"Plain.Passes", "before the tests", "main (", "load_tables, entered "},
  };
  std::string tests;
  for (Hanging const& one : kAll) {
    std::string const name = one.test, in_initialiser = name == "Plain.Passes" ? ";SCENARIO_STATIC_HANG=1" : "";
    tests += "add_test(" + name + " [==[" TESTLOG_SCENARIOS "]==] --gtest_filter=" + name + ")\nset_tests_properties(" +
             name + " PROPERTIES TIMEOUT 4 ENVIRONMENT \"TRACE_HANG_AFTER_DEFAULT=2;CI=1" + in_initialiser + "\")\n";
  }
  folder.write("CTestTestfile.cmake", tests);
  Outcome const outcome = testlog::testdata::run({TESTLOG_CTEST, "--test-dir", folder / ".", "--output-on-failure",
                                                  "-j7", "--output-junit", folder / "junit.xml"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.out, "***Timeout"), 7) << outcome.out;
  for (std::string const& log : {outcome.out, content_of(folder / "junit.xml")}) {
    for (Hanging const& one : kAll) {
      EXPECT_THAT(log,
                  AllOf(HasSubstr("---- still running: " + std::string(one.headline) + ", for "),
                        HasSubstr("  thread " + std::string(one.thread)), HasSubstr("    " + std::string(one.span))));
    }
  }
}

}  // namespace
