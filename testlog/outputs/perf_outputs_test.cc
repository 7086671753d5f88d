// TRACE_PERF, TRACE_PERF_JSON and TRACE_PERF_PROM in test programs.
#include "tracing_core/environment/perf_outputs.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/prometheus_text.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testlog::testdata::content_of;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run_dying;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using testlog::testdata::without_tree;
using tracing::testing::expect_approved;
using tracing_test::PrometheusText;

class PerfOutputs : public testing::Test {
 protected:
  std::string path(std::string const& name) const { return folder_ / name; }

  tracing_test::TemporaryFolder const folder_;
};

std::vector<Json> objects_in(std::string const& text) {
  std::istringstream lines(text);
  std::vector<Json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
  return objects;
}

TEST_F(PerfOutputs, AreEmptyWithoutTracePerf) {
  Outcome const outcome =
      run_scenarios("Perf.CapturesNone:Perf.Fails", {{"TRACE_FILTER", "trace"}, {"TRACE_SHOW", "all"}});
  EXPECT_THAT(outcome.err, AllOf(Not(HasSubstr("perf{")), Not(HasSubstr("how long"))));
  EXPECT_EQ(count(outcome.out, "[  FAILED  ] 1 test"), 1);
}

TEST_F(PerfOutputs, PrintsAsApproved) {
  std::string text;
  for (Variables variables : std::vector<Variables>{
           {{"TRACE_PERF", "on"}},
           {{"TRACE_PERF", "on"}, {"TRACE_SHOW", "failed"}, {"TRACE_FILTER", "off"}},
           {{"TRACE_PERF", "on,[cpu_ldg]=debug"}, {"TRACE_FILTER", "off"}},
           {{"TRACE_PERF", "on"}, {"TRACE_PERF_THRESHOLD_US", "60000000"}},
           {{"TRACE_PERF", "summary"}},
           {{"TRACE_PERF", "summary,info"}, {"TRACE_SHOW", "all"}},
           {{"TRACE_PERF", "summary"}, {"TRACE_SHOW", "failed"}},
           {{"TRACE_PERF", "on,summary"}, {"TRACE_SHOW", "none"}},
           {{"TRACE_PERF", "lib=debgu,lib=debug"}, {"TRACE_PERF_THRESHOLD_US", "1ms"}},
       }) {
    for (auto const& [name, value] : variables) text += name + "=" + value + " ";
    variables.emplace_back("SCENARIO_SIMULATED_TIME", "1");
    text += "\n" + without_tree(run_scenarios("Perf.Passes:Perf.PassesOnceMore:Perf.Fails", variables).err) + "\n";
  }
  expect_approved("perf.txt", text);
}

TEST_F(PerfOutputs, ReportsOnceThatNoSpanWasSelected) {
  auto const reported = [](char const* tests, std::string const& value) {
    std::string const err = run_scenarios(tests, {{"TRACE_PERF", value}}).err;
    EXPECT_EQ(count(err, "matched none of the perf spans that ran"), count(err, "testlog: TRACE_PERF")) << err;
    return count(err, "matched none of the perf spans that ran") == 1 ? err : std::string();
  };
  EXPECT_EQ(reported("Perf.Passes", "warn"),
            "testlog: TRACE_PERF=warn: matched none of the perf spans that ran (default level: debug); expected "
            "off, on, summary, or directives\n");
  EXPECT_THAT(reported("Perf.Passes", "2"), HasSubstr("TRACE_PERF=2: matched none"));
  EXPECT_THAT(reported("Perf.Passes:Perf.PassesOnceMore", "summary,nonsense"),
              HasSubstr("TRACE_PERF=nonsense: matched none"));
  for (char const* const value : {"0", "info", "summary,info", "machine", "on", "elsewhere=debug", "[elsewhere]"}) {
    EXPECT_EQ(reported("Perf.Passes", value), "") << value;
  }
  EXPECT_EQ(reported("Plain.Passes", "nonsense"), "");  // no perf span ran
}

// The name is reported whichever tests are selected.
TEST_F(PerfOutputs, NameTheTargetThatWasProbablyMeant) {
  std::string const err = run_scenarios("Perf.Passes", {{"TRACE_PERF", "mashine=debug"}}).err;
  EXPECT_EQ(err,
            "testlog: TRACE_PERF: \"mashine=debug\" matched nothing that ran: no target begins with \"mashine\"; "
            "did you mean \"machine\"?\n");
}

