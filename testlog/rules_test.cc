// The rules that hold everywhere, each by the name it has in docs: programs are run as a user runs them, and what they print
// and how they end is compared.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testlog/environment.h"
#include "testlog/testdata/run.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;
using testlog::testdata::run_own_main;
using testlog::testdata::run_scenarios;
using testlog::testdata::run_unread_scenarios;
using testlog::testdata::Variables;
using testlog::testdata::writes_of_scenarios;

constexpr char const* kFilters[] = {"off", "error", "warn", "info", "debug", "trace", "library=trace", "[launch]=trace"};
constexpr char const* kShows[] = {"live", "failed", "all", "none"};

// ---- 1: a test's result never depends on what is shown ----

class Rule1ResultsDoNotDependOnWhatIsShown : public testing::TestWithParam<char const*> {};

TEST_P(Rule1ResultsDoNotDependOnWhatIsShown, CaptureStderrDeathAndExit) {
  for (char const* const show : kShows) {
    Outcome const outcome = run_scenarios("Both/Streams*", {{"TRACE_FILTER", GetParam()}, {"TRACE_SHOW", show}});
    EXPECT_EQ(outcome.exit_code, 0) << show << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "[       OK ]"), 8) << outcome.out;
  }
}

TEST_P(Rule1ResultsDoNotDependOnWhatIsShown, RecordsAndFailOn) {
  Outcome const first = run_scenarios("Captured.*:Settings.*:Threads.*:-*TooMuch*");
  for (char const* const show : kShows) {
    Outcome const outcome = run_scenarios("Captured.*:Settings.*:Threads.*:-*TooMuch*",
                                          {{"TRACE_FILTER", GetParam()}, {"TRACE_SHOW", show}});
    EXPECT_EQ(outcome.out, first.out) << show;
    EXPECT_EQ(outcome.exit_code, first.exit_code);
  }
}

INSTANTIATE_TEST_SUITE_P(AtEveryFilter, Rule1ResultsDoNotDependOnWhatIsShown, testing::ValuesIn(kFilters));

TEST(Rule1, DescriptorsAreNotInherited) { EXPECT_EQ(run_scenarios("Streams.DescriptorsAreNotInherited").exit_code, 0); }

TEST(Rule1, AReaderOfStandardErrorThatWentAwayEndsNoTest) {
  for (char const* const show : kShows) {
    Outcome const outcome = run_unread_scenarios("Streams.NobodyReads", {{"TRACE_FILTER", "trace"}, {"TRACE_SHOW", show}});
    EXPECT_EQ(outcome.signal, 0) << show;
    EXPECT_EQ(outcome.exit_code, 1) << show;
  }
}

TEST(Rule1, WhereRecordsAreMissingAssertionsFailAndSayThat) {
  Outcome const full = run_scenarios("Captured.TooMuch*");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(count(full.out, "the ring was full and lost "), 2) << full.out;
  for (char const* const no : {"off", "OFF", "0"}) {
    Outcome const off = run_scenarios("Captured.StartsEmpty:Settings.ToleratesWarnings", {{"TRACE_CAPTURE", no}});
    EXPECT_EQ(count(off.out, "nothing is captured: TRACE_CAPTURE is off"), 2) << off.out;
  }
  Outcome const errors = run_scenarios("Settings.FailsOnWarnings:Settings.ToleratesWarnings", {{"TRACE_CAPTURE", "error"}});
  EXPECT_EQ(count(errors.out, "its .fail_on = warn forbids: TRACE_CAPTURE keeps no event of this level."), 1) << errors.out;
  EXPECT_EQ(count(errors.out, "[       OK ]"), 1) << "errors are all there";
}

TEST(Rule1, ThreadsafeDeathTestChildWritesNoText) {
  Outcome const outcome = run_scenarios("Both/Streams.DeathSees*/1", {{"TRACE_FILTER", "library=trace"}});
  // The parent's own work() and nothing of the children, which run the body up to the statement again.
  EXPECT_EQ(count(outcome.err, "spoken"), 5) << outcome.err;
}

