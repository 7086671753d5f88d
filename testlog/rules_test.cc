// Promises that hold for every test program: each test runs a program as a user does and checks its output and exit
// status.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testlog/environment.h"
#include "testlog/testdata/run.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::content_of;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;
using testlog::testdata::run_own_main;
using testlog::testdata::run_scenarios;
using testlog::testdata::run_unread_scenarios;
using testlog::testdata::Variables;
using testlog::testdata::with_sanitizer_options;
using testlog::testdata::writes_of_scenarios;

constexpr char const* kFilters[] = {"off",   "error", "warn",          "info",
                                    "debug", "trace", "library=trace", "[launch]=trace"};
constexpr char const* kShows[] = {"live", "failed", "all", "none"};

// ---- a test's result never depends on what is shown ----

class ResultsAtEveryFilter : public testing::TestWithParam<char const*> {};

TEST_P(ResultsAtEveryFilter, StderrDeathAndExitChecksPass) {
  for (char const* const show : kShows) {
    Outcome const outcome = run_scenarios("Both/Streams*", {{"TRACE_FILTER", GetParam()}, {"TRACE_SHOW", show}});
    EXPECT_EQ(outcome.exit_code, 0) << show << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "[       OK ]"), 8) << outcome.out;
  }
}

TEST_P(ResultsAtEveryFilter, RecordsAndFailOnGiveTheSame) {
  Outcome const first = run_scenarios("Captured.*:Settings.*:Threads.*:-*TooMuch*");
  for (char const* const show : kShows) {
    Outcome const outcome = run_scenarios("Captured.*:Settings.*:Threads.*:-*TooMuch*",
                                          {{"TRACE_FILTER", GetParam()}, {"TRACE_SHOW", show}});
    EXPECT_EQ(outcome.out, first.out) << show;
    EXPECT_EQ(outcome.exit_code, first.exit_code);
  }
}

INSTANTIATE_TEST_SUITE_P(Filters, ResultsAtEveryFilter, testing::ValuesIn(kFilters));

TEST(Output, NeverGoesToFilesOfTheProgramThatReuseItsDescriptors) {
  for (std::string const variable :
       {"TRACE_OUTPUT", "TRACE_FLAME", "TRACE_PERF_JSON", "TRACE_CHROME", "TRACE_RECORD"}) {
    tracing_test::TemporaryFolder const folder;
    Outcome const outcome =
        run_scenarios("Streams.DescriptorsAreReused*:Streams.TracesAfter*", {{variable, folder / "ours"},
                                                                             {"TRACE_FILTER", "trace"},
                                                                             {"TRACE_PERF", "on"},
                                                                             {"SCENARIO_FILE", folder / "theirs"}});
    EXPECT_EQ(outcome.exit_code, 0) << variable << outcome.out;
    EXPECT_EQ(content_of(folder / "theirs"), "") << variable;
  }
}
TEST(Output, DescriptorIsNotInherited) { EXPECT_EQ(run_scenarios("Streams.DescriptorsAreNotInherited").exit_code, 0); }

TEST(Output, ClosedPipeDoesNotEndTheProgram) {
  for (char const* const show : kShows) {
    Outcome const outcome =
        run_unread_scenarios("Streams.WriteToAClosedPipe", {{"TRACE_FILTER", "trace"}, {"TRACE_SHOW", show}});
    EXPECT_EQ(outcome.signal, 0) << show;
    EXPECT_EQ(outcome.exit_code, 1) << show;
  }
}

TEST(Assertions, FailIfRecordsAreMissing) {
  Outcome const full = run_scenarios("Captured.TooMuch", {{"TRACE_RECORD_LIMIT", "262144"}});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(count(full.out, " records of this test were overwritten (TRACE_RECORD_LIMIT)"), 1) << full.out;
  Outcome const off = run_scenarios("Captured.StartsEmpty", {{"TRACE_CAPTURE", "off"}});
  EXPECT_EQ(count(off.out, "nothing is captured: TRACE_CAPTURE is off"), 1) << off.out;
}

TEST(DeathTest, ChildPrintsNothing) {
  Outcome const outcome = run_scenarios("Both/Streams.DeathSees*/1", {{"TRACE_FILTER", "library=trace"}});
  // Counts only the work() of the parent: children run the body again, but only up to the statement.
  EXPECT_EQ(count(outcome.err, "spoken"), 5) << outcome.err;
}

// ---- nothing happens while tests are listed ----