TEST_F(PerfOutputs, SayThatNoPerfSpanRan) {
  std::string const report =
      "testlog: TRACE_PERF=summary: no perf span ran; TRACE_PERF(\"name\"); at the start of a block measures it\n";
  for (char const* const tests : {"Plain.Passes", "Plain.Passes:Plain.Fails"}) {
    EXPECT_EQ(count(run_scenarios(tests, {{"TRACE_PERF", "summary"}}).err, report), 1) << tests;
  }
  for (Variables const& variables :
       std::vector<Variables>{{}, {{"TRACE_PERF", "on"}}, {{"TRACE_PERF", "summary"}, {"TRACE_SHOW", "none"}}}) {
    EXPECT_EQ(count(run_scenarios("Plain.Passes", variables).err, "no perf span ran"), 0);
  }
  EXPECT_EQ(count(run_scenarios("Perf.Passes", {{"TRACE_PERF", "summary"}}).err, "no perf span ran"), 0);
}

TEST_F(PerfOutputs, AreOnInTestsThatTurnThemOn) {
  for (char const* const perf : {"", "off", "on", "summary", "[elsewhere]"}) {
    Outcome const outcome = run_scenarios("PerfOfATest.IsOn:PerfOfASuite.IsOn", {{"TRACE_PERF", perf}});
    EXPECT_EQ(outcome.exit_code, 0) << perf << outcome.out;
    EXPECT_EQ(count(outcome.err, "performance_span_complete"), 3 + 1) << perf << outcome.err;
  }
  for (char const* const perf : {"", "off", "summary,[elsewhere]"}) {
    Outcome const outcome = run_scenarios("PerfOfA*", {{"TRACE_PERF", perf}});
    EXPECT_EQ(outcome.exit_code, 0) << perf << outcome.out;
  }
  std::string const sums = run_scenarios("PerfOfATest.IsOn:Perf.PassesOnceMore", {{"TRACE_PERF", "summary"}}).err;
  EXPECT_THAT(sums, testing::ContainsRegex("\ncpu_ldg +3 ")) << "of all tests";
}

TEST_F(PerfOutputs, ThresholdAppliesToEveryDuration) {
  std::string const recorded =
      run_scenarios("PerfRecorders.Record",
                    {{"TRACE_PERF", "on"}, {"TRACE_PERF_THRESHOLD_US", "500"}, {"TRACE_PERF_JSON", path("perf.jsonl")}})
          .err;
  for (std::string const& text : {recorded, content_of(path("perf.jsonl"))}) {
    EXPECT_THAT(text, AllOf(Not(HasSubstr("short")), HasSubstr("long"), HasSubstr("pool")));
  }
  Variables ends{{"TRACE_FILTER", "library=info"}, {"TRACE_SPAN_EVENTS", "close"}, {"TRACE_TIME", "uptime"}};
  EXPECT_THAT(run_scenarios("Plain.Passes", ends).err, HasSubstr("library: close time.busy="));
  ends.emplace_back("TRACE_PERF_THRESHOLD_US", "60000000");
  EXPECT_THAT(run_scenarios("Plain.Passes", ends).err, Not(HasSubstr("library: close")));
}

TEST_F(PerfOutputs, AppearInSpanPathsOfFailuresAndCrashes) {
  EXPECT_THAT(run_scenarios("Perf.FailsInside", {{"TRACE_PERF", "on"}}).err,
              HasSubstr("    in perf{name=\"cpu_bra\" to=4}\n"));
  EXPECT_THAT(run_dying("Perf.DiesInside", {{"TRACE_PERF", "on"}}).err,
              HasSubstr("died in perf{name=\"cpu_bra\" to=4}\n"));
}

TEST_F(PerfOutputs, SpansOfLevelTraceAreOnlyMeasuredIfADirectiveSaysSo) {
  for (char const* const value : {"on", "on,summary", "debug"}) {
    std::string const err = run_scenarios("PerfOfEachLevel.Passes", {{"TRACE_PERF", value}}).err;
    EXPECT_THAT(err, HasSubstr("perf{name=\"usual\"}")) << value;
    EXPECT_THAT(err, Not(HasSubstr("detail"))) << value;
  }
  EXPECT_THAT(run_scenarios("PerfOfEachLevel.Passes", {{"TRACE_PERF", "trace"}}).err,
              HasSubstr("perf{name=\"detail\"}"));
  EXPECT_THAT(run_scenarios("PerfOfEachLevel.Passes", {{"TRACE_PERF", "on,[detail]=trace"}}).err,
              HasSubstr("perf{name=\"detail\"}"));
  std::string const of_a_test = run_scenarios("PerfOfEachLevel.IsOn", {}).err;
  EXPECT_THAT(of_a_test, HasSubstr("perf{name=\"usual\"}"));
  EXPECT_THAT(of_a_test, Not(HasSubstr("detail")));
}