// ---- 2: nothing while tests are listed ----

TEST(Rule2, ListingTestsPrintsWhatItWouldWithoutUs) {
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

TEST(Rule2, ListingTestsOpensNothing) {
  std::string const path = testing::TempDir() + "/rule2_listing";
  std::remove(path.c_str());
  run_scenarios("*", {{"SCENARIO_OUTSIDE", "1"}, {"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}}, {"--gtest_list_tests"});
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

// ---- 3: linking is enough ----

TEST(Rule3, AProgramWithItsOwnMainNeedsNothing) {
  Outcome const outcome = run_own_main({{"TRACE_FILTER", "library=warn"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, " WARN library: spoken\n"), 2) << outcome.err;
}

// ---- 4: fork and death tests ----

TEST(Rule4, ForkedChildrenGoOn) {
  Outcome const outcome = run_scenarios("Processes.ForkGoesOn", {{"TRACE_FILTER", "info"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("parent: Processes_ForkGoesOn_Test: in the parent"));
  EXPECT_THAT(outcome.err, HasSubstr("in the child"));
}

TEST(Rule4, NoLockIsHeldAcrossAFork) {
#if defined(__SANITIZE_ADDRESS__)
  // GCC 12's sanitizer leaves the locks of its own allocator to a child as they are, whoever held them.
  char const* const scenarios = "Processes.ForkFindsTheLockFree";
#else
  char const* const scenarios = "Processes.ForkWhile*:Processes.ForkFindsTheLockFree";
#endif
  EXPECT_EQ(run_scenarios(scenarios, {{"TRACE_FILTER", "error"}}).exit_code, 0);
}

TEST(Rule4, ChildrenOfDeathTestsHaveTheRecordsToo) {
  EXPECT_EQ(run_scenarios("*CapturesInTheChildToo*").exit_code, 0);
}

// ---- 5: no thread ----

TEST(Rule5, NoThreadIsStarted) { EXPECT_EQ(run_scenarios("Threads.ThereIsOnlyOne", {{"TRACE_FILTER", "trace"}}).exit_code, 0); }

TEST(Rule5, StaticDestructorsMaySpeakInAnyOrder) {
  std::string const folder = testing::TempDir() + "/rule5_";
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
    Outcome const outcome = run_scenarios("Ends.WithStaticsThatSpeak", all);
    EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal << "\n" << outcome.out << outcome.err;
    // The thread's first, then in the reverse of the order in which they were made.
    std::string const ended = outcome.out.substr(std::min(outcome.out.find("ended: "), outcome.out.size()));
    EXPECT_THAT(ended, StartsWith("ended: of the thread\nended: made in a test\nended: made late\nended: made first\n"));
  }
}

// ---- 6: whose a record is ----

TEST(Rule6, HelperThreadsBelongToTheRunningTest) { EXPECT_EQ(run_scenarios("Threads.Helpers*").exit_code, 0); }

TEST(Rule6, LateRecordsAreLabelledAndNotGivenToTheNextTest) {
  Outcome const outcome = run_scenarios("Threads.LeavesAThreadBehind:Threads.NextIsNotBlamed");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("[late, from Threads.LeavesAThreadBehind]  WARN"));
}

TEST(Rule6, ThreadsThatServeAllTestsBelongToTheRunningOne) {
  Outcome const outcome = run_scenarios("Threads.Pool*");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.err, Not(HasSubstr("[late")));
}

TEST(Rule6, RecordsOutsideAnyTestAreLabelled) {
  Outcome const outcome = run_scenarios("Fixture.Shows*", {{"SCENARIO_OUTSIDE", "1"}});
  for (char const* const text : {"spoken", "environment set up", "suite set up", "suite torn down", "environment torn down"}) {
    std::size_t const at = outcome.err.find(text);
    ASSERT_NE(at, std::string::npos) << text << outcome.err;
    std::size_t const begin = outcome.err.rfind('\n', at) + 1;
    EXPECT_THAT(outcome.err.substr(begin), StartsWith("[outside any test] ")) << text;
  }
  for (char const* const line : {" INFO Fixture: constructed\n", " INFO Fixture: set up\n", " INFO Fixture_Shows_Test: body\n",
                                 " INFO Fixture: torn down\n", " INFO Fixture: destroyed\n"}) {
    EXPECT_THAT(outcome.err, HasSubstr(std::string("\n") + line));
  }
}

TEST(Rule6, RecordsOutsideAnyTestAreNotLostWhereTestsAreShownAtTheirEnd) {
  Outcome const outcome = run_scenarios("Fixture.Shows*", {{"SCENARIO_OUTSIDE", "1"}, {"TRACE_SHOW", "all"}});
  for (char const* const text :
       {"library: spoken", "environment set up", "suite set up", "suite torn down", "environment torn down"}) {
    EXPECT_THAT(outcome.err, testing::ContainsRegex(std::string("\\[outside any test\\] [^\n]*") + text));
  }
  EXPECT_EQ(count(outcome.err, "body\n"), 2) << outcome.err;
}

// ---- 7: dying ----

TEST(Rule7, AFatalSignalTellsTheStory) {
  Outcome const outcome = run_dying("Dies.BySegv");
  EXPECT_EQ(outcome.signal, SIGSEGV) << outcome.exit_code;
  EXPECT_THAT(outcome.err, HasSubstr("SIGSEGV in Dies.BySegv"));
  EXPECT_THAT(outcome.err, HasSubstr("is in outer{id=7}\n"));
  EXPECT_THAT(outcome.err, HasSubstr("not shown text n=2.5\n"));
  EXPECT_EQ(count(outcome.err, "shown 1"), 1) << outcome.err;
}

TEST(Rule7, EverySignalEndsTheProgramAsWithoutUs) {
  EXPECT_EQ(run_dying("Dies.ByWildPointer").signal, SIGSEGV);
  EXPECT_EQ(run_dying("Dies.ByAbort").signal, SIGABRT);
}

TEST(Rule7, AStackThatRanOutIsNoObstacle) {
  Outcome const outcome = run_dying("Dies.ByStackOverflow");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, HasSubstr("SIGSEGV in Dies.ByStackOverflow"));
}

TEST(Rule7, ThreadsThatDieAtTheSameTimeTellTheWholeStory) {
  for (int i = 0; i < 5; ++i) {
    Outcome const outcome = run_dying("Dies.OnSeveralThreadsAtOnce");
    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_EQ(count(outcome.err, "last words"), 4 * 500);
    EXPECT_EQ(count(outcome.err, "---- SIGSEGV in "), 1);
    EXPECT_THAT(outcome.err, testing::EndsWith("---- end of what it recorded ----\n"));
  }
}

TEST(Rule7, WhatIsTooLongIsCutVisibly) {
  Outcome const outcome = run_dying("Dies.InDeepSpans");
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, HasSubstr(" is in level{levels=999}:level{levels=998}:"));
  EXPECT_THAT(outcome.err, HasSubstr("...\n  DEBUG ...:level{levels=63}:"));
  EXPECT_THAT(outcome.err, HasSubstr(":level{levels=0}: dying_scenarios: bottom\n"));
}

TEST(Rule7, ExitInsideATestTellsTheStory) {
  Outcome const outcome = run_scenarios("Dies.ByExit");
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.err,
            "---- Dies.ByExit: the process called exit() inside the test, in outer{id=7}; what it recorded and did not "
            "show ----\n"
            "DEBUG outer{id=7}: Dies_ByExit_Test: not shown\n"
            "---- end of what it recorded ----\n");
  EXPECT_THAT(run_scenarios("Dies.ByExitOnAnotherThread").err, HasSubstr("exit() inside the test; what"));
}

TEST(Rule7, ExitInsideATestIsToldOfEvenWhereNothingWasRecorded) {
  for (char const* const capture : {"trace", "off"}) {
    EXPECT_THAT(run_scenarios("Dies.ByExitSilently", {{"TRACE_CAPTURE", capture}}).err,
                StartsWith("---- Dies.ByExitSilently: the process called exit() inside the test;"));
  }
  EXPECT_THAT(run_scenarios("Dies.ByExitSilently", {{"TRACE_SHOW", "none"}}).err, IsEmpty());
}

TEST(Rule7, ChildrenThatExitDoSoSilently) {
  for (char const* const style : {"fast", "threadsafe"}) {
    Outcome const outcome = run_scenarios("Dies.InChildrenThatExit", {}, {std::string("--gtest_death_test_style=") + style});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.err, Not(HasSubstr("----")));
  }
}

TEST(Rule7, ChildrenOfDeathTestsDieSilently) {
  for (char const* const style : {"fast", "threadsafe"}) {
    Outcome const outcome = run_scenarios("Dies.InADeathTestOnly", {}, {std::string("--gtest_death_test_style=") + style});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, Not(HasSubstr("----")));
  }
}

