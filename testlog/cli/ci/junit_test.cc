// JUnit files, read by another XML parser: Python's expat.
#include "testlog/cli/ci/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testlog/cli/ci/ci_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace testlog::cli { namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

CiSettings const kGitlab{.service = CiService::gitlab, .root = "/repository"};

// Prints the tree as JSON: [tag, attributes, text, children], and the number of elements, attributes and texts.
constexpr char kParser[] = R"(
import json, sys, xml.etree.ElementTree as xml
objects = 0
def tree(element):
    global objects
    objects += 1 + len(element.attrib) + (1 if (element.text or '').strip() else 0)
    return [element.tag, element.attrib, element.text or '', [tree(child) for child in element]]
root = tree(xml.parse(sys.argv[1]).getroot())
json.dump({'objects': objects, 'root': root}, sys.stdout)
)";

Json parse(std::string const& text) {
  tracing_test::TemporaryFolder const folder;
  std::ofstream(folder / "a.xml", std::ios::binary) << text;
  auto const outcome = testlog::testdata::run({"/usr/bin/env", "python3", "-c", kParser, folder / "a.xml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json();
}

std::vector<Json> cases_in(Json const& parsed) {
  std::vector<Json> cases;
  for (Json const& suite : parsed["root"][3])
    for (Json const& one : suite[3]) cases.push_back(one);
  return cases;
}

std::vector<std::string> report(summary::TestOutcome const& test) { return {"---- " + test.name, "]]> <&>"}; }

summary::RunSummary run_of_all_results() {
  std::vector<summary::TestOutcome> tests;
  summary::TestOutcome failed = failed_test("Pool.Grows", "Value of: a < b\n  Actual: false");
  summary::set_span_path(failed, "request{id=\"<7>\"}:load");
  tests.push_back(failed);
  for (auto const& [name, result, how] : {std::tuple("Pool.Crashes", summary::Result::crashed, "SIGSEGV"),
                                          std::tuple("Pool.Hangs", summary::Result::hung, "did not end"),
                                          std::tuple("Pool.TimesOut", summary::Result::hung, "SIGTERM"),
                                          std::tuple("Pool.Exits", summary::Result::unfinished, "did not end")}) {
    summary::TestOutcome test = failed_test(name, "");
    test.result = result;
    test.how = how;
    tests.push_back(test);
  }
  tests.push_back(flaky_test("Pool.Drains"));
  summary::TestOutcome skipped{.name = "Scan.Wide", .program = "scan_test", .result = summary::Result::skipped};
  skipped.message = "no GPU";
  tests.push_back(skipped);
  for (int i = 0; i < 2; ++i) tests.push_back({.name = "Scan.Narrow", .program = "scan_test"});
  return run_of(std::move(tests));
}

TEST(Junit, LooksAsApproved) {
  tracing::testing::expect_approved("junit.xml", junit_of(run_of_all_results(), kGitlab, report));
}

TEST(Junit, IsReadByOthers) {
  Json const parsed = parse(junit_of(run_of_all_results(), kGitlab, report));
  EXPECT_EQ(parsed["root"][1]["tests"], "9");
  EXPECT_EQ(parsed["root"][1]["failures"], "4");
  EXPECT_EQ(parsed["root"][1]["errors"], "1");
  EXPECT_EQ(parsed["root"][1]["skipped"], "1");
  std::vector<Json> const cases = cases_in(parsed);
  ASSERT_EQ(cases.size(), 9u);
  EXPECT_EQ(cases[0][1]["classname"], "pool_test.Pool");
  EXPECT_EQ(cases[0][1]["file"], "pool_test.cc");
  EXPECT_EQ(cases[0][3][1][1]["message"], "Value of: a < b Actual: false");
  EXPECT_EQ(cases[0][3][1][2], "---- Pool.Grows\n]]> <&>\n");
  EXPECT_EQ(cases[0][3][0][3][0][1]["value"], "request{id=\"<7>\"}:load");
}

TEST(Junit, KeepsHostileValuesAsText) {
  Json const parsed = parse(junit_of(hostile_run(), kGitlab, hostile_report));
  ASSERT_FALSE(parsed.is_null());
  for (Json const& one : cases_in(parsed)) {
    EXPECT_EQ(one[0], "testcase");
    EXPECT_LE(one[3].size(), 3u);
  }
}

TEST(Junit, KeepsItsLimits) {
  summary::RunSummary run = run_with_failures(50);
  for (int i = 0; i < 50; ++i) run.tests.push_back({.name = "Scan.Test" + std::to_string(i), .program = "scan_test"});
  auto const long_report = [](summary::TestOutcome const&) {
    return std::vector<std::string>(20, std::string(99, '&'));
  };
  JunitLimits const none;
  std::size_t const whole = junit_of(run, kGitlab, long_report).size();
  for (std::size_t bytes = 4096; bytes < whole + 4096; bytes += whole / 50) {
    std::string const text = junit_of(run, kGitlab, long_report, {bytes, none.max_objects});
    EXPECT_LE(text.size(), bytes);
  }
  for (std::size_t const objects : {100u, 101u, 102u, 500u, 1000u, 5000u}) {
    std::string const text = junit_of(run, kGitlab, long_report, {none.max_bytes, objects});
    EXPECT_LE(parse(text)["objects"], objects);
    EXPECT_EQ(text.find("are left out") == text.npos, objects == 5000) << objects;
  }
}

TEST(Junit, HasRoomForTenThousandFailuresAndMore) {
  auto const long_report = [](summary::TestOutcome const&) {
    return std::vector<std::string>(40, std::string(99, 'r'));
  };
  summary::RunSummary run = run_with_failures(10'000);
  for (int i = 0; i < 40'000; ++i)
    run.tests.push_back({.name = "Scan.Test" + std::to_string(i), .program = "scan_test"});
  std::string const text = junit_of(run, kGitlab, long_report);
  EXPECT_LT(text.size(), 30'000'000u);
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"testlog\" tests=\"50000\" failures=\"10000\""));
  EXPECT_LE(parse(text)["objects"], 250'000);
}

TEST(Junit, IsWrittenIntoAFolder) {
  tracing_test::TemporaryFolder const folder;
  write_junit(run_of_all_results(), kGitlab, report, folder / "reports/");
  EXPECT_TRUE(std::filesystem::exists(folder / "reports/TEST-testlog-repository-build.xml"));
  write_junit(run_of_all_results(), kGitlab, report, folder / "one.xml");
  EXPECT_TRUE(std::filesystem::exists(folder / "one.xml"));
  EXPECT_THROW(write_junit(run_of_all_results(), kGitlab, report, "/no such folder/one.xml"), std::runtime_error);
}

}}  // namespace testlog::cli