TEST_F(PerfOutputs, AreCapturedIfTheyAreOn) {
  for (Variables const& variables :
       std::vector<Variables>{{{"TRACE_PERF", "on"}}, {{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}}}) {
    EXPECT_EQ(run_scenarios("Perf.CapturesThem", variables).exit_code, 0);
  }
  EXPECT_EQ(run_scenarios("Perf.CapturesNone", {{"TRACE_PERF", "summary"}}).exit_code, 0);
}

TEST_F(PerfOutputs, JsonHasALinePerSpanAndPerSum) {
  Outcome const outcome = run_scenarios("Perf.*-*Captures*:*Inside:*ManyThreads:*OddNames",
                                        {{"TRACE_PERF", "on"}, {"TRACE_PERF_JSON", path("perf.jsonl")}});
  std::vector<Json> const objects = objects_in(content_of(path("perf.jsonl")));
  // Passes, Fails and Forks have three spans each, PassesOnceMore one; the forked child writes nothing.
  ASSERT_THAT(objects, SizeIs(10 + 2)) << outcome.err;
  EXPECT_EQ(objects[0]["level"], "DEBUG");
  EXPECT_EQ(objects[0]["fields"]["event"], "performance_span_complete");
  EXPECT_EQ(objects[0]["fields"]["name"], "cpu_ldg");
  EXPECT_EQ(objects[0]["fields"]["bytes"], 4);
  EXPECT_EQ(objects[2]["level"], "INFO");
  for (std::size_t const i : {10u, 11u}) {
    EXPECT_EQ(objects[i]["fields"]["event"], "performance_summary");
    EXPECT_EQ(objects[i]["fields"]["count"], objects[i]["fields"]["name"] == "cpu_ldg" ? 7 : 3);
  }
}

TEST_F(PerfOutputs, JsonNamesTestAndThread) {
  run_scenarios("Perf.PassesOnceMore:Perf.ManyThreads:PerfRecorders.Record",
                {{"TRACE_PERF", "on"}, {"TRACE_PERF_JSON", path("perf.jsonl")}});
  std::map<std::string, std::set<std::string>> threads;  // by test
  for (Json const& object : objects_in(content_of(path("perf.jsonl")))) {
    bool const is_sum = object["fields"]["event"] == "performance_summary";
    EXPECT_EQ(object.contains("test"), !is_sum) << object;
    EXPECT_EQ(object.contains("thread"), !is_sum) << object;
    if (!is_sum) threads[object["test"]].insert(object["thread"]);
  }
  EXPECT_THAT(threads["Perf.PassesOnceMore"], ElementsAre("main"));
  EXPECT_THAT(threads["PerfRecorders.Record"], ElementsAre("main"));
  EXPECT_THAT(threads["Perf.ManyThreads"],
              AllOf(SizeIs(testing::Gt(1u)), testing::Each(testing::StartsWith("thread "))));
}

TEST_F(PerfOutputs, FilesTurnSumsOn) {
  run_scenarios("Perf.Passes", {{"TRACE_PERF_JSON", path("perf.jsonl")}, {"TRACE_PERF_PROM", path("perf.prom")}});
  EXPECT_THAT(objects_in(content_of(path("perf.jsonl"))), SizeIs(2));
  EXPECT_THAT(content_of(path("perf.prom")), HasSubstr("tracing_perf_span_seconds_count{name=\"cpu_ldg\"} 2\n"));
}

TEST_F(PerfOutputs, FilesAreValidForAnyName) {
  run_scenarios("Perf.OddNames", {{"TRACE_PERF_JSON", path("perf.jsonl")}, {"TRACE_PERF_PROM", path("perf.prom")}});
  std::string const utf8[] = {"a \"quoted\"} 1\\", "two\nlines\r", "\x01\t\x7f"};
  std::vector<std::string> names;
  for (Json const& object : objects_in(content_of(path("perf.jsonl")))) names.push_back(object["fields"]["name"]);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(utf8));
  PrometheusText const text(content_of(path("perf.prom")));
  EXPECT_EQ(text.problem(), "");
  for (std::string const& name : utf8)
    EXPECT_EQ(text.find("tracing_perf_span_seconds_count", {{"name", name}}), 1) << name;
}