TEST(Rule7, TheEarlierHandlerRunsAfterwards) {
  Outcome const outcome = run_scenarios("Dies.WithAHandlerOfItsOwn", {{"SCENARIO_OWN_HANDLER", "1"}});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_THAT(outcome.err, HasSubstr("SIGSEGV in Dies.WithAHandlerOfItsOwn"));
  EXPECT_THAT(outcome.err, testing::EndsWith("own handler\n"));
}

// Only what sanitizers do without being asked: they report after us.
TEST(Rule7, SanitizersKeepTheirHandler) {
#if defined(__SANITIZE_ADDRESS__)
  Outcome const outcome = run_scenarios("Dies.ByWildPointer");
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("SIGSEGV in Dies.ByWildPointer(.|\n)*AddressSanitizer: SEGV on unknown address"));
#else
  GTEST_SKIP() << "built without AddressSanitizer";
#endif
}

TEST(Rule7, BreakOnFailureTellsTheStoryAtTheFailure) {
  Outcome const outcome = run_dying("Plain.Fails", {}, {"--gtest_break_on_failure"});
  EXPECT_EQ(outcome.signal, SIGTRAP);
  EXPECT_THAT(outcome.err, HasSubstr("TRACE launch{count=4}:compile{kernel=\"double\"}: library: spoken"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("after the failure")));
}

