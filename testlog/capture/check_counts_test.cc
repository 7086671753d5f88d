// testlog_check_counts(): a test that fails if what other tests do changes: the real cmake and ctest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::content_of;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

class CheckCounts : public testing::Test {
 protected:
  // Configures a project with the scenarios and these commands.
  Outcome configure(std::string const& commands, std::string const& program = TESTLOG_COMMAND) {
    std::filesystem::create_directories(folder_ / "source");
    std::ofstream(folder_ / "source/CMakeLists.txt")
        << "cmake_minimum_required(VERSION 3.22)\nproject(scenarios NONE)\nenable_testing()\n"
        << "include(" << TESTLOG_SOURCE_DIR << "/cmake/TestlogCheckCounts.cmake)\n"
        << "set(testlog_COMMAND \"" << program << "\")\n"
        << "add_executable(scenarios IMPORTED)\n"
        << "set_target_properties(scenarios PROPERTIES IMPORTED_LOCATION " << TESTLOG_SCENARIOS << ")\n"
        << commands << "\n";
    return testlog::testdata::run({TESTLOG_CMAKE, "-G", "Ninja", "-S", folder_ / "source", "-B", folder_ / "build"});
  }
  Outcome ctest(std::string const& steps) const {
    return testlog::testdata::run({TESTLOG_CTEST, "--test-dir", folder_ / "build", "-V"},
                                  {{"SCENARIO_COUNTER", folder_ / "counter"}, {"SCENARIO_STEPS", steps}});
  }
  // Runs the command that ctest printed behind `before`.
  Outcome obey(std::string const& output, std::string const& before) const {
    std::smatch found;
    if (!std::regex_search(output, found, std::regex(before + ": (.*)\n"))) return {};
    return testlog::testdata::run({"/bin/sh", "-c", found[1]});
  }
  std::string baseline() const { return folder_ / "source/main.counts"; }

  tracing_test::TemporaryFolder const folder_;
  std::string const check_ = "testlog_check_counts(scenarios BASELINE main.counts TEST_FILTER Counted.*)";
};

TEST_F(CheckCounts, FailsUntilAChangeIsAccepted) {
  ASSERT_EQ(configure(check_).exit_code, 0);
  Outcome const first = ctest("1");
  EXPECT_EQ(first.exit_code, 8);
  EXPECT_THAT(first.out, AllOf(HasSubstr("scenarios.counts"), HasSubstr("There is no file " + baseline())));
  EXPECT_EQ(obey(first.out, "of what the tests do now").exit_code, 0);
  EXPECT_THAT(content_of(baseline()),
              AllOf(HasSubstr("\treduce \"copied\"\tbytes\t1048576\n"), HasSubstr("\treduce \"spun\"\tcount\t~\n")));
  EXPECT_EQ(ctest("1").exit_code, 0);
  Outcome const changed = ctest("3");
  EXPECT_EQ(changed.exit_code, 8);
  EXPECT_THAT(changed.out,
              HasSubstr("Counted.Steps: reduce \"copied\" bytes 1.0 MiB to 3.0 MiB, reduce \"copied\" 1 to 3\n"));
  EXPECT_EQ(obey(changed.out, "to accept the change").exit_code, 0);
  EXPECT_EQ(ctest("3").exit_code, 0);
  EXPECT_THAT(content_of(baseline()), HasSubstr("\treduce \"spun\"\tcount\t~\n"));
}

TEST_F(CheckCounts, TakesWhatTheCommandTakes) {
  ASSERT_EQ(configure("testlog_check_counts(scenarios NAME Counts BASELINE " + (folder_ / "rows.counts") +
                      " SUM rows size EXTRA_ARGS --gtest_filter=Counted.* \"--gtest_repeat=2\")")
                .exit_code,
            0);
  Outcome const first = ctest("1");
  EXPECT_THAT(first.out, HasSubstr("Counts"));
  EXPECT_EQ(obey(first.out, "of what the tests do now").exit_code, 0);
  EXPECT_THAT(content_of(folder_ / "rows.counts"), AllOf(HasSubstr("\trows\t10\n"), Not(HasSubstr("\tbytes\t"))));
  Outcome const changed = ctest("2");
  EXPECT_THAT(changed.out, HasSubstr(" counts -o " + (folder_ / "rows.counts") + " --sum rows,size "));
  EXPECT_EQ(obey(changed.out, "to accept the change").exit_code, 0);
  EXPECT_EQ(ctest("2").exit_code, 0);
}

TEST_F(CheckCounts, FailsIfATestFails) {
  ASSERT_EQ(configure(check_).exit_code, 0);
  Outcome const outcome = ctest("10");
  EXPECT_EQ(outcome.exit_code, 8);
  EXPECT_THAT(outcome.out, HasSubstr("A test failed, so nothing was compared:"));
}

TEST_F(CheckCounts, ExplainsMistakes) {
  auto const error_of = [](Outcome const& outcome) {
    EXPECT_NE(outcome.exit_code, 0);
    return std::regex_replace(outcome.err, std::regex("\\s+"), " ");
  };
  EXPECT_THAT(error_of(configure("testlog_check_counts(scenarios)")),
              HasSubstr("(scenarios ...): expected BASELINE <file>"));
  EXPECT_THAT(error_of(configure("testlog_check_counts(scenarios BASELINE)")), HasSubstr("expected BASELINE <file>"));
  EXPECT_THAT(error_of(configure("testlog_check_counts(tests BASELINE x)")), HasSubstr("there is no target tests"));
  EXPECT_THAT(error_of(configure(check_, "/missing")), HasSubstr("needs the program `testlog`, which was not built."));
  std::ofstream(baseline()) << "hello\n";
  ASSERT_EQ(configure(check_).exit_code, 0);
  EXPECT_THAT(ctest("1").out, HasSubstr("main.counts: is no file of testlog counts"));
}

}  // namespace
