// The lines with which a test program ends if several tests failed: the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;

std::string summary_of(std::string const& filter, Variables const& variables = {},
                       std::vector<std::string> const& more = {}) {
  std::string const text = testlog::testdata::without_tree(run_scenarios(filter, variables, more).err);
  std::size_t const begin = text.find("testlog: ");
  return begin == text.npos ? "" : text.substr(begin);
}

TEST(FailedTests, AreSummedUpByCause) {
  tracing::testing::expect_approved("failed_tests.txt", summary_of("Plain.*:SpansOnly.Fails"));
}

TEST(FailedTests, AreNotRepeatedIfTheReportIsJustAbove) {
  EXPECT_EQ(summary_of("Plain.Fails:Plain.Passes"), "");
  EXPECT_EQ(summary_of("Plain.Fails", {}, {"--gtest_repeat=3"}), "") << "it is one test";
  EXPECT_EQ(summary_of("Plain.Passes:Plain.Skips"), "");
}

TEST(FailedTests, CountAsOftenAsTheyAreRepeated) {
  EXPECT_THAT(summary_of("Plain.Fails:Plain.Throws", {}, {"--gtest_repeat=2"}),
              HasSubstr("testlog: 2 of 2 tests failed; 2 causes:\n"));
}

TEST(FailedTests, AreNotSummedUpIfNothingIsPrinted) {
  EXPECT_EQ(summary_of("Plain.Fails:Plain.Throws", {{"TRACE_SHOW", "none"}}), "");
}

TEST(FailedTests, AreInARecordingThatExists) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "a run.rec";
  EXPECT_THAT(summary_of("Plain.Fails:Plain.Throws", {{"TRACE_RECORD", file}}),
              HasSubstr("\ntestlog: read on: testlog show --failed '" + file + "'\n"));
}

TEST(FailedTests, HaveCausesWithoutCapture) {
  EXPECT_THAT(summary_of("Plain.Fails:Plain.Throws", {{"TRACE_CAPTURE", "off"}}),
              HasSubstr("  1 test: outer: failed at scenarios.cc:49 (Plain.Fails)\n"));
}

TEST(FailedTests, AreSummedUpAsJsonInAFileOfJson) {
  tracing_test::TemporaryFolder const folder;
  run_scenarios("Plain.Fails:Plain.Throws", {{"TRACE_FORMAT", "json"}, {"TRACE_OUTPUT", folder / "out.json"}});
  std::string const text = testlog::testdata::content_of(folder / "out.json");
  EXPECT_THAT(text, HasSubstr("{\"kind\":\"summary\",\"text\":\"testlog: 2 of 2 tests failed; 2 causes:"));
  EXPECT_THAT(text, Not(HasSubstr("\ntestlog: ")));
}

TEST(FailedTests, AreMeasuredForCdash) {
  tracing_test::TemporaryFolder const folder;
  std::string const file = folder / "<R&D>.rec";
  std::string const text = run_scenarios("Plain.Fails", {{"TRACE_CI", "cdash"}, {"TRACE_RECORD", file}}).out;
  EXPECT_THAT(text,
              HasSubstr("<CTestMeasurement type=\"numeric/double\" name=\"failed tests\">1</CTestMeasurement>\n"
                        "<CTestMeasurement type=\"text/string\" name=\"spans\">outer{id=7}:inner</CTestMeasurement>\n"
                        "<CTestMeasurementFile type=\"file\" name=\"recording\">" +
                        (folder / "&lt;R&amp;D&gt;.rec") + "</CTestMeasurementFile>\n"));
  EXPECT_THAT(run_scenarios("Plain.Passes", {{"TRACE_CI", "cdash"}}).out, Not(HasSubstr("Measurement")));
  EXPECT_THAT(run_scenarios("Plain.Fails").out, Not(HasSubstr("Measurement")));
}

TEST(FailedTests, LeaveTheirRecordingWhereBazelKeepsIt) {
  tracing_test::TemporaryFolder const folder;
  Variables const bazel{{"TEST_UNDECLARED_OUTPUTS_DIR", folder / ""}};
  run_scenarios("Plain.Fails", bazel);
  EXPECT_TRUE(std::filesystem::exists(folder / "testlog_scenarios.Plain.Fails.rec"));
  run_scenarios("Plain.Passes", bazel);
  EXPECT_FALSE(std::filesystem::exists(folder / "testlog_scenarios.Plain.Passes.rec"));
  EXPECT_FALSE(std::filesystem::exists(folder / "passed"));
}

}  // namespace