TEST(ListTests, PrintsOnlyTheList) {
  for (char const* const show : kShows) {
    Outcome const outcome = run_scenarios("*",
                                          {{"SCENARIO_OUTSIDE", "1"},
                                           {"TRACE_FILTER", "trace"},
                                           {"TRACE_SHOW", show},
                                           {"TRACE_FORMAT", "wrong"},
                                           {"TRACE_CAPTURE", "[["}},
                                          {"--gtest_list_tests"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, IsEmpty());
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Plain.\n  Passes\n"), Not(HasSubstr("spoken"))));
  }
}

TEST(ListTests, OpensNoFile) {
  std::string const path = testing::TempDir() + "/list_tests";
  std::remove(path.c_str());
  run_scenarios("*", {{"SCENARIO_OUTSIDE", "1"}, {"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}},
                {"--gtest_list_tests"});
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

// ---- linking is enough ----

TEST(OwnMain, NeedsNoCallOfTestlog) {
  Outcome const outcome = run_own_main({{"TRACE_FILTER", "library=warn"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, " WARN library: spoken\n"), 2) << outcome.err;
}

// ---- forks ----

TEST(Fork, ParentAndChildContinue) {
  Outcome const outcome = run_scenarios("Processes.ForkGoesOn", {{"TRACE_FILTER", "info"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("parent: process_scenarios: in the parent"));
  EXPECT_THAT(outcome.err, HasSubstr("in the child"));
}

TEST(Fork, ChildFindsEveryLockFree) {
#if TESTLOG_ASAN
  GTEST_SKIP() << "GCC 12's AddressSanitizer does not unlock its own allocator in a forked child";
#endif
  Outcome const outcome = run_scenarios("Processes.ForkWhileThreadsUseEverything", {{"TRACE_FILTER", "error"},
                                                                                    {"TRACE_OUTPUT", "/dev/null"},
                                                                                    {"TRACE_CHROME", "/dev/null"},
                                                                                    {"TRACE_FLAME", "/dev/null"},
                                                                                    {"TRACE_PERF", "on,summary"},
                                                                                    {"TRACE_PERF_JSON", "/dev/null"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST(DeathTest, ChildHasTheRecords) { EXPECT_EQ(run_scenarios("*CapturesInTheChildToo*").exit_code, 0); }

// ---- start and end of the program ----

TEST(Threads, NoneIsStarted) {
  EXPECT_EQ(run_scenarios("Threads.ThereIsOnlyOne", {{"TRACE_FILTER", "trace"}}).exit_code, 0);
}

TEST(Exit, StaticDestructorsMayRecord) {
  std::string const folder = testing::TempDir() + "/exit_";
  for (Variables const& variables : std::vector<Variables>{
           {},
           {{"TRACE_SHOW", "failed"}},
           {{"TRACE_SHOW", "none"}, {"TRACE_CAPTURE", "off"}},
           {{"TRACE_PERF", "on"}, {"TRACE_SPAN_EVENTS", "full"}},
           {{"TRACE_OUTPUT", folder + "text"}, {"TRACE_CHROME", folder + "chrome"}, {"TRACE_FLAME", folder + "flame"}},
           {{"TRACE_PERF", "summary"}, {"TRACE_PERF_JSON", folder + "json"}, {"TRACE_PERF_PROM", folder + "prom"}},
       }) {
    SCOPED_TRACE(testing::PrintToString(variables));
    Variables all = variables;
    all.emplace_back("TRACE_FILTER", "trace");
    Outcome const outcome = run_scenarios("Ends.WithStaticsThatRecord", all);
    EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal << "\n" << outcome.out << outcome.err;
    // Thread-local objects first, then others in reverse order of construction.
    std::string const ended = outcome.out.substr(std::min(outcome.out.find("ended: "), outcome.out.size()));
    EXPECT_THAT(ended,
                StartsWith("ended: of the thread\nended: made in a test\nended: made late\nended: made first\n"));
  }
}

// ---- the test to which a record belongs ----

TEST(HelperThread, BelongsToTheRunningTest) { EXPECT_EQ(run_scenarios("Threads.Helpers*").exit_code, 0); }

TEST(LateRecord, IsLabelledWithItsTest) {
  Outcome const outcome = run_scenarios("Threads.LeavesAThreadBehind:Threads.NextIsNotBlamed");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("[late, from Threads.LeavesAThreadBehind] [thread 2]  WARN"));
}

TEST(SkippedTest, IsNotFailedByTheEventsThatItRecorded) {
  std::string const test = "Skipped.AfterAnError";
  for (Variables const& variables : std::vector<Variables>{{}, {{"TRACE_PROFILE", "ci"}}, {{"TRACE_CAPTURE", "off"}}}) {
    Outcome const outcome = run_scenarios(test, variables);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("[  SKIPPED ] 1 test"));
    EXPECT_THAT(
        outcome.err,
        HasSubstr("    skipped after an event of level error, though its .fail_on is warn: scenarios: no device\n"));
  }
  EXPECT_THAT(run_scenarios("Plain.Skips", {{"TRACE_FAIL_ON", "error"}}).err,
              HasSubstr("    skipped after an event of level error, though TRACE_FAIL_ON is error: library: spoken\n"));
  EXPECT_EQ(run_scenarios(test, {{"TRACE_SHOW", "none"}}).err, "");
  EXPECT_EQ(run_scenarios("Plain.Skips", {{"TRACE_SHOW", "failed"}}).err, "");
}

TEST(LateRecord, BelongsToTheTestThatCreatedASilentThread) {
  Outcome const outcome = run_scenarios("Late.CreatesAThreadAndAllowsErrors:Late.IsNotToBlame");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("[late, from Late.CreatesAThreadAndAllowsErrors] [thread 2] ERROR theirs: "));
}

TEST(LateRecord, WorseThanItsTestAllowsFailsTheRunAndIsPrinted) {
  for (std::string const first : {"Late.CreatesAThread", "Late.CreatesAThreadThatSpeaks"}) {
    for (Variables const& variables : std::vector<Variables>{{},
                                                             {{"TRACE_SHOW", "failed"}},
                                                             {{"TRACE_PROFILE", "ci"}},
                                                             {{"TRACE_SHOW", "none"}},
                                                             {{"TRACE_CAPTURE", "off"}, {"TRACE_FILTER", "off"}}}) {
      Outcome const outcome = run_scenarios(first + ":Late.AllowsErrors", variables);
      EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
      EXPECT_THAT(
          outcome.out,
          AllOf(HasSubstr("process_scenarios.cc:"), HasSubstr("[  PASSED  ] 2 tests."),
                HasSubstr(
                    ": Failure\nFailed\nWork of " + first +
                    ", which has ended, recorded an event of level error while Late.AllowsErrors ran; its .fail_on is "
                    "error:\n  process_scenarios: of the thread\n")));
      EXPECT_EQ(count(outcome.out, "Failure\n"), 1);
    }
  }
}

TEST(LateRecord, WorseThanItsTestAllowsIsCountedByRepetition) {
  Outcome const outcome = run_scenarios("Late.CreatesAThread:Late.IsNotToBlame", {}, {"--gtest_repeat=2"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(count(outcome.out,
                  "while Late.IsNotToBlame ran; its .fail_on is error:\n  theirs: process_scenarios: of the thread\n"),
            2)
      << outcome.out;
}

TEST(LateRecord, FailsNothingIfTheRunningTestAllowsIt) {
  Outcome const outcome = run_scenarios("Late.CreatesAThread:Late.AllowsTheEvent");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST(LateRecord, WorseThanTheRunningTestAllowsIsPrintedAtLeast) {
  std::string const tests = "Late.CreatesAThreadAndAllowsErrors:Late.IsNotToBlame";
  std::string const note =
      "testlog: Work of Late.CreatesAThreadAndAllowsErrors, which has ended, recorded an event of level error while "
      "Late.IsNotToBlame ran:\n  theirs: process_scenarios: of the thread\n";
  Outcome const outcome = run_scenarios(tests, {{"TRACE_SHOW", "failed"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, note);
  EXPECT_EQ(count(run_scenarios(tests).err, "of the thread\n"), 1) << "the line of the record";
  Outcome const many = run_scenarios("Late.CreatesAThreadAndAllowsErrors:Late.IsFlooded", {{"TRACE_SHOW", "failed"}});
  EXPECT_EQ(count(many.err, "Work of Late."), 10);
  EXPECT_EQ(count(many.err, "Further such events are not printed before the next test\n"), 1) << many.err;
}

TEST(LateRecord, AfterTheRunIsPrinted) {
  Outcome const outcome = run_scenarios("Late.SpeaksAfterTheRun", {{"TRACE_SHOW", "failed"}});
  EXPECT_EQ(outcome.err,
            "testlog: Work of Late.SpeaksAfterTheRun, which has ended, recorded an event of level error while no test "
            "ran; its "
            ".fail_on is error:\n  process_scenarios: of the thread\n");
}

TEST(LateRecord, IsInTheReportOfTheRunningTest) {
  Outcome const outcome = run_scenarios("Late.CreatesAThreadAndAllowsErrors:Late.Fails", {{"TRACE_SHOW", "failed"}});
  EXPECT_THAT(
      outcome.err,
      HasSubstr("[late, from Late.CreatesAThreadAndAllowsErrors] [thread 2] ERROR process_scenarios: of the thread\n"));
}

TEST(LateFailure, IsLabelledWithItsTest) {
  Outcome const outcome = run_scenarios("Late.CreatesAThread:Late.IsFailed", {{"TRACE_SHOW", "failed"}});
  std::string const label = "[late, from Late.CreatesAThread]";
  EXPECT_EQ(outcome.err.substr(0, outcome.err.find("---- ")), "    " + label + "\n    " + label + " in theirs\n");
  std::regex const place("[^ ]+process_scenarios.cc:[0-9]+");
  std::string const report = std::regex_replace(outcome.err, place, "PLACE");
  EXPECT_THAT(report, HasSubstr("\n" + label + " [thread 2]  FAIL PLACE: in no span\n"));
  EXPECT_THAT(report, HasSubstr("\n" + label + " [thread 2]  FAIL theirs: PLACE: in a span\n"));
  EXPECT_THAT(report, HasSubstr("\n[main]  FAIL PLACE: Value of: false"));
}

TEST(SharedThread, BelongsToTheRunningTestIfCreatedOutsideTests) {
  Outcome const outcome = run_scenarios("SharedHelper.*");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, Not(HasSubstr("[late")));
}

TEST(SharedThread, BelongsToTheRunningTest) {
  Outcome const outcome = run_scenarios("Threads.Pool*");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, Not(HasSubstr("[late")));
}

TEST(SharedThread, BelongsToTheTestWhoseWorkWithCurrentSpanBrings) {
  Outcome const outcome = run_scenarios("Threads.Jobs*");
  EXPECT_EQ(count(outcome.err, "[late"), 1) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("[late, from Threads.JobsStart] [thread 2]  INFO process_scenarios: not brought\n"));
  EXPECT_EQ(count(outcome.out, "process_scenarios: from the job"), 1);
  EXPECT_EQ(count(outcome.out, "Failure\n"), 1) << outcome.out;
}

TEST(RecordOutsideTests, IsLabelled) {
  Outcome const outcome = run_scenarios("Fixture.Shows*", {{"SCENARIO_OUTSIDE", "1"}});
  for (char const* const text :
       {"spoken", "environment set up", "suite set up", "suite torn down", "environment torn down"}) {
    std::size_t const at = outcome.err.find(text);
    ASSERT_NE(at, std::string::npos) << text << outcome.err;
    std::size_t const begin = outcome.err.rfind('\n', at) + 1;
    EXPECT_THAT(outcome.err.substr(begin), StartsWith("[outside any test] ")) << text;
  }
  for (char const* const line : {" INFO Fixture: constructed\n", " INFO Fixture: set up\n", " INFO scenarios: body\n",
                                 " INFO Fixture: torn down\n", " INFO Fixture: destroyed\n"}) {
    EXPECT_THAT(outcome.err, HasSubstr(std::string("\n") + line));
  }
}

TEST(RecordOutsideTests, IsLabelledIfTestsAreShownAtTheirEnd) {
  Outcome const outcome = run_scenarios("Fixture.Shows*", {{"SCENARIO_OUTSIDE", "1"}, {"TRACE_SHOW", "all"}});
  for (char const* const text :
       {"library: spoken", "environment set up", "suite set up", "suite torn down", "environment torn down"}) {
    EXPECT_THAT(outcome.err, testing::ContainsRegex(std::string("\\[outside any test\\] [^\n]*") + text));
  }
  EXPECT_EQ(count(outcome.err, "body\n"), 2) << outcome.err;
}

// ---- fatal signals and exit() ----

TEST(FatalSignal, StillEndsTheProgram) {
  EXPECT_EQ(run_dying("Dies.BySegv").signal, SIGSEGV);
  EXPECT_EQ(run_dying("Dies.ByWildPointer").signal, SIGSEGV);
  EXPECT_EQ(run_dying("Dies.ByAbort").signal, SIGABRT);
}

TEST(FatalSignal, IsReportedAfterAStackOverflow) {
  Outcome const outcome = run_dying("Dies.ByStackOverflow");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, HasSubstr("SIGSEGV in Dies.ByStackOverflow"));
}

TEST(FatalSignal, IsReportedAfterAStackOverflowOnAnyThread) {
  Outcome const outcome = run_dying("Dies.ByStackOverflowOnAWorker");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("SIGSEGV in Dies.ByStackOverflowOnAWorker"), HasSubstr(") died in recurse\n")));
}

TEST(FatalSignal, KeepsTheSignalStacksOfThreads) {
  Outcome const outcome = run_scenarios("Processes.ThreadsKeepTheirSignalStacks");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST(FatalSignal, OnSeveralThreadsIsReportedOnce) {
  for (int i = 0; i < 5; ++i) {
    Outcome const outcome = run_dying("Dies.OnSeveralThreadsAtOnce", {{"TRACE_REPORT_LINES", "0"}});
    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_EQ(count(outcome.err, "last words"), 4 * 500);
    EXPECT_EQ(count(outcome.err, "---- SIGSEGV in "), 1);
    EXPECT_THAT(outcome.err, testing::EndsWith("---- end of captured records ----\n"));
  }
}

TEST(FatalSignal, ReportHasTheLastRecordsOfMany) {
  std::string const report = run_dying("Dies.OnSeveralThreadsAtOnce").err;
  EXPECT_EQ(count(report, "last words"), 200);
  EXPECT_THAT(report, HasSubstr("  ... 1800 records left out; TRACE_REPORT_LINES=0 prints all\n"));
}

TEST(FatalSignal, ReportBeginsWithTheThreadThatDied) {
  std::string const report = run_dying("Dies.OnAWorker").err;
  std::size_t const died = report.find("  thread 2 ("), other = report.find(") is in joining\n");
  ASSERT_NE(died, report.npos) << report;
  ASSERT_NE(other, report.npos) << report;
  EXPECT_LT(died, other) << report;
  EXPECT_THAT(report, HasSubstr(") died in working{item=3}\n"));
}

TEST(FatalSignal, ReportNamesAThreadAsItsRecordsDo) {
  std::string const report = run_dying("Dies.OnAWorkerInNoSpan").err;
  EXPECT_THAT(report, testing::ContainsRegex("\n  thread 2 \\([0-9]+\\) died in no span\n  \\[thread 2\\] DEBUG "));
}

TEST(FatalSignal, ReportNamesTheMainThreadAlsoOutsideAnySpan) {
  EXPECT_THAT(run_dying("Dies.ByAbort").err, HasSubstr("  thread main ("));
}

TEST(FatalSignal, ReportSaysHowLongBeforeTheEndRecordsWere) {
  EXPECT_THAT(run_dying("Dies.BySegv", {{"TRACE_TIME", "utc"}}).err,
              testing::ContainsRegex("\n  -[0-9]+\\.[0-9][0-9][0-9] m?s DEBUG outer"));
}

TEST(FatalSignal, ReportNamesTheRecording) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "died.rec";
  EXPECT_THAT(run_dying("Dies.BySegv", {{"TRACE_RECORD", file}}).err,
              HasSubstr("  the whole recording: testlog show " + file + "\n  the stack of the thread that died:\n"));
}

TEST(FatalSignal, ReportHasTheInnermostOfManySpans) {
  Outcome const outcome = run_dying("Dies.InDeepSpans");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, HasSubstr(" died in ...:level{levels=31}:level{levels=30}:"));
  EXPECT_THAT(outcome.err, HasSubstr(":level{levels=1}:level{levels=0}\n  DEBUG ...:level{levels=63}:"));
  EXPECT_THAT(outcome.err, HasSubstr(":level{levels=0}: dying_scenarios: bottom\n"));
}

TEST(FatalSignal, ReportShortensLongTextsAndKeepsAllFields) {
  Outcome const outcome = run_dying("Dies.WithLongTexts");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  std::string const a(100, 'a');
  std::string const b = std::string(512, 'b') + "... (1000 bytes)";
  std::string const c = std::string(512, 'c') + "... (100000 bytes)";
  std::string const span = "m{a=\"" + a + "\" b=\"" + b + "\" c=\"" + c + "\" k=7";
  std::string const recorded = " status=\"" + std::string(200, 's') + "\"}";
  EXPECT_THAT(outcome.err, HasSubstr(" died in " + span + recorded + "\n"));
  EXPECT_THAT(outcome.err, HasSubstr("  DEBUG " + span + "}: dying_scenarios: first\n"));
  EXPECT_THAT(outcome.err, HasSubstr("  DEBUG " + span + recorded + ": dying_scenarios: second " + c + " a=\"" + a +
                                     "\" b=\"" + b + "\" n=8\n"));
}

TEST(FatalSignal, ReportHasTheInnermostSpansAndTheMessageHoweverLongTheValuesAre) {
  std::string const report = run_dying("Dies.InDeepSpansWithLongValues").err;
  auto const last = [&report](std::string_view text) { return report.rfind(text, report.find(" DEBUG ")); };
  EXPECT_THAT(report, HasSubstr(" died in ...:level{levels=30 text=\"xxx"));
  EXPECT_THAT(report, HasSubstr("xxx...}:level{levels=0 text=\"xxx"));
  EXPECT_NE(last("xxx...}:innermost\n"), report.npos) << report;
  EXPECT_THAT(report, HasSubstr("xxx...}:innermost: dying_scenarios: bottom last=1\n"));
}

TEST(FatalSignal, ReportHasValuesThatCameLate) {
  EXPECT_THAT(run_dying("Dies.InASpanWhoseValuesCameLate").err, HasSubstr(" died in late{status=5}\n"));
}

TEST(FatalSignal, ReportHasErrorsAndKeepsLineEndsApart) {
  Outcome const outcome = run_dying("Dies.WithErrorsAndLines");
  EXPECT_THAT(outcome.err,
              HasSubstr("  DEBUG open{error=Connection timed out}: dying_scenarios: not shown a\\nb\\x1b\\n "
                        "error=No such file or directory\n"));
  EXPECT_THAT(outcome.err, HasSubstr(": dying_scenarios: nested error=outer: inner\n"));
}

TEST(Exit, AfterAFailureThatWasThrownIsNotReportedAgain) {
  // GoogleTest leaves its test object behind.
  Outcome const outcome = run_own_main(
      with_sanitizer_options({{"GTEST_THROW_ON_FAILURE", "1"}, {"SCENARIO_FAILS", "1"}}, "detect_leaks=0"));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("OwnMain.WorksAgain: captured records"), Not(HasSubstr("called exit()"))));
}

TEST(Exit, DuringATestIsReported) {
  Outcome const outcome = run_scenarios("Dies.ByExit");
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.err,
            "---- Dies.ByExit: the process called exit(), in outer{id=7}: captured records ----\n"
            "DEBUG outer{id=7}: dying_scenarios: not shown\n"
            "---- end of captured records ----\n");
  EXPECT_THAT(run_scenarios("Dies.ByExitOnAnotherThread").err, HasSubstr("the process called exit(): captured"));
}

TEST(Exit, IsReportedEvenWithoutRecords) {
  for (char const* const capture : {"trace", "off"}) {
    EXPECT_THAT(run_scenarios("Dies.ByExitSilently", {{"TRACE_CAPTURE", capture}}).err,
                StartsWith("---- Dies.ByExitSilently: the process called exit():"));
  }
  EXPECT_THAT(run_scenarios("Dies.ByExitSilently", {{"TRACE_SHOW", "none"}}).err, IsEmpty());
}

TEST(Fork, ChildrenEndSilently) {
  for (char const* const style : {"fast", "threadsafe"}) {
    Outcome const outcome = run_scenarios("Dies.InChildrenThatExit:Dies.InADeathTestOnly", {},
                                          {std::string("--gtest_death_test_style=") + style});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.err, Not(HasSubstr("----")));
  }
}

TEST(FatalSignal, RunsTheEarlierHandlerAfterTheReport) {
  Outcome const outcome = run_scenarios("Dies.WithAHandlerOfItsOwn", {{"SCENARIO_OWN_HANDLER", "1"}});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_THAT(outcome.err, HasSubstr("SIGSEGV in Dies.WithAHandlerOfItsOwn"));
  EXPECT_THAT(outcome.err, testing::EndsWith("own handler\n"));
}

TEST(FatalSignal, RunsTheHandlerOfSanitizers) {
#if TESTLOG_ASAN
  Outcome const outcome = run_scenarios("Dies.ByWildPointer");
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("SIGSEGV in Dies.ByWildPointer(.|\n)*AddressSanitizer: SEGV on unknown address"));
#else
  GTEST_SKIP() << "built without AddressSanitizer";
#endif
}

TEST(FailureReport, IsPrintedAtTheFailureWithBreakOnFailure) {
  Outcome const outcome = run_dying("Plain.Fails", {}, {"--gtest_break_on_failure"});
  EXPECT_EQ(outcome.signal, SIGTRAP);
  EXPECT_THAT(outcome.err, HasSubstr("TRACE launch{count=4}:compile{kernel=\"double\"}: library: spoken"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("after the failure")));
}

TEST(FailureReport, IsPrintedAtTheFailureWithThrowOnFailure) {
  Outcome const outcome = run_scenarios("Fixture.Fails", {}, {"--gtest_throw_on_failure"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.err,
      testing::ContainsRegex(
          "---- Fixture.Fails: captured records ----\n(.*\n)*DEBUG scenarios: deep\n FAIL .*: Failed\n---- end"));
}

// ---- filters of tests ----

TEST(Filter, IsRestoredAfterATestChangedIt) {
  Outcome const outcome = run_scenarios("Filter.*");
  EXPECT_THAT(outcome.err, HasSubstr("after the change"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("before the change")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("in the next test")));
}

TEST(Filter, IsRestoredAfterADefaultFilter) {
  Outcome const outcome = run_scenarios("Settings.DefaultFilter:Threads.ManyWrite");
  EXPECT_EQ(count(outcome.err, "DEBUG"), 1) << outcome.err;
}

// ---- one write per line ----

TEST(Output, LineIsOneWrite) {
  std::vector<std::string> const writes =
      writes_of_scenarios("Threads.ManyWrite", {{"TRACE_FILTER", "trace"}, {"TRACE_COLOR", "always"}});
  EXPECT_EQ(writes.size(), 4u * 50 * 5);
  for (std::string const& write : writes) {
    ASSERT_EQ(count(write, "\n"), 1) << write;
    ASSERT_EQ(write.back(), '\n') << write;
  }
}

TEST(Output, FailureReportIsOneWrite) {
  std::vector<std::string> const writes = writes_of_scenarios("Plain.Fails", {{"TRACE_FILTER", "off"}});
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_THAT(writes[1], AllOf(StartsWith("---- Plain.Fails"), testing::EndsWith("end of captured records ----\n")));
}

// Checks each line and returns the number of lines. `rest` is the size of an incomplete last line.
int spoken_lines(std::string const& text, std::size_t* rest = nullptr) {
  int lines = 0;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1, ++lines) {
    std::string const line = text.substr(begin, end - begin);
    EXPECT_THAT(line, testing::MatchesRegex("\\[thread [0-9]+\\] (ERROR| WARN| INFO|DEBUG|TRACE) "
                                            "launch\\{count=[0-9]+\\}(:compile\\{kernel=\"double\"\\})?: "
                                            "library: spoken"));
    if (testing::Test::HasFailure()) break;
  }
  if (rest != nullptr) *rest = text.size() - begin;
  return lines;
}

TEST(Output, LinesOfThreadsAndProcessesAreComplete) {
  std::string const path = testing::TempDir() + "/output_of_processes";
  std::remove(path.c_str());
  std::vector<std::thread> runs;
  for (int i = 0; i < 4; ++i) {
    runs.emplace_back([&path] {
      run_scenarios("Threads.ManyWrite", {{"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}});
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(spoken_lines(testlog::testdata::content_of(path)), 4 * 4 * 50 * 5);
}

TEST(Output, LinesOfAKilledProcessAreComplete) {
  std::string const path = testing::TempDir() + "/output_of_a_killed_process";
  std::remove(path.c_str());
  EXPECT_EQ(run_scenarios("Dies.KilledWhileThreadsWrite", {{"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}}).signal,
            SIGKILL);
  std::size_t rest = 0;
  EXPECT_GT(spoken_lines(testlog::testdata::content_of(path), &rest), 100);
  EXPECT_LT(rest, 100u) << "of one line";
}

TEST(FailOn, ReportsFurtherEventsAtTheTest) {
  Outcome const outcome = run_scenarios("Captured.TooMuch", {{"TRACE_FAIL_ON", "trace"}, {"TRACE_REPORT_LINES", "1"}});
  EXPECT_THAT(outcome.out,
              testing::ContainsRegex("/scenarios.cc:[0-9]+: Failure\nFailed\n[.]{3} and 199990 more such events"));
}

// ---- bad values ----

struct BadCase {
  std::string variable;
  std::string value;
  std::string report;
};

std::vector<BadCase> const& bad_cases() {
  std::string const not_a_level = "^~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5\n";
  std::string const not_opened = "=/nowhere/at/all: could not be opened: No such file or directory; expected ";
  static auto const* const cases = new std::vector<BadCase>{
      {"TRACE_PROFILE", "lokal",
       "testlog: TRACE_PROFILE=lokal: unknown value; expected one of local, ci, performance (did you mean local?)\n"},
      {"TRACE_FILTER", "info,gpu[launch=debug",
       "testlog: TRACE_FILTER: invalid filter directive\n  info,gpu[launch=debug\n"
       "          ^~~~~~~~~~~~~ the \"[\" is never closed by \"]\"\n"},
      {"TRACE_FILTER", "a=b=c", "testlog: TRACE_FILTER: invalid filter directive\n  a=b=c\n    " + not_a_level},
      {"TRACE_SHOW", "sometimes",
       "testlog: TRACE_SHOW=sometimes: unknown value; expected one of live, failed, all, none\n"},
      {"TRACE_CAPTURE", "trace,a=b=c",
       "testlog: TRACE_CAPTURE: invalid filter directive\n  trace,a=b=c\n          " + not_a_level},
      {"TRACE_REPORT_LINES", "-1",
       "testlog: TRACE_REPORT_LINES=-1: not a valid number; expected a number of lines; 0: all\n"},
      {"TRACE_EQUAL_LINES", "all",
       "testlog: TRACE_EQUAL_LINES=all: not a valid number; expected a number of lines; 0: all\n"},
      {"TRACE_FORMAT", "xml",
       "testlog: TRACE_FORMAT=xml: unknown value; expected one of full, compact, pretty, json\n"},
      {"TRACE_SPAN_EVENTS", "new,opened",
       "testlog: TRACE_SPAN_EVENTS=new,opened: unknown value \"opened\"; expected one of new, enter, exit, close, "
       "active, "
       "full, none\n"},
      {"TRACE_TIME", "swatch", "testlog: TRACE_TIME=swatch: unknown value; expected one of utc, local, uptime, none\n"},
      {"TRACE_THREADS", "some", "testlog: TRACE_THREADS=some: unknown value; expected one of auto, on, off\n"},
      {"TRACE_COLOR", "green", "testlog: TRACE_COLOR=green: unknown value; expected one of auto, always, never\n"},
      {"TRACE_OUTPUT", "/nowhere/at/all",
       "testlog: TRACE_OUTPUT" + not_opened + "stderr, stdout or a path that can be written to\n"},
      {"TRACE_OUTPUT", "/nowhere\x1b[31m/at", "testlog: TRACE_OUTPUT=/nowhere\\x1b[31m/at: could not be opened: "},
      {"TRACE_RECORD", "/nowhere\x1b[31m/at", "testlog: TRACE_RECORD=/nowhere\\x1b[31m/at: could not be opened: "},
      {"TRACE_FILTER", "[{b=\x1b}",
       "testlog: TRACE_FILTER: invalid filter directive\n  [{b=?}\n"
       "  ^~~~~~ the \"[\" is never closed by \"]\"\n"},
      {"TRACE_CHROME", "/nowhere/at/all", "testlog: TRACE_CHROME" + not_opened + "a path that can be written to\n"},
      {"TRACE_PERFETTO", "/nowhere/at/all", "testlog: TRACE_PERFETTO" + not_opened + "a path that can be written to\n"},
      {"TRACE_XPLANE", "/nowhere/at/all", "testlog: TRACE_XPLANE" + not_opened + "a path that can be written to\n"},
      {"TRACE_RECORD", "/nowhere/at/all", "testlog: TRACE_RECORD" + not_opened + "a path that can be written to\n"},
      {"TRACE_FLAME", "/nowhere/at/all", "testlog: TRACE_FLAME" + not_opened + "a path that can be written to\n"},
      {"TRACE_RECORD_LIMIT", "64MB",
       "testlog: TRACE_RECORD_LIMIT=64MB: not a valid size; expected bytes, or 16M or 1G\n"},
      {"TRACE_CUDA_SOURCE", "full", "testlog: TRACE_CUDA_SOURCE=full: unknown value; expected one of on, off\n"},
      {"TRACE_CUDA_DEVICE_TIMES", "yes",
       "testlog: TRACE_CUDA_DEVICE_TIMES=yes: unknown value; expected one of on, events, off\n"},
      {"TRACE_FLAME_TESTS", "yes", "testlog: TRACE_FLAME_TESTS=yes: unknown value; expected one of on, off\n"},
      {"TRACE_FLAME_IDLE", "sometimes",
       "testlog: TRACE_FLAME_IDLE=sometimes: unknown value; expected one of on, off\n"},
      {"TRACE_PERTURB", "4711,0",
       "testlog: TRACE_PERTURB=4711,0: not 1 to 1000000 microseconds \"0\"; expected a seed, as 4711, or with "
       "microseconds, as "
       "4711,200; or off\n"},
      {"TRACE_SPDLOG", "sometimes", "testlog: TRACE_SPDLOG=sometimes: unknown value; expected one of on, off\n"},
      {"TRACE_CUDA_HEALTH", "sometimes",
       "testlog: TRACE_CUDA_HEALTH=sometimes: unknown value; expected one of on, stop, off\n"},
      {"TRACE_NVTX", "sideways", "testlog: TRACE_NVTX=sideways: unknown value; expected one of in, out, both, off\n"},
      {"TRACE_REDACT_TOKEN", "two\nlines",
       "testlog: TRACE_REDACT_TOKEN=two?lines: contains a control character; expected one line of text\n"},
      {"TRACE_PERF", "gpu=bogus",
       "testlog: TRACE_PERF: invalid filter directive\n  gpu=bogus\n"
       "      ^~~~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5\n"},
      {"TRACE_FAIL_ON", "wran",
       "testlog: TRACE_FAIL_ON=wran: unknown value; expected one of off, error, warn, info, debug, trace (did you mean "
       "warn?)\n"},
      {"TRACE_HANG_AFTER", "10s", "testlog: TRACE_HANG_AFTER=10s: not a valid time; expected seconds, or off\n"},
      {"TRACE_HANG_AFTER_DEFAULT", "-1",
       "testlog: TRACE_HANG_AFTER_DEFAULT=-1: not a valid time; expected seconds, or off\n"},
      {"TRACE_LONG_AFTER", "1 minute",
       "testlog: TRACE_LONG_AFTER=1 minute: not a valid time; expected seconds, or off\n"},
      {"TRACEPARENT", "00-xyz",
       "testlog: TRACEPARENT=00-xyz: too short; expected a trace and a span, as in "
       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"},
      {"TRACE_REPORT", "long", "testlog: TRACE_REPORT=long: unknown value; expected one of short, lines\n"},
      {"TRACE_SPAN_FIELDS", "none", "testlog: TRACE_SPAN_FIELDS=none: unknown value; expected one of short, all\n"},
      {"TRACE_CI", "jenkins",
       "testlog: TRACE_CI=jenkins: unknown value; expected one of auto, github, gitlab, azure, teamcity, buildkite, "
       "cdash, off\n"},
      {"TRACE_OTLP", "yes", "testlog: TRACE_OTLP=yes: unknown value; expected one of off, failed, all\n"},
      {"TRACE_RECORD_KEEP", "non", "testlog: TRACE_RECORD_KEEP=non: unknown value; expected one of failed, all\n"},
      {"TRACE_RECORD_PASSED", "10", "testlog: TRACE_RECORD_PASSED=10: not a valid number; expected 0 to 9\n"},
      {"TRACE_PERF_THRESHOLD_US", "5ms",
       "testlog: TRACE_PERF_THRESHOLD_US=5ms: not a valid number; expected microseconds\n"},
      {"TRACE_PERF_JSON", "/nowhere/at/all",
       "testlog: TRACE_PERF_JSON" + not_opened + "a path that can be written to\n"},
  };
  return *cases;
}

TEST(BadValues, AreReportedOnceAndCountAsUnset) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "has no threads";
  std::vector<std::string> const twice{"--gtest_repeat=2"};
  Outcome const good = run_scenarios("Plain.Passes:Settings.None:Both/Streams.Death*", {}, twice);
  for (auto const& [variable, value, report] : bad_cases()) {
    Outcome const outcome = run_scenarios("Plain.Passes:Settings.None:Both/Streams.Death*", {{variable, value}}, twice);
    EXPECT_EQ(outcome.exit_code, 0) << variable;
    EXPECT_EQ(outcome.out, good.out) << variable;
    EXPECT_EQ(count(outcome.err, "testlog: "), 1) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith(report));
    if (variable != "TRACE_TIME") {
      EXPECT_THAT(outcome.err, testing::EndsWith(good.err));
    }
    std::string const silent = run_scenarios("Plain.Passes", {{variable, value}, {"TRACE_SHOW", "none"}}).err;
    if (variable != "TRACE_SHOW") {
      EXPECT_THAT(silent, StartsWith(report));
    }
  }
}

TEST(BadValues, AreNotReportedWhileTestsAreListed) {
  Variables all;
  for (auto const& [variable, value, report] : bad_cases()) all.emplace_back(variable, value);
  EXPECT_THAT(run_scenarios("*", all, {"--gtest_list_tests"}).err, IsEmpty());
}

std::vector<tracing::environment::Variable> all_variables() {
  std::vector<tracing::environment::Variable> all;
  for (auto const& table : {tracing::environment::common_variables(), testlog::test_variables()})
    all.insert(all.end(), table.variables.begin(), table.variables.end());
  return all;
}

TEST(BadValues, AreTestedForEveryVariable) {
  std::vector<std::string> read,
      tried{"TRACE_REDACT", "NO_COLOR", "CLICOLOR_FORCE", "TRACE_PERF_PROM", "TRACE_RECORD_DEFAULT", "TRACE_CI_ROOT",
            "TRACE_CI_ARTIFACT", "TRACE_JUNIT",  // these take any text
            "TRACESTATE",                        // ignored without TRACEPARENT
            // read by the CPU backend alone
            "TRACE_CUDA_TIMEOUT", "TRACE_CUDA_CHECK", "TRACE_CUDA_MEMORY", "TRACE_CUDA_STATUS", "TRACE_CUDA_FRAMES"};
  for (tracing::environment::Variable const& variable : all_variables()) read.emplace_back(variable.name);
  for (BadCase const& one : bad_cases()) tried.push_back(one.variable);
  std::sort(tried.begin(), tried.end());
  tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
  EXPECT_THAT(tried, testing::UnorderedElementsAreArray(read));
}

TEST(EmptyValues, CountAsUnset) {
  Variables all;
  for (tracing::environment::Variable const& variable : all_variables()) {
    if (std::string_view(variable.name) != "TRACE_TIME") all.emplace_back(variable.name, "");
  }
  EXPECT_EQ(run_scenarios("Plain.Passes", all).err, run_scenarios("Plain.Passes").err);
}

}  // namespace
