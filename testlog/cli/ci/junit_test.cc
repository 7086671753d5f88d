// JUnit files, read by another parser, which testdata/read_junit.py calls.
#include "testlog/cli/ci/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli { namespace {

using summary::Result;
using summary::TestOutcome;
using testing::HasSubstr;
using Json = nlohmann::json;
using Tests = std::vector<TestOutcome>;

CiSettings const kGitlab{.service = CiService::gitlab, .root = "/repository"};

std::string junit(Tests const& tests, ReportLines const& report, JunitLimits const& limits = {},
                  CiSettings const& settings = {}) {
  return junit_of(tests, settings, report, limits);
}

Json read(std::string const& text) {
  tracing_test::TemporaryFolder const folder;
  std::ofstream(folder / "junit.xml", std::ios::binary) << text;
  auto const outcome = testlog::testdata::run({"/usr/bin/env", "python3", TESTLOG_JUNIT_READER, folder / "junit.xml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json();
}

std::vector<Json> cases_in(Json const& parsed) {
  std::vector<Json> cases;
  for (Json const& suite : parsed["suites"]) cases.insert(cases.end(), suite["cases"].begin(), suite["cases"].end());
  return cases;
}

std::size_t count(std::string const& text, std::string const& part) {
  return static_cast<std::size_t>(testlog::testdata::count(text, part));
}

TestOutcome failed_test(std::string const& name, Result result = Result::failed, std::string const& how = "failed") {
  TestOutcome test{.name = name, .program = "pool_test", .result = result, .duration_ns = 1'500'000'000};
  test.recording = "/repository/build/pool_test." + name + ".rec";
  test.file = "/repository/src/pool_test.cc";
  test.line = 7;
  test.how = how;
  if (result == Result::failed) test.message = "Expected equality of these values:\n  a < b\n    Which is: \"1\"";
  return test;
}

TestOutcome passed_test(std::string const& name) { return {.name = name, .program = "scan_test"}; }

TestOutcome flaky_test(std::string const& name) {
  TestOutcome test = failed_test(name);
  test.result = Result::passed;
  test.is_flaky = true;
  test.attempts = {{.number = 1, .result = Result::failed, .recording = "first.rec", .message = "Value of: false"},
                   {.number = 2, .result = Result::unfinished, .recording = "second.rec"},
                   {.number = 3}};
  return test;
}

Tests all_results() {
  Tests tests{failed_test("Pool.Grows"),
              failed_test("Pool.Crashes", Result::crashed, "SIGSEGV"),
              failed_test("Pool.Hangs", Result::hung, "hung"),
              failed_test("Pool.TimesOut", Result::hung, "SIGTERM"),
              failed_test("Pool.Exits", Result::unfinished, "did not end"),
              flaky_test("Pool.Drains")};
  tests.front().span_path = "request{id=\"<7>\"}:load";
  TestOutcome repeated = failed_test("Pool.Shrinks");
  repeated.attempts = {{.number = 1, .result = Result::crashed, .recording = "first.rec", .message = "SIGABRT"},
                       {.number = 2, .result = Result::failed, .recording = repeated.recording}};
  tests.push_back(repeated);
  TestOutcome outside = failed_test("");
  tests.push_back(outside);
  TestOutcome skipped = passed_test("Scan.Wide");
  skipped.result = Result::skipped;
  skipped.message = "no GPU\nin this machine";
  tests.insert(tests.end(),
               {skipped, passed_test("Sizes/Scan.Narrow/0"), passed_test("Scan.Twice"), passed_test("Scan.Twice")});
  return tests;
}

void add_report(TestOutcome const& test, std::function<void(std::string_view)> const& add) {
  add("---- report of " + test.name + " in " + test.recording.substr(test.recording.rfind('/') + 1));
  add("FAIL ]]> <&>");
}

void add_no_report(TestOutcome const&, std::function<void(std::string_view)> const&) {}

ReportLines lines_of(int lines, std::string const& line) {
  return [lines, line](TestOutcome const& test, std::function<void(std::string_view)> const& add) {
    add("first line of " + test.name);
    for (int i = 0; i < lines; ++i) add(line);
    add("last line of " + test.name);
  };
}

TEST(Junit, LooksAsApproved) {
  tracing::testing::expect_approved("junit.xml", junit(all_results(), add_report, {}, kGitlab));
}

TEST(Junit, HasACaseForEachTest) {
  Json const parsed = read(junit(all_results(), add_report));
  EXPECT_EQ(parsed["tests"], "12");
  EXPECT_EQ(parsed["failures"], "6");
  EXPECT_EQ(parsed["errors"], "1");
  EXPECT_EQ(parsed["skipped"], "1");
  std::vector<Json> const cases = cases_in(parsed);
  ASSERT_EQ(cases.size(), 12u);
  EXPECT_EQ(cases[0]["classname"], "pool_test.Pool");
  EXPECT_EQ(cases[0]["name"], "Grows");
  EXPECT_EQ(cases[0]["file"], "/repository/src/pool_test.cc");
  EXPECT_EQ(cases[0]["line"], "7");
  EXPECT_EQ(cases[0]["time"], "1.500");
  EXPECT_EQ(cases[0]["message"], "Expected equality of these values: a < b Which is: \"1\"");
  EXPECT_EQ(cases[0]["text"], "---- report of Pool.Grows in pool_test.Pool.Grows.rec\nFAIL ]]> <&>\n");
  EXPECT_EQ(cases[0]["properties"]["trace_span_path"], "request{id=\"<7>\"}:load");
  EXPECT_EQ(cases[0]["properties"]["trace_recording"], "/repository/build/pool_test.Pool.Grows.rec");
  EXPECT_EQ(cases[7]["classname"], "pool_test");
  EXPECT_EQ(cases[7]["name"], "outside any test");
  EXPECT_EQ(cases[8]["result"], "skipped");
  EXPECT_EQ(cases[8]["message"], "no GPU in this machine");
  EXPECT_EQ(cases[9]["classname"], "scan_test.Sizes/Scan");
  EXPECT_EQ(cases[9]["name"], "Narrow/0");
  EXPECT_EQ(cases[11]["name"], "Twice (2)");
}

TEST(Junit, TellsKindsOfFailuresApart) {
  std::vector<Json> const cases = cases_in(read(junit(all_results(), add_report)));
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < 5; ++i)
    kinds.push_back(std::string(cases[i]["result"]) + " " + std::string(cases[i]["type"]) + " " +
                    std::string(cases[i]["message"]).substr(0, 11));
  EXPECT_THAT(kinds, testing::ElementsAre("failure assertion Expected eq", "failure crash SIGSEGV", "failure hang hung",
                                          "failure timeout SIGTERM", "error unfinished did not end"));
}

TEST(Junit, HasAttemptsAsSurefireDoes) {
  std::vector<Json> const cases = cases_in(read(junit(all_results(), add_report)));
  EXPECT_EQ(cases[5]["result"], "passed");
  ASSERT_EQ(cases[5]["attempts"].size(), 2u);
  EXPECT_EQ(cases[5]["attempts"][0]["tag"], "flakyFailure");
  EXPECT_EQ(cases[5]["attempts"][0]["message"], "Value of: false");
  EXPECT_EQ(cases[5]["attempts"][0]["text"], "---- report of Pool.Drains in first.rec\nFAIL ]]> <&>\n");
  EXPECT_EQ(cases[5]["attempts"][1]["tag"], "flakyError");
  EXPECT_EQ(cases[5]["attempts"][1]["message"], "did not end");
  EXPECT_EQ(cases[6]["result"], "failure");
  ASSERT_EQ(cases[6]["attempts"].size(), 1u);
  EXPECT_EQ(cases[6]["attempts"][0]["tag"], "rerunFailure");
  EXPECT_EQ(cases[6]["attempts"][0]["type"], "crash");
}

TEST(Junit, NamesFilesByTheirPathInTheRepository) {
  auto const file_of = [](std::string const& root) {
    return std::string(cases_in(read(junit({failed_test("Pool.Grows")}, add_report, {}, {.root = root})))[0]["file"]);
  };
  EXPECT_EQ(file_of("/repository"), "src/pool_test.cc");
  EXPECT_EQ(file_of("/repo"), "/repository/src/pool_test.cc");
  EXPECT_EQ(file_of("/other"), "/repository/src/pool_test.cc");
  EXPECT_EQ(file_of(""), "/repository/src/pool_test.cc");
}

TEST(Junit, LinksRecordingsForGitlab) {
  auto const output_of = [](CiSettings const& settings) {
    return std::string(cases_in(read(junit({failed_test("Pool.Grows")}, add_report, {}, settings)))[0]["output"]);
  };
  EXPECT_EQ(output_of(kGitlab), "[[ATTACHMENT|build/pool_test.Pool.Grows.rec]]");
  EXPECT_EQ(output_of({.service = CiService::gitlab, .root = "/other"}), "");
  EXPECT_EQ(output_of({.root = "/repository"}), "");
}

TEST(Junit, HasTheAssertionWithoutAReport) {
  Json const one = cases_in(read(junit({failed_test("Pool.Grows")}, add_no_report)))[0];
  EXPECT_EQ(one["text"], "Expected equality of these values:\n  a < b\n    Which is: \"1\"\n");
}

TEST(Junit, MayBeEmpty) {
  Json const parsed = read(junit({}, add_report));
  EXPECT_EQ(parsed["tests"], "0");
  EXPECT_TRUE(parsed["suites"].empty());
}

// Returns a test whose texts are all `text`, which failed twice.
TestOutcome hostile_test(std::string const& text) {
  TestOutcome test = failed_test(text);
  test.program = test.file = test.message = test.how = test.span_path = test.recording = text;
  test.attempts = {{.number = 1, .result = Result::failed, .recording = text, .message = text},
                   {.number = 2, .result = Result::failed}};
  return test;
}

TEST(Junit, KeepsHostileValuesAsText) {
  for (std::string const& text :
       {std::string("]]>"), std::string("</failure></testcase><testcase name=\"x\"/>"), std::string("<!-- <![CDATA["),
        std::string("&amp; &#0; &x;"), std::string("\" a='b"), std::string("\x1b[31mred\x1b[0m \x1b]0;title\x07"),
        std::string("\xff\xfe \xc3 \xed\xa0\x80"), std::string("\u2028 \u2029 \ufffe \u202e"),
        std::string("zero\0byte", 9), std::string("[[ATTACHMENT|/etc/passwd]]"), std::string(1 << 20, 'x'),
        std::string(1 << 20, '\x01')}) {
    auto const add_text = [&text](TestOutcome const&, auto const& add) { add(text); };
    std::string const junit_text = junit({hostile_test(text), hostile_test(text)}, add_text);
    Json const parsed = read(junit_text);
    ASSERT_FALSE(parsed.is_null()) << text.substr(0, 100);
    EXPECT_LT(junit_text.size(), 500'000u);
    std::vector<Json> const cases = cases_in(parsed);
    ASSERT_EQ(cases.size(), 2u);
    for (Json const& one : cases) {
      EXPECT_EQ(one["result"], "failure");
      EXPECT_EQ(one["attempts"].size(), 1u);
      EXPECT_EQ(one["output"], "");
    }
    bool const is_plain = text.size() < 1000 && text.find('\x1b') == text.npos;
    if (!is_plain) continue;
    std::string const safe = tracing::sanitized_in_line(text);
    EXPECT_EQ(cases[0]["text"], safe + "\n");
    EXPECT_EQ(cases[0]["message"], safe);
    EXPECT_EQ(cases[0]["properties"]["trace_span_path"], safe);
    EXPECT_EQ(cases[0]["file"], safe);
  }
}

TEST(Junit, IsWholeUpToItsLimitOfBytes) {
  Tests const tests{failed_test("Pool.Grows"), failed_test("Pool.Shrinks"), passed_test("Scan.Wide")};
  for (auto const& report : {lines_of(50, "<record>"), lines_of(500, "<record>")}) {
    std::string const whole = junit(tests, report);
    std::size_t const bytes = whole.size();
    EXPECT_EQ(junit(tests, report, {.max_bytes = bytes + 1}), whole);
    EXPECT_EQ(junit(tests, report, {.max_bytes = bytes}), whole);
    std::string const less = junit(tests, report, {.max_bytes = bytes - 1});
    EXPECT_LT(less.size(), bytes);
    EXPECT_GT(less.size(), bytes / 2);
    EXPECT_EQ(count(less, " left out here ..."), 1u) << "of one report, the middle";
    EXPECT_EQ(count(less, "last line of Pool."), 2u);
    EXPECT_FALSE(read(less).is_null());
  }
}

TEST(Junit, IsWholeUpToItsLimitOfObjects) {
  Tests tests = all_results();
  for (int i = 0; i < 20; ++i) tests.push_back(passed_test("Scan.Test" + std::to_string(i)));
  std::string const whole = junit(tests, add_report);
  std::size_t const objects = read(whole)["objects"];
  EXPECT_EQ(junit(tests, add_report, {.max_objects = objects + 1}), whole);
  EXPECT_EQ(junit(tests, add_report, {.max_objects = objects}), whole);
  Json const less = read(junit(tests, add_report, {.max_objects = objects - 1}));
  EXPECT_LE(less["objects"], objects - 1);
  EXPECT_EQ(less["suites"][0]["note"], "");
  EXPECT_EQ(less["suites"][1]["note"], "2 test cases left out: the file would be too large.");
  EXPECT_EQ(less["suites"][1]["tests"], "24");
  EXPECT_EQ(less["tests"], "32");
}

// Reports lose their middle, then further reports are left out, then tests that passed, then others.
TEST(Junit, LosesWhatIsLeastNeededFirst) {
  Tests tests;
  for (int i = 0; i < 30; ++i) tests.push_back(failed_test("Pool.Test" + std::to_string(i)));
  for (int i = 0; i < 30; ++i) tests.push_back(passed_test("Scan.Test" + std::to_string(i)));
  auto const report = lines_of(200, std::string(60, '&'));
  std::size_t const whole = junit(tests, report).size();
  std::size_t last_passed = 30, last_failed = 30;
  bool has_lost_middle = false, has_lost_reports = false;
  for (std::size_t bytes = whole; bytes > 3000; bytes -= bytes / 4) {
    std::string const text = junit(tests, report, {.max_bytes = bytes});
    EXPECT_LE(text.size(), bytes);
    EXPECT_FALSE(read(text).is_null());
    std::size_t const reports = count(text, "last line of"), cases = count(text, "<testcase ");
    std::size_t const failed = count(text, "<failure "), passed = cases - failed;
    EXPECT_EQ(reports + count(text, "The report is left out: the file would be too large."), failed);
    has_lost_middle |= count(text, "left out here") == 30;
    has_lost_reports |= reports < 30 && passed == 30;
    EXPECT_TRUE(failed == 30 || passed == 0);
    EXPECT_LE(passed, last_passed);
    EXPECT_LE(failed, last_failed);
    EXPECT_EQ(count(text, "test cases left out") + count(text, "test case left out") > 0, cases < 60);
    EXPECT_THAT(text, HasSubstr("<testsuites name=\"testlog\" tests=\"60\" failures=\"30\""));
    last_passed = passed, last_failed = failed;
  }
  EXPECT_TRUE(has_lost_middle);
  EXPECT_TRUE(has_lost_reports);
  EXPECT_LT(last_failed, 30u);
}

TEST(Junit, HasRoomForTenThousandFailures) {
  Tests tests;
  for (int i = 0; i < 10'000; ++i) tests.push_back(failed_test("Pool.Test" + std::to_string(i)));
  for (int i = 0; i < 40'000; ++i) tests.push_back(passed_test("Scan.Test" + std::to_string(i)));
  std::string const text = junit(tests, lines_of(20, std::string(99, '<')));
  EXPECT_LT(text.size(), 29'000'000u);
  EXPECT_GT(text.size(), 25'000'000u);
  EXPECT_EQ(count(text, "<failure "), 10'000u);
  EXPECT_EQ(count(text, "last line of "), 10'000u);
  EXPECT_EQ(count(text, "left out here"), 10'000u);
  Json const parsed = read(text);
  EXPECT_LE(parsed["objects"], 250'000);
  EXPECT_EQ(parsed["tests"], "50000");
  EXPECT_THAT(std::string(parsed["suites"][1]["note"]),
              testing::EndsWith("test cases left out: the file would be too large."));
}

TEST(Junit, IsWrittenIntoAFolder) {
  tracing_test::TemporaryFolder const folder;
  summary::RunSummary run{.folder = "/repository/build", .tests = all_results()};
  write_junit(run, kGitlab, add_report, folder / "reports/");
  EXPECT_TRUE(std::filesystem::exists(folder / "reports/TEST-testlog-repository-build.xml"));
  write_junit(run, kGitlab, add_report, folder / "one.xml");
  EXPECT_TRUE(std::filesystem::exists(folder / "one.xml"));
  EXPECT_THROW(write_junit(run, kGitlab, add_report, "/no such folder/one.xml"), std::runtime_error);
}

}}  // namespace testlog::cli
