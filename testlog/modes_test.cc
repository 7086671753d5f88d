// Programs in GoogleTest's modes, settings of tests, and single variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/support/file_name.h"
#include "tracing_core/support/utf8.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::content_of;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;
using testlog::testdata::run_on_terminal;
using testlog::testdata::run_own_main;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using testlog::testdata::without_tree;

std::string fresh_path(char const* name) {
  std::string const path = testing::TempDir() + "/testlog_" + name;
  std::remove(path.c_str());
  return path;
}

// Returns true if a strict parser of XML accepts every character.
bool is_xml_text(std::string_view text) {
  while (!text.empty()) {
    auto const c = tracing::support::decode_utf8(text);
    bool const is_control = c.value < 0x20 && c.value != '\t' && c.value != '\n' && c.value != '\r';
    if (!c.valid || is_control || c.value == 0xFFFE || c.value == 0xFFFF) return false;
    text.remove_prefix(c.size);
  }
  return true;
}

// ---- GoogleTest ----

TEST(Modes, XmlAndJsonReportsHaveTheSpanPath) {
  std::string const xml = fresh_path("report.xml");
  run_scenarios("Plain.Fails:Plain.FailsTwice", {}, {"--gtest_output=xml:" + xml});
  EXPECT_THAT(content_of(xml), AllOf(HasSubstr("<property name=\"trace_span_path\" value=\"outer{id=7}:inner\"/>"),
                                     HasSubstr("<property name=\"trace_span_path\" value=\"first\"/>")));
  std::string const json = fresh_path("report.json");
  run_scenarios("Plain.Fails", {}, {"--gtest_output=json:" + json});
  EXPECT_THAT(content_of(json), HasSubstr("\"trace_span_path\": \"outer{id=7}:inner\""));
}
TEST(Modes, XmlReportHasNoSpanPathIfOnlyALaterFailureIsInASpan) {
  std::string const xml = fresh_path("report.xml");
  run_scenarios("Late.CreatesAThread:Late.IsFailed", {}, {"--gtest_output=xml:" + xml});
  EXPECT_THAT(content_of(xml), AllOf(HasSubstr("name=\"IsFailed\""), Not(HasSubstr("trace_span_path"))));
}
TEST(Modes, XmlReportIsWellFormedWhateverSpansContain) {
  std::string const xml = fresh_path("hostile.xml");
  run_scenarios("Hostile.Fails:Hostile.Throws*", {}, {"--gtest_output=xml:" + xml});
  std::string const text = content_of(xml);
  EXPECT_TRUE(is_xml_text(text)) << text;
  EXPECT_THAT(text, HasSubstr("\"trace_span_path\" value=\"outer{path=\\xff\\x1b[2J&#x0A;       INFO scenarios: "
                              "forged \\u{ffff}}\""));
  EXPECT_THAT(text, HasSubstr("\"trace_span_path\" value=\"cut{path=\u00e9\u00e9"));
  EXPECT_EQ(count(text, "\"trace_report\" value=\"---- Hostile."), 2);
}
TEST(Modes, XmlAndJsonReportsHaveTheFailureReportAndTheNameOfTheRecording) {
  for (Variables variables :
       {Variables{}, {{"TRACE_FILTER", "trace"}}, {{"TRACE_SHOW", "none"}}, {{"TRACE_COLOR", "always"}}}) {
    SCOPED_TRACE(variables.empty() ? "" : variables[0].first);
    std::string const xml = fresh_path("properties.xml");
    std::string const recording = fresh_path("properties.rec");
    variables.emplace_back("TRACE_RECORD", recording);
    run_scenarios("Plain.Passes:Plain.Fails", variables, {"--gtest_output=xml:" + xml});
    std::string const text = content_of(xml);
    EXPECT_THAT(text,
                HasSubstr("<property name=\"trace_report\" value=\"---- Plain.Fails: captured records ----&#x0A;"
                          "ERROR launch{count=4}:compile{kernel=&quot;double&quot;}: library: spoken&#x0A; WARN "));
    EXPECT_THAT(text, HasSubstr("&#x0A; FAIL outer{id=7}:inner: "));
    EXPECT_THAT(text, HasSubstr("&#x0A;---- end of captured records ----&#x0A;\"/>"));
    EXPECT_THAT(text, HasSubstr("<property name=\"trace_recording\" value=\"" + recording + "\"/>"));
    EXPECT_EQ(count(text, "\"trace_re"), 2) << "a test that passes has neither";
  }
  std::string const json = fresh_path("properties.json");
  run_scenarios("Plain.Fails", {}, {"--gtest_output=json:" + json});
  std::string const report = nlohmann::json::parse(content_of(json))["testsuites"][0]["testsuite"][0]["trace_report"];
  EXPECT_THAT(report, StartsWith("---- Plain.Fails: captured records ----\nERROR "));
}
TEST(Modes, XmlReportHasTheBeginningOfALongFailureReport) {
  std::string const json = fresh_path("long.json");
  run_scenarios("Report.OfSixtyFourThreads", {{"TRACE_FORMAT", "pretty"}}, {"--gtest_output=json:" + json});
  std::string const report = nlohmann::json::parse(content_of(json))["testsuites"][0]["testsuite"][0]["trace_report"];
  EXPECT_LE(report.size(), 4096u);
  EXPECT_GE(report.size(), 3900u);
  EXPECT_THAT(report, testing::EndsWith("\n..."));
}
TEST(Modes, XmlReportKeepsThePropertiesThatATestRecordsItself) {
  std::string const xml = fresh_path("own.xml");
  run_scenarios("Properties.OfItsOwn", {{"TRACE_RECORD", fresh_path("own.rec")}}, {"--gtest_output=xml:" + xml});
  for (std::string const name : {"trace_span_path", "trace_report", "trace_recording"})
    EXPECT_EQ(count(content_of(xml), "name=\"" + name + "\" value=\"mine\""), 1) << content_of(xml);
}
TEST(Modes, RepeatedAndShuffledTestsStartWithoutRecords) {
  Outcome const outcome = run_scenarios("Captured.ContainsEverything:Captured.StartsEmpty:Filter.*", {},
                                        {"--gtest_repeat=3", "--gtest_shuffle"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(count(outcome.err, "after the change"), 3);
}
TEST(Modes, FailFastPrintsOneFailureReport) {
  Outcome const outcome = run_scenarios("Plain.Fails:Plain.Throws", {}, {"--gtest_fail_fast"});
  EXPECT_EQ(count(outcome.err, "---- Plain.Fails"), 1);
  EXPECT_THAT(outcome.err, Not(HasSubstr("thrown in")));
}
// ---- filters that select spans alone ----

TEST(SpansAlone, AreCountedIfATestThatPassesPrintsNothing) {
  for (Variables const& shown : {Variables{}, {{"TRACE_SHOW", "all"}}, {{"CI", "true"}}}) {
    Variables variables = shown;
    variables.emplace_back("TRACE_FILTER", "numbers=debug");
    EXPECT_EQ(run_scenarios("SpansOnly.Passes", variables).err,
              "testlog: SpansOnly.Passes: 5 spans, no events; TRACE_SPAN_EVENTS=close shows them\n");
    variables.emplace_back("TRACE_SPAN_EVENTS", "close");
    EXPECT_THAT(run_scenarios("SpansOnly.Passes", variables).err,
                AllOf(HasSubstr("close"), Not(HasSubstr("no events"))));
  }
  EXPECT_EQ(run_scenarios("SpansOnly.Passes", {{"TRACE_FILTER", "[norm]=info"}}).err,
            "testlog: SpansOnly.Passes: 1 span, no events; TRACE_SPAN_EVENTS=close shows it\n");
}
TEST(SpansAlone, AreNotMentionedIfNobodyAskedForThem) {
  EXPECT_EQ(run_scenarios("SpansOnly.Passes").err, "");
  EXPECT_EQ(run_scenarios("SpansOnly.Passes", {{"TRACE_FILTER", "numbers=off"}}).err, "");
  for (char const* const show : {"failed", "none"})
    EXPECT_EQ(run_scenarios("SpansOnly.Passes", {{"TRACE_FILTER", "numbers=debug"}, {"TRACE_SHOW", show}}).err, "");
  EXPECT_THAT(run_scenarios("SpansOnly.Fails:Plain.Passes", {{"TRACE_FILTER", "trace"}}).err,
              Not(HasSubstr("no events")));
}

// ---- redacted values ----

TEST(Redact, KeepsTheValueOutOfEveryOutput) {
  for (char const* const format : {"full", "compact", "pretty", "json"}) {
    for (char const* const show : {"live", "failed", "all"}) {
      SCOPED_TRACE(testing::Message() << format << ' ' << show);
      std::string const xml = fresh_path("secrets.xml");
      std::string const report = fresh_path("secrets_report.json");
      std::string const file = fresh_path("secrets.log");
      Variables variables{{"TRACE_REDACT", "password,token"},
                          {"TRACE_FILTER", "trace"},
                          {"TRACE_FORMAT", format},
                          {"TRACE_SHOW", show},
                          {"TRACE_SPAN_EVENTS", "full"}};
      Outcome const shown = run_scenarios("Secrets.Fails", variables, {"--gtest_output=xml:" + xml});
      run_scenarios("Secrets.Fails", variables, {"--gtest_output=json:" + report});
      Outcome const dead = run_dying("Dies.WithSecrets", variables);
      std::string const chrome = fresh_path("secrets.json");
      std::string const flame = fresh_path("secrets.folded");
      std::string const perf = fresh_path("secrets.jsonl");
      std::string const metrics = fresh_path("secrets.prom");
      variables.insert(variables.end(), {{"TRACE_OUTPUT", file},
                                         {"TRACE_CHROME", chrome},
                                         {"TRACE_FLAME", flame},
                                         {"TRACE_PERF", "on"},
                                         {"TRACE_PERF_JSON", perf},
                                         {"TRACE_PERF_PROM", metrics}});
      run_scenarios("Secrets.Fails", variables);
      // These files hold only names.
      for (std::string const& path : {flame, metrics}) {
        EXPECT_THAT(content_of(path), AllOf(HasSubstr("login"), Not(HasSubstr("canary")))) << path;
      }
      EXPECT_THAT(shown.out, HasSubstr("with token=***REDACTED***")) << "the span trace";
      EXPECT_THAT(dead.out, Not(HasSubstr("canary")));
      for (std::string const& text : {shown.out, shown.err, dead.err, content_of(xml), content_of(report),
                                      content_of(file), content_of(chrome), content_of(perf)}) {
        EXPECT_THAT(text, Not(HasSubstr("canary")));
        EXPECT_THAT(text, HasSubstr("***REDACTED***"));
      }
    }
  }
}
TEST(Redact, PatternsOfSpdlogDoNotHoldTheValue) {
  for (char const* const program : {TESTLOG_SPDLOG_SCENARIOS, TESTLOG_HEADER_ONLY_SCENARIOS}) {
    auto const pattern = [program](Variables const& with) {
      return testlog::testdata::run({program, "--gtest_filter=Spdlog.PrintsTheSpansOfASecret"}, with).out;
    };
    EXPECT_THAT(pattern({{"TRACE_REDACT", "token"}}),
                HasSubstr("[info] login{token=***REDACTED***}: with a password\n"));
    EXPECT_THAT(pattern({}), HasSubstr("[info] login{token=\"canary\"}: with a password\n"));
  }
}
TEST(Redact, IsOffByDefault) {
  Outcome const shown = run_scenarios("Secrets.Fails", {{"TRACE_FILTER", "trace"}});
  EXPECT_THAT(shown.out, HasSubstr("canary"));
  EXPECT_THAT(shown.err, HasSubstr("canary"));
  EXPECT_THAT(run_dying("Dies.WithSecrets").err, HasSubstr("canary"));
}
TEST(Redact, PrintsTheChosenToken) {
  Outcome const shown = run_scenarios("Secrets.Fails", {{"TRACE_REDACT", "token"}, {"TRACE_REDACT_TOKEN", "(hidden)"}});
  EXPECT_THAT(shown.err, AllOf(HasSubstr("open{token=(hidden)}"), Not(HasSubstr("***"))));
}

// ---- text of the program ----

TEST(Printed, NoTextControlsTheTerminalOrLooksLikeARecord) {
  for (char const* const format : {"full", "compact", "pretty", "json"}) {
    for (char const* const show : {"live", "failed", "all"}) {
      for (char const* const color : {"never", "always"}) {
        Variables const variables{
            {"TRACE_FORMAT", format}, {"TRACE_SHOW", show}, {"TRACE_COLOR", color}, {"TRACE_THREADS", "on"}};
        Outcome const failed = run_scenarios("Hostile.Fails", variables);
        Outcome const dead = run_dying("Hostile.Dies", variables);
        EXPECT_THAT(failed.err, HasSubstr("from a thread"));
        for (std::string const& text : {failed.err, failed.out, dead.err}) {
          EXPECT_THAT(text, AllOf(HasSubstr("INFO scenarios: forged"), Not(HasSubstr("\n INFO")),
                                  Not(HasSubstr("\xff")), Not(HasSubstr("\x1b[2J"))))
              << format << ' ' << show << ' ' << color;
        }
      }
    }
  }
  EXPECT_THAT(run_scenarios("Hostile.Fails").err,
              HasSubstr(" WARN outer{path=\\xff\\x1b[2J\n       INFO scenarios: forged \\u{ffff}}: scenarios: message "
                        "\\xff\\x1b[2J\n       INFO scenarios: forged \\u{ffff} value="));
}

// ---- settings ----

TEST(TestLog, DefaultFilterSelectsWhatIsShown) {
  EXPECT_EQ(count(run_scenarios("Settings.DefaultFilter").err, "spoken"), 4);
  EXPECT_EQ(count(run_scenarios("Settings.DefaultFilter", {{"TRACE_FILTER", "error"}}).err, "spoken"), 1)
      << "TRACE_FILTER takes precedence";
}
TEST(TestLog, FailOnFailsAtTheLineOfTheEvent) {
  Outcome const outcome = run_scenarios("Settings.FailsOnWarnings");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      HasSubstr(
          "testdata/library.h:14: Failure\nFailed\nThe test recorded an event of level warn; its .fail_on is warn:\n"
          "  library: spoken\n"));
  EXPECT_EQ(count(outcome.out, "The test recorded an event"), 2);
}
TEST(TestLog, ScopedFilterRestoresWhatWasShownBefore) {
  std::string const err = run_scenarios("Settings.ScopedFilters").err;
  EXPECT_EQ(count(err, "scenarios: shown\n"), 2) << err;
  EXPECT_EQ(count(err, "not shown"), 0) << err;
}
TEST(TestLog, FailOnNeedsNoCapturedRecords) {
  EXPECT_EQ(run_scenarios("Captured.TooMuchWithoutAnError").exit_code, 0);
  for (char const* const capture : {"off", "error"}) {
    Outcome const outcome = run_scenarios("Settings.FailsOnWarnings:Settings.ToleratesWarnings",
                                          {{"TRACE_CAPTURE", capture}, {"TRACE_FILTER", "off"}});
    EXPECT_EQ(count(outcome.out, "The test recorded an event"), 2);
    EXPECT_EQ(count(outcome.out, "[       OK ]"), 1);
  }
}
TEST(TestLog, NothingIsEnabledUnlessItIsShownCapturedWrittenOrAsserted) {
  auto const run = [](Variables variables) {
    variables.insert(variables.begin(), {{"TRACE_SHOW", "none"}, {"TRACE_CAPTURE", "off"}, {"TRACE_FILTER", "trace"}});
    return run_scenarios("Enabled.IsPrinted:Settings.FailsOnWarnings", variables, {"--gtest_repeat=2"}).out;
  };
  // Threads of the test with .fail_on may go on, so what it forbids stays enabled for the second time.
  std::string const out = run({});
  EXPECT_EQ(count(out, "enabled: event 0, span 0\n"), 1) << out;
  EXPECT_EQ(count(out, "The test recorded an event of level "), 4) << out;
  tracing_test::TemporaryFolder const folder;
  EXPECT_EQ(count(run({{"TRACE_RECORD_DEFAULT", folder / ""}}), "enabled: event 0, span 0\n"), 1);
  EXPECT_EQ(count(run({{"TRACE_FAIL_ON", "error"}}), "enabled: event 1, span 1\n"), 2);
  EXPECT_EQ(count(run({{"TRACE_CHROME", "/dev/null"}}), "enabled: event 1, span 1\n"), 2);
}
TEST(TestLog, AllowEventsAllowsThoseThatMatchInItsScope) {
  EXPECT_EQ(count(run_scenarios("Settings.AllowsSomeWarnings").out, "The test recorded an event"), 1);
}
TEST(TestLog, FailOnOfASuiteAppliesToItsTests) {
  Outcome const outcome = run_scenarios("StrictSuite.*");
  EXPECT_EQ(count(outcome.out, "The test recorded an event of level warn; its .fail_on is warn:\n"), 1);
  EXPECT_EQ(count(outcome.out, "[       OK ]"), 1);
}
TEST(TestLog, TraceFailOnAppliesToTestsWithoutFailOn) {
  Outcome const outcome = run_scenarios("Plain.Passes:Settings.ToleratesWarnings", {{"TRACE_FAIL_ON", "warn"}});
  EXPECT_EQ(count(outcome.out, "The test recorded an event of level warn; TRACE_FAIL_ON is warn:\n"), 1) << outcome.out;
  EXPECT_EQ(count(outcome.out, "[       OK ]"), 1);
}
TEST(TestLog, SettingsApplyToEveryInstance) {
  EXPECT_EQ(count(run_scenarios("*Values.*:*Types*:*Patterns*").out, "[  FAILED  ]"), 5 * 2 + 1);
}

// ---- directives that matched nothing ----

TEST(UnmatchedDirectives, AreReportedWithAFailure) {
  Outcome const outcome = run_scenarios("Plain.Fails:Plain.FailsSilently", {{"TRACE_FILTER", "librray=debug"}});
  EXPECT_EQ(
      count(outcome.err,
            "testlog: TRACE_FILTER: \"librray=debug\" matched nothing that ran: no target begins with \"librray\"; "
            "did you mean \"library\"?\n"),
      1)
      << outcome.err;
}
TEST(UnmatchedDirectives, AreReportedWithTheFailureOfTheirTest) {
  std::string const own =
      "testlog: the test's filter: \"librray=debug\" matched nothing that ran: no target begins with \"librray\"; did "
      "you mean \"library\"?\n";
  EXPECT_EQ(count(run_scenarios("Settings.MisspeltFilter").err, own), 1);
  EXPECT_EQ(count(run_scenarios("Settings.MisspeltFilter", {{"TRACE_FILTER", "info"}}).err, own), 0)
      << "TRACE_FILTER takes precedence";
  EXPECT_THAT(run_scenarios("Settings.WrongFilter").err,
              HasSubstr("testlog: the test's filter: invalid filter directive\n  info,library=debgu\n               "
                        "^~~~~ not a level; did you mean \"debug\"?"));
}
TEST(UnmatchedDirectives, AreReportedWithAFailureForCapture) {
  EXPECT_EQ(count(run_scenarios("Plain.Fails:Plain.FailsTwice", {{"TRACE_CAPTURE", "info,librray=debug"}}).err,
                  "testlog: TRACE_CAPTURE: \"librray=debug\" matched nothing that ran: no target begins with "
                  "\"librray\"; did you mean \"library\"?\n"),
            1);
}
TEST(UnmatchedDirectives, AreReportedAfterARunOfAllTests) {
  EXPECT_EQ(run_own_main({{"TRACE_FILTER", "network=debug"}}).err,
            "testlog: TRACE_FILTER: \"network=debug\" matched nothing that ran: no target begins with \"network\"\n");
}
// Runs tests as CTest does: one in each process.
TEST(UnmatchedDirectives, AreReportedAfterAnyRunThatReachedANearName) {
  std::string const typo =
      "\"librray=debug\" matched nothing that ran: no target begins with \"librray\"; did you mean \"library\"?\n";
  EXPECT_EQ(run_scenarios("Plain.Passes", {{"TRACE_FILTER", "librray=debug,network=debug"}}).err,
            "testlog: TRACE_FILTER: " + typo);
  EXPECT_EQ(run_scenarios("Plain.Passes", {{"TRACE_FILTER", "off"}, {"TRACE_CAPTURE", "librray=debug"}}).err,
            "testlog: TRACE_CAPTURE: " + typo);
  EXPECT_THAT(run_scenarios("Captured.StartsEmpty", {{"TRACE_FILTER", "librray=debug"}}).err, IsEmpty())
      << "it reached nothing";
  EXPECT_THAT(run_scenarios("Plain.Passes", {{"TRACE_FILTER", "librray=debug"}, {"TRACE_SHOW", "none"}}).err,
              IsEmpty());
}
TEST(FilterHelp, IsPrintedAtTheEnd) {
  Outcome const outcome = run_own_main({{"TRACE_FILTER", "help"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, " INFO launch{count=4}: library: spoken\n"), 1) << outcome.err;
  EXPECT_LT(outcome.err.find("spoken"), outcome.err.find("  library:"));
}

// ---- variables ----

TEST(MisspeltVariables, AreReported) {
  EXPECT_THAT(run_scenarios("Plain.Passes", {{"TRACE_FITLER", "library=trace"}}).err,
              testing::StartsWith("testlog: TRACE_FITLER: unknown variable; did you mean TRACE_FILTER?\n"));
}

TEST(TraceOutput, AppendsToAFile) {
  std::string const path = fresh_path("output");
  for (int i = 0; i < 2; ++i) EXPECT_THAT(run_scenarios("Plain.Passes", {{"TRACE_OUTPUT", path}}).err, IsEmpty());
  EXPECT_EQ(count(content_of(path), "spoken"), 6);
}
TEST(TraceOutput, NamesFilesAfterTests) {
  std::string const passes = fresh_path("of_Plain.Passes"),
                    value = fresh_path(("of_" + tracing::support::file_name_of("Some/Values.Fails/0")).c_str());
  run_scenarios("Plain.Passes:*Values.Fails/0", {{"TRACE_OUTPUT", testing::TempDir() + "/testlog_of_%t"}});
  EXPECT_EQ(count(content_of(passes), "spoken"), 3);
  EXPECT_THAT(content_of(value), AllOf(HasSubstr("value n=1"), Not(HasSubstr("spoken"))));
}
TEST(TraceOutput, HasOnlyJsonInAFileIfRecordsAreJson) {
  std::string const path = fresh_path("output.jsonl");
  std::string const tests =
      "Plain.*:Hostile.Fails:Settings.*Filter:SetUpOnce.D*:SetUpOnce.E*:Captured.AField*:Captured.TooMuchFails";
  for (Variables const& more : std::vector<Variables>{
           {},
           {{"TRACE_SHOW", "all"}, {"TRACE_PERF", "summary"}, {"TRACE_COLOR", "wrong"}},
           {{"TRACE_SHOW", "failed"}, {"TRACE_FILTER", "librray=debug"}, {"TRACE_CHROME", "/nowhere/at/all"}},
           {{"TRACE_FILTER", "help"}}}) {
    Variables variables{{"TRACE_FORMAT", "json"}, {"TRACE_OUTPUT", path}};
    variables.insert(variables.end(), more.begin(), more.end());
    run_scenarios(tests, variables);
    run_scenarios("Dies.ByExit", variables);
    run_dying("Dies.BySegv", variables);
    run_dying("Hostile.Dies", variables);
  }
  std::map<std::string, int> kinds;
  std::istringstream lines(content_of(path));
  for (std::string line; std::getline(lines, line);) {
    auto const object = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(object.is_object()) << line;
    ++kinds[object.value("kind", "")];
  }
  for (char const* const kind : {"", "report", "failure", "failure_report", "end_of_failure_report", "left_out",
                                 "crash_report", "filter_help", "test"}) {
    EXPECT_GT(kinds[kind], 0) << kind;
  }
  EXPECT_THAT(
      content_of(path),
      AllOf(HasSubstr(R"({"kind":"failure","test":"Plain.Fails","thread":"main","text":"in outer{id=7}:inner"})"),
            HasSubstr(R"({"kind":"crash_report","text":"SIGSEGV in Dies.BySegv: )")));
}
TEST(TraceOutput, MayBeStdout) {
  Outcome const outcome = run_scenarios("Plain.Passes", {{"TRACE_OUTPUT", "stdout"}});
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_EQ(count(outcome.out, "spoken"), 3);
}
TEST(TraceOutput, ReportsAFullDiskOnceAndCountsLines) {
  Outcome const outcome = run_scenarios("Plain.Passes", {{"TRACE_OUTPUT", "/dev/full"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "testlog: could not write TRACE_OUTPUT=/dev/full: No space left on device; lines may be missing\n"
            "testlog: 3 lines are missing in TRACE_OUTPUT=/dev/full\n");
}
TEST(TraceThreads, SelectsTheLinesThatNameTheirThread) {
  auto const text = [](Variables const& variables) {
    return without_tree(run_scenarios("Threads.With*", variables).err);
  };
  std::string const begin = "---- Threads.WithAndWithoutNames: captured records ----\n";
  std::string const end = "---- end of captured records ----\n";
  EXPECT_EQ(text({}),
            " INFO process_scenarios: from the test\n"
            "[worker-1]  INFO process_scenarios: from a worker\n" +
                begin +
                "[main]  INFO process_scenarios: from the test\n"
                "[worker-1]  INFO process_scenarios: from a worker\n"
                "[thread 3] DEBUG process_scenarios: from another\n"
                "[main]  FAIL testlog/testdata/process_scenarios.cc:249: Failed\n" +
                end);
  EXPECT_THAT(
      text({{"TRACE_THREADS", "on"}}),
      AllOf(StartsWith("[main]  INFO process_scenarios: from the test\n[worker-1]  INFO"), HasSubstr("[thread 3] ")));
  EXPECT_THAT(text({{"TRACE_THREADS", "off"}}), Not(HasSubstr("[")));
}
TEST(TraceFormat, JsonNamesTheTestAndTheThread) {
  std::string const tests = "Threads.With*:Threads.Leaves*:Threads.NextIs*";
  std::string const text = run_scenarios(tests, {{"TRACE_FORMAT", "json"}}).err;
  std::string const test = R"("target":"process_scenarios","test":"Threads.WithAndWithoutNames",)";
  EXPECT_THAT(text, AllOf(HasSubstr(test + "\"thread\":\"main\"}\n"), HasSubstr(test + "\"thread\":\"worker-1\"}\n"),
                          HasSubstr(test + "\"thread\":\"thread 3\"}\n")));
  EXPECT_THAT(text, HasSubstr(R"("test":"Threads.LeavesAThreadBehind","late":true,"thread":"thread )"));
}
TEST(TraceTime, SelectsTheTimeOfLines) {
  auto const line = [](char const* time) {
    return run_scenarios("Settings.ToleratesWarnings", {{"TRACE_FILTER", "warn"}, {"TRACE_TIME", time}}).err;
  };
  constexpr char const* kDate = "20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\\.[0-9]{6}";
  constexpr char const* kRest = "  WARN scenarios: tolerated\n";
  EXPECT_THAT(line("utc"), MatchesRegex(kDate + std::string("Z") + kRest));
  EXPECT_THAT(line("local"), MatchesRegex(kDate + std::string("[+-][0-9][0-9]:[0-9][0-9]") + kRest));
  EXPECT_THAT(line("uptime"), MatchesRegex(" +[0-9]+\\.[0-9]{9}s" + std::string(kRest)));
  EXPECT_EQ(line("none"), kRest + 1);
}
TEST(TraceSpanEvents, HaveDurationsIfLinesHaveTimes) {
  Variables const close{{"TRACE_FILTER", "library=info"}, {"TRACE_SPAN_EVENTS", "close"}};
  for (char const* const show : {"live", "all", "failed"}) {
    Variables variables = close;
    variables.emplace_back("TRACE_SHOW", show);
    std::string const test = show == std::string("failed") ? "Plain.Fails" : "Plain.Passes";
    EXPECT_THAT(run_scenarios(test, variables).err, HasSubstr(" INFO launch{count=4}: library: close\n")) << show;
    variables.emplace_back("TRACE_TIME", "utc");
    EXPECT_THAT(run_scenarios(test, variables).err, HasSubstr(" INFO launch{count=4}: library: close time.busy="))
        << show;
  }
}
TEST(TraceCapture, SelectsTheRecordsOfFailureReports) {
  auto const report = [](char const* capture) {
    return run_scenarios("Plain.Fails", {{"TRACE_FILTER", "off"}, {"TRACE_CAPTURE", capture}}).err;
  };
  EXPECT_EQ(count(report("trace"), "\n"), 1 + 1 + 7 + 1);
  EXPECT_THAT(report("library=info"),
              AllOf(HasSubstr(" INFO "), Not(HasSubstr("DEBUG")), Not(HasSubstr("after the failure"))));
  EXPECT_EQ(count(report("library=info"), "spoken"), 3);
  EXPECT_THAT(report("[outer]=debug"),
              AllOf(HasSubstr("DEBUG outer{id=7}:inner: scenarios: after the failure"), Not(HasSubstr("spoken"))));
}
TEST(TraceColor, TakesPrecedenceOverOtherSettings) {
  auto const colored = [](testlog::testdata::Variables const& variables, char const* flag) {
    return run_scenarios("Plain.Passes", variables, {flag}).err.find("\x1b[") != std::string::npos;
  };
  EXPECT_FALSE(colored({}, "--gtest_color=auto"));
  EXPECT_TRUE(colored({}, "--gtest_color=yes"));
  EXPECT_TRUE(colored({}, "--gtest_color=TRUE"));
  EXPECT_TRUE(colored({{"GTEST_COLOR", "Yes"}}, "--gtest_print_time=0"));
  EXPECT_TRUE(colored({{"CLICOLOR_FORCE", "1"}}, "--gtest_color=no"));
  EXPECT_FALSE(colored({{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}}, "--gtest_color=yes"));
  EXPECT_TRUE(colored({{"TRACE_COLOR", "always"}, {"NO_COLOR", "1"}}, "--gtest_color=no"));
  EXPECT_FALSE(colored({{"TRACE_COLOR", "never"}, {"CLICOLOR_FORCE", "1"}}, "--gtest_color=yes"));
}
TEST(TraceColor, IsOnByDefaultOnATerminal) {
  auto const colored = [](testlog::testdata::Variables const& variables) {
    std::string const text = run_on_terminal("Plain.Passes", variables);
    EXPECT_EQ(count(text, "spoken"), 3) << text;
    return text.find("\x1b[") != text.npos;
  };
  EXPECT_TRUE(colored({}));
  EXPECT_FALSE(colored({{"NO_COLOR", "1"}}));
  EXPECT_FALSE(colored({{"TRACE_COLOR", "never"}}));
  EXPECT_FALSE(colored({{"GTEST_COLOR", "no"}}));
}

// ---- equal lines ----

constexpr char kRefused[] = " WARN enqueue: process_scenarios: refused: the queue is full\n";
std::string repeated(std::string const& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}
// Returns the note without the path of the source.
std::string stable_note(std::string const& text) {
  return std::regex_replace(text, std::regex("of [^ ]*process_scenarios.cc:[0-9]+"), "of <place>");
}

TEST(EqualLines, AreCountedAfterTheFirstFive) {
  std::string const text = stable_note(run_scenarios("Floods.AreFollowed*").err);
  EXPECT_EQ(text, repeated(kRefused, 5) +
                      "... 995 more equal lines of <place> left out; TRACE_EQUAL_LINES=0 prints all\n" +
                      " INFO enqueue: process_scenarios: accepted\n" + repeated(kRefused, 5) +
                      "... 1 more equal line of <place> left out; TRACE_EQUAL_LINES=0 prints all\n");
}
TEST(EqualLines, AreComparedWithoutTheirTime) {
  for (char const* const time : {"utc", "local", "uptime", "none"}) {
    for (char const* const format : {"full", "compact", "pretty"}) {
      std::string const text =
          run_scenarios("Floods.AreFollowed*", {{"TRACE_TIME", time}, {"TRACE_FORMAT", format}}).err;
      EXPECT_EQ(count(text, "the queue is full"), 10) << text;
    }
  }
  EXPECT_EQ(count(run_scenarios("Floods.AreFollowed*", {{"TRACE_TIME", "utc"}, {"TRACE_COLOR", "always"}}).err,
                  "the queue is full"),
            10);
}
TEST(EqualLines, AreAllThereIfTheyAreWanted) {
  for (Variables const& variables : std::vector<Variables>{{{"TRACE_EQUAL_LINES", "0"}}, {{"TRACE_FORMAT", "json"}}}) {
    std::string const text = run_scenarios("Floods.AreFollowed*", variables).err;
    EXPECT_EQ(count(text, "the queue is full"), 1006);
    EXPECT_EQ(count(text, "left out"), 0);
  }
  std::string const file = fresh_path("flood.txt");
  run_scenarios("Floods.AreFollowed*", {{"TRACE_OUTPUT", file}});
  EXPECT_EQ(count(content_of(file), "the queue is full"), 1006);
  EXPECT_EQ(count(run_scenarios("Floods.AreFollowed*", {{"TRACE_EQUAL_LINES", "2"}}).err, "the queue is full"), 4);
}
TEST(EqualLines, AreThoseOfOneTest) {
  std::string const text = run_scenarios("Floods.AreFollowed*:Floods.OfAnotherTest").err;
  EXPECT_EQ(count(text, "the queue is full"), 15) << text;
}
TEST(EqualLines, DifferInNothing) { EXPECT_EQ(count(run_scenarios("Floods.DifferInAValue").err, "refused"), 10); }
TEST(EqualLines, AreCountedForEachThread) {
  std::string const text = stable_note(run_scenarios("Floods.OfTwoThreads").err);
  EXPECT_EQ(count(text, "refused on a thread"), 5) << text;
  EXPECT_THAT(text, HasSubstr("[poller] ... 5 more equal lines of <place> left out; TRACE_EQUAL_LINES=0 prints all\n"));
}
TEST(EqualLines, AreCountedIfTheProcessDies) {
  std::string const text = stable_note(run_dying("Floods.EndInACrash").err);
  EXPECT_THAT(text,
              testing::ContainsRegex("... 15 more equal lines of <place> left out; TRACE_EQUAL_LINES=0 prints all\n"
                                     "---- SIGSEGV in Floods.EndInACrash"));
}
TEST(EqualLines, AreCountedIfASignalEndsTheProcess) {
  std::string const text = stable_note(run_dying("Floods.EndBySigterm").err);
  EXPECT_THAT(text,
              testing::ContainsRegex("... 15 more equal lines of <place> left out; TRACE_EQUAL_LINES=0 prints all\n"
                                     "---- SIGTERM: Floods.EndBySigterm"));
}
TEST(EqualLines, AreCountedBeforeAFailureIsReported) {
  EXPECT_THAT(stable_note(run_scenarios("Floods.EndInAFailure").err),
              testing::StartsWith(repeated(kRefused, 5) +
                                  "... 15 more equal lines of <place> left out; TRACE_EQUAL_LINES=0 prints all\n"
                                  "    in enqueue\n"
                                  "---- Floods.EndInAFailure: captured records ----\n"));
}
TEST(EqualLines, AreAllThereInAForkedChild) {
  std::string const text = run_scenarios("Floods.AreForked").err;
  EXPECT_EQ(count(text, "refused in the child"), 10) << text;
  EXPECT_EQ(count(text, "15 more equal lines"), 1) << text;
}

// ---- fields that the line above has ----

TEST(RepeatedFields, AreLeftOutOfLinesThatFollow) {
  tracing::testing::expect_approved(
      "repeated_fields.txt", run_scenarios("RepeatedFields.OfALaunchThatFails", {{"TRACE_FILTER", "trace"}}).err);
}
TEST(RepeatedFields, AreAllThereIfTheyAreWanted) {
  std::string const file = fresh_path("repeated.txt");
  for (Variables const& variables : std::vector<Variables>{{{"TRACE_SPAN_FIELDS", "all"}},
                                                           {{"TRACE_FORMAT", "compact"}},
                                                           {{"TRACE_FORMAT", "json"}},
                                                           {{"TRACE_OUTPUT", file}},
                                                           {{"TRACE_SHOW", "all"}, {"TRACE_REPORT", "lines"}}}) {
    Variables all = variables;
    all.emplace_back("TRACE_FILTER", "debug,[compile]=trace");
    std::string text = run_scenarios("RepeatedFields.OfALaunchThatFails", all).err;
    text += content_of(file);
    EXPECT_GE(count(text, "matmul<float, 128, 128, 8>"), 6) << variables.front().first << "\n" << text;
    EXPECT_EQ(count(text, "{...}"), 0) << text;
    std::remove(file.c_str());
  }
}
TEST(RepeatedFields, StayInPerfSpans) {
  EXPECT_THAT(run_scenarios("RepeatedFields.OfPerfSpans", {{"TRACE_PERF", "on"}}).err,
              HasSubstr("load{...}:perf{name=\"read\" offset=1 bytes=4096}: process_scenarios: reads i=1\n"));
}
TEST(RepeatedFields, MakeNoLinesDiffer) {
  std::string const text = run_scenarios("RepeatedFields.OfEqualLines").err;
  EXPECT_EQ(count(text, "waits"), 5) << text;
  EXPECT_EQ(count(text, "15 more equal lines"), 2) << text;
  EXPECT_EQ(count(text, "load{...}: process_scenarios: waits"), 4) << text;
}

}  // namespace