TEST(Rule7, ThrowOnFailureTellsTheStoryAtTheFailure) {
  Outcome const outcome = run_scenarios("Fixture.Fails", {}, {"--gtest_throw_on_failure"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("---- Fixture.Fails: what it recorded and did not show ----\nDEBUG Fixture_Fails_Test: deep\n"));
}

// ---- 8: a filter changed inside a test ----

TEST(Rule8, AFilterChangedInATestIsRestored) {
  Outcome const outcome = run_scenarios("Filter.*");
  EXPECT_THAT(outcome.err, HasSubstr("after the change"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("before the change")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("in the next test")));
}

TEST(Rule8, TheDefaultFilterOfATestIsRestoredToo) {
  Outcome const outcome = run_scenarios("Settings.DefaultFilter:Threads.ManyWrite");
  EXPECT_EQ(count(outcome.err, "DEBUG"), 1) << outcome.err;
}

// ---- 10: one write for a line ----

TEST(Rule10, EachLineIsOneWrite) {
  std::vector<std::string> const writes =
      writes_of_scenarios("Threads.ManyWrite", {{"TRACE_FILTER", "trace"}, {"TRACE_COLOR", "always"}});
  EXPECT_EQ(writes.size(), 4u * 50 * 5);
  for (std::string const& write : writes) {
    ASSERT_EQ(count(write, "\n"), 1) << write;
    ASSERT_EQ(write.back(), '\n') << write;
  }
}

TEST(Rule10, AStoryIsOneWrite) {
  std::vector<std::string> const writes = writes_of_scenarios("Plain.Fails", {{"TRACE_FILTER", "off"}});
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_THAT(writes[1], AllOf(StartsWith("---- Plain.Fails"), testing::EndsWith("end of what it recorded ----\n")));
}

// Each of them whole; `text` may end in the middle of one.
int spoken_lines(std::string const& text, std::size_t* rest = nullptr) {
  int lines = 0;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1, ++lines) {
    std::string const line = text.substr(begin, end - begin);
    EXPECT_THAT(line, testing::MatchesRegex("(ERROR| WARN| INFO|DEBUG|TRACE) launch\\{count=[0-9]+\\}"
                                            "(:compile\\{kernel=\"double\"\\})?: library: spoken"));
    if (testing::Test::HasFailure()) break;
  }
  if (rest != nullptr) *rest = text.size() - begin;
  return lines;
}