TEST_F(PerfOutputs, PathWithTestGivesAFilePerTest) {
  run_scenarios("Perf.Passes:Perf.PassesOnceMore",
                {{"TRACE_PERF", "on"}, {"TRACE_PERF_JSON", path("%t.jsonl")}, {"TRACE_PERF_PROM", path("%t.prom")}});
  EXPECT_THAT(objects_in(content_of(path("Perf.Passes.jsonl"))), SizeIs(3 + 2));
  EXPECT_THAT(objects_in(content_of(path("Perf.PassesOnceMore.jsonl"))), SizeIs(1 + 1));
  EXPECT_THAT(content_of(path("Perf.Passes.prom")), HasSubstr("_count{name=\"cpu_ldg\"} 2\n"));
  EXPECT_THAT(content_of(path("Perf.PassesOnceMore.prom")),
              AllOf(HasSubstr("_count{name=\"cpu_ldg\"} 1\n"), Not(HasSubstr("cpu_execute_program"))));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 4);
  for (Json const& object : objects_in(content_of(path("Perf.Passes.jsonl")))) EXPECT_EQ(object["test"], "Perf.Passes");
}

TEST_F(PerfOutputs, KeepsAnExistingPrometheusFile) {
  Variables const variables{{"TRACE_PERF_PROM", path("perf.prom")}};
  run_scenarios("Perf.Passes", variables);
  std::string const first = content_of(path("perf.prom"));
  EXPECT_THAT(run_scenarios("Perf.Passes", variables).err, HasSubstr("perf.prom already exists; writing "));
  EXPECT_EQ(content_of(path("perf.prom")), first);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 2);
}

TEST_F(PerfOutputs, ReportsAnInvalidPathOnce) {
  for (std::string const variable : {"TRACE_PERF_JSON", "TRACE_PERF_PROM"}) {
    Outcome const outcome = run_scenarios("Perf.Passes", {{variable, "/no/such/folder/file"}});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(count(outcome.err, variable + "=/no/such/folder/file: could not be "), 1) << outcome.err;
  }
}

TEST_F(PerfOutputs, ReportsAFullDiskOnce) {
  for (std::string const variable : {"TRACE_PERF_JSON", "TRACE_PERF_PROM"}) {
    Outcome const outcome =
        run_scenarios("Perf.Passes:Perf.PassesOnceMore", {{"TRACE_PERF", "on"}, {variable, "/dev/full"}});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(count(outcome.err, "No space left on device"), 1) << outcome.err;
    bool const has_lines = variable == "TRACE_PERF_JSON";
    EXPECT_EQ(count(outcome.err, "testlog: 6 lines are missing in TRACE_PERF_JSON=/dev/full\n"), has_lines ? 1 : 0)
        << outcome.err;
  }
}

TEST_F(PerfOutputs, StartsANewLineAfterAnIncompleteOne) {
  std::ofstream(path("perf.jsonl")) << "{\"timestamp\":\"20";
  run_scenarios("Perf.PassesOnceMore", {{"TRACE_PERF", "on"}, {"TRACE_PERF_JSON", path("perf.jsonl")}});
  std::string const text = content_of(path("perf.jsonl"));
  EXPECT_THAT(objects_in(text.substr(text.find('\n') + 1)), SizeIs(2));
}

TEST_F(PerfOutputs, KeepsLinesOfManyThreadsApart) {
  run_scenarios("Perf.ManyThreads",
                {{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}, {"TRACE_PERF_JSON", path("perf.jsonl")}});
  EXPECT_THAT(objects_in(content_of(path("perf.jsonl"))), SizeIs(64 * 100 + 1));
}

TEST_F(PerfOutputs, WriteNothingInDeathTests) {
  for (std::string const style : {"fast", "threadsafe"}) {
    Outcome const outcome =
        run_scenarios("PerfDeathTest.Dies", {{"TRACE_PERF", "on,summary"}, {"TRACE_PERF_JSON", path(style)}},
                      {"--gtest_death_test_style=" + style});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(objects_in(content_of(path(style))), SizeIs(3 + 2));
  }
}

}  // namespace