TEST(Rule10, LinesOfThreadsAndProcessesAreNotTorn) {
  std::string const path = testing::TempDir() + "/rule10";
  std::remove(path.c_str());
  std::vector<std::thread> runs;
  for (int i = 0; i < 4; ++i) {
    runs.emplace_back([&path] { run_scenarios("Threads.ManyWrite", {{"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}}); });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(spoken_lines(testlog::testdata::content_of(path)), 4 * 4 * 50 * 5);
}

// ---- 11: what is on disk stays usable ----

TEST(Rule11, AfterSigkillInTheMiddleAtMostOneRecordIsBroken) {
  std::string const path = testing::TempDir() + "/rule11_middle";
  std::remove(path.c_str());
  EXPECT_EQ(run_scenarios("Dies.KilledWhileThreadsWrite", {{"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}}).signal, SIGKILL);
  std::size_t rest = 0;
  EXPECT_GT(spoken_lines(testlog::testdata::content_of(path), &rest), 100);
  EXPECT_LT(rest, 100u) << "of one line";
}

TEST(Rule11, AfterSigkillAFileHoldsWholeLines) {
  std::string const path = testing::TempDir() + "/rule11";
  std::remove(path.c_str());
  EXPECT_EQ(run_scenarios("Dies.Killed", {{"TRACE_FILTER", "trace"}, {"TRACE_OUTPUT", path}}).signal, SIGKILL);
  std::string const text = testlog::testdata::content_of(path);
  EXPECT_EQ(count(text, "\n"), 5000);
  EXPECT_EQ(count(text, ": library: spoken\n"), 5000);
}

// ---- 12: bad input ----

TEST(Rule12, BadValuesAreReportedOnceAndAreNotFatal) {
  Outcome const outcome =
      run_scenarios("Plain.Passes:Settings.None",
                    {{"TRACE_SHOW", "alive"}, {"TRACE_FORMAT", "JSON"}, {"TRACE_FILTER", "info,library=debgu"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      count(outcome.err, "TRACE_SHOW=alive is none of live, failed, all, none; did you mean \"live\"? Using live.\n"),
      1)
      << outcome.err;
  EXPECT_EQ(count(outcome.err, "did you mean \"json\"?"), 1);
  EXPECT_THAT(outcome.err, HasSubstr("info,library=debgu\n"));
  EXPECT_THAT(outcome.err, HasSubstr("^~~~~ not a level; did you mean \"debug\"?"));
}

struct BadCase {
  std::string variable;
  std::string value;
  std::string report;  // which piece is wrong, where, and what would be right
};

std::vector<BadCase> const& bad_cases() {
  static auto const* const cases = new std::vector<BadCase>{
      {"TRACE_PROFILE", "lokal",
       "testlog: TRACE_PROFILE=lokal is none of local, ci, performance; did you mean \"local\"? Using local.\n"},
      {"TRACE_FILTER", "info,gpu[launch=debug",
       "testlog: TRACE_FILTER: invalid filter directive\n  info,gpu[launch=debug\n"
       "          ^~~~~~~~~~~~~ the \"[\" is never closed by \"]\"\n"},
      {"TRACE_FILTER", "a=b=c",
       "testlog: TRACE_FILTER: invalid filter directive\n  a=b=c\n"
       "    ^~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5. Using info.\n"},
      {"TRACE_SHOW", "sometimes", "testlog: TRACE_SHOW=sometimes is none of live, failed, all, none. Using live.\n"},
      {"TRACE_CAPTURE", "trace,a=b=c",
       "testlog: TRACE_CAPTURE: invalid filter directive\n  trace,a=b=c\n"
       "          ^~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5\n"},
      {"TRACE_FORMAT", "xml", "testlog: TRACE_FORMAT=xml is none of full, compact, pretty, json. Using full.\n"},
      {"TRACE_SPAN_EVENTS", "new,opened",
       "testlog: TRACE_SPAN_EVENTS=new,opened: \"opened\" is none of new, enter, exit, close, active, full, none. "
       "Using none.\n"},
      {"TRACE_TIME", "swatch", "testlog: TRACE_TIME=swatch is none of utc, local, uptime, none. Using utc.\n"},
      {"TRACE_COLOR", "green", "testlog: TRACE_COLOR=green is none of auto, always, never. Using auto.\n"},
      {"TRACE_OUTPUT", "/nowhere/at/all",
       "testlog: TRACE_OUTPUT=/nowhere/at/all cannot be opened: No such file or directory. Using stderr; valid are "
       "stderr, "
       "stdout or a path that can be written to.\n"},
      {"TRACE_CHROME", "/nowhere/at/all",
       "testlog: TRACE_CHROME=/nowhere/at/all cannot be opened: No such file or directory. Nothing is written there; "
       "valid are "
       "a path that can be written to and a folder.\n"},
      {"TRACE_FLAME", "/nowhere/at/all",
       "testlog: TRACE_FLAME=/nowhere/at/all cannot be opened: No such file or directory. Nothing is written there; "
       "valid are "
       "a path that can be written to and a folder.\n"},
      {"TRACE_REDACT", " , ",
       "testlog: TRACE_REDACT= ,  is none of names of fields such as password,token. Using none.\n"},
      {"TRACE_REDACT", "password;token",
       "testlog: TRACE_REDACT=password;token is none of names of fields such as password,token; did you mean "
       "\"password,token\"? Using it as it stands.\n"},
      {"TRACE_REDACT_TOKEN", "two\nlines",
       "testlog: TRACE_REDACT_TOKEN=two?lines is none of texts of one line. Using ***REDACTED***.\n"},
      {"TRACE_PERF", "sumary",
       "testlog: TRACE_PERF=sumary is none of off, on, summary, or directives; did you mean \"summary\"? Using off.\n"},
      {"TRACE_PERF", "gpu=bogus",
       "testlog: TRACE_PERF: invalid filter directive\n  gpu=bogus\n"
       "      ^~~~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5. Using off.\n"},
      {"TRACE_PERF_THRESHOLD_US", "5ms",
       "testlog: TRACE_PERF_THRESHOLD_US=5ms is none of whole microseconds. Using 0.\n"},
      {"TRACE_PERF_JSON", "/nowhere/at/all",
       "testlog: TRACE_PERF_JSON=/nowhere/at/all cannot be opened: No such file or directory. Nothing is written "
       "there; valid is a "
       "path that can be written to.\n"},
      {"TRACE_PERF_PROM", "/nowhere/at/all",
       "testlog: TRACE_PERF_PROM=/nowhere/at/all cannot be opened: No such file or directory. Nothing is written "
       "there; valid is a "
       "path that can be written to.\n"},
      {"TRACE_SPDLOG", "sometimes", "testlog: TRACE_SPDLOG=sometimes is none of on, off. Using on.\n"},
      {"TRACE_CUDA_HEALTH", "sometimes", "testlog: TRACE_CUDA_HEALTH=sometimes is none of on, stop, off. Using on.\n"},
  };
  return *cases;
}

TEST(Rule12, EachBadValueIsReportedOnceAndItsDefaultUsed) {
  std::vector<std::string> const twice{"--gtest_repeat=2"};
  Outcome const good = run_scenarios("Plain.Passes:Settings.None:Both/Streams.Death*", {}, twice);
  for (auto const& [variable, value, report] : bad_cases()) {
    Outcome const outcome = run_scenarios("Plain.Passes:Settings.None:Both/Streams.Death*", {{variable, value}}, twice);
    EXPECT_EQ(outcome.exit_code, 0) << variable;
    EXPECT_EQ(outcome.out, good.out) << variable;
    EXPECT_EQ(count(outcome.err, "testlog: "), 1) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith(report));
    if (variable != "TRACE_TIME") {
      EXPECT_EQ(outcome.err, report + good.err);
    }
  }
}

TEST(Rule12, BadValuesAreReportedWhereNothingElseIsShown) {
  for (auto const& [variable, value, report] : bad_cases()) {
    if (variable == "TRACE_SHOW") continue;
    EXPECT_EQ(run_scenarios("Plain.*", {{variable, value}, {"TRACE_SHOW", "none"}}).err, report) << variable;
  }
}

TEST(Rule12, WhereAllDirectivesAreBadTheDefaultHolds) {
  EXPECT_EQ(run_scenarios("Settings.FailsOnWarnings", {{"TRACE_CAPTURE", "tarce=treu"}}).out,
            run_scenarios("Settings.FailsOnWarnings").out);
  for (char const* const blank : {" ", ",", " , "}) {
    EXPECT_EQ(run_scenarios("Plain.Fails", {{"TRACE_FILTER", blank}, {"TRACE_CAPTURE", blank}}).err,
              run_scenarios("Plain.Fails").err);
  }
}

// TRACE_FILTER's own default held, not the profile's, and TRACE_PERF measured nothing.
TEST(Rule12, WhereAllDirectivesAreBadTheProfileHolds) {
  Variables variables{{"TRACE_PROFILE", "performance"}, {"TRACE_PERF", "off"}};
  Outcome const good = run_scenarios("Plain.*:Perf.Passes", variables);
  variables.emplace_back("TRACE_FILTER", "a=b=c");
  EXPECT_EQ(run_scenarios("Plain.*:Perf.Passes", variables).err,
            "testlog: TRACE_FILTER: invalid filter directive\n  a=b=c\n"
            "    ^~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5. Using warn.\n" +
                good.err);
  for (auto const& [value, used] : {std::pair{"bogus=bogus", "summary"}, {"summary,gpu=bogus", "summary"}, {"on,a=b", "on"}}) {
    std::string const err = run_scenarios("Perf.Passes", {{"TRACE_PROFILE", "performance"}, {"TRACE_PERF", value}}).err;
    EXPECT_EQ(count(err, "or 0 to 5. Using " + std::string(used) + ".\n"), 1) << err;
    EXPECT_THAT(err, HasSubstr("cpu_ldg")) << value;
    EXPECT_THAT(err, HasSubstr(used == std::string("on") ? "performance_span_complete" : "how long perf spans took")) << value;
  }
}

TEST(Rule12, BadValuesAreNotMentionedWhereTestsAreListed) {
  Outcome const good = run_scenarios("*", {}, {"--gtest_list_tests"});
  for (auto const& [variable, value, report] : bad_cases()) {
    Outcome const outcome = run_scenarios("*", {{variable, value}}, {"--gtest_list_tests"});
    EXPECT_EQ(outcome.exit_code, 0) << variable;
    EXPECT_EQ(outcome.out, good.out) << variable;
    EXPECT_THAT(outcome.err, IsEmpty()) << variable;
  }
}

TEST(Rule12, NoVariableIsForgottenHere) {
  std::vector<std::string> read, tried;
  for (testlog::Variable const& variable : testlog::variables()) {
    if (std::string_view(variable.name).starts_with("TRACE_")) read.emplace_back(variable.name);
  }
  for (BadCase const& one : bad_cases()) {
    if (tried.empty() || tried.back() != one.variable) tried.push_back(one.variable);
  }
  EXPECT_EQ(tried, read);
}

TEST(Rule12, EmptyIsAsUnset) {
  Outcome const outcome = run_scenarios(
      "Plain.Passes",
      {{"TRACE_SHOW", ""}, {"TRACE_FORMAT", ""}, {"TRACE_FILTER", ""}, {"TRACE_CAPTURE", ""}, {"TRACE_COLOR", ""}});
  EXPECT_EQ(outcome.err, run_scenarios("Plain.Passes").err);
}

}  // namespace
