// No way to run a test again loses the recording of an attempt that failed: the real ctest, and what it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "testlog/testdata/ctest.h"
#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testlog::testdata::content_of;
using testlog::testdata::ctest_program;
using testlog::testdata::Outcome;
using testlog::testdata::recordings_of;
using testlog::testdata::write_ctest;

class Attempts : public testing::Test {
 protected:
  // With the second test, ctest does not look like one of many that an IDE starts for a test each.
  Outcome ctest(std::string const& test, std::vector<std::string> const& arguments = {},
                testlog::testdata::Variables variables = {}) const {
    write_ctest(build_, {test, "Plain.Passes"});
    variables.emplace_back("SCENARIO_COUNTER", folder_ / "counter");
    return testlog::testdata::run_ctest(build_, arguments, variables);
  }
  struct NamedTest {
    std::string name, program, counter;  // the file with the counter is in the temporary folder
  };
  // Makes a build folder with tests that all run the same test.
  void write_ctests(std::vector<NamedTest> const& tests, std::string const& filter) const {
    std::filesystem::create_directories(build_);
    std::ofstream file(build_ + "/CTestTestfile.cmake");
    for (NamedTest const& test : tests)
      file << "add_test(" << test.name << " [==[" << test.program << "]==] --gtest_filter=" << filter << ")\n"
           << "set_tests_properties(" << test.name
           << " PROPERTIES ENVIRONMENT SCENARIO_COUNTER=" << folder_ / test.counter << ")\n";
  }
  std::vector<std::string> recordings() const { return recordings_of(build_); }
  // Returns the standard output and error of `testlog ARGUMENTS...` in the build folder.
  std::string ask(std::string const& arguments) const {
    return testlog::testdata::run(
               {"/bin/sh", "-c", "cd \"$0\" && exec \"$1\" " + arguments + " 2>&1", build_, TESTLOG_COMMAND})
        .out;
  }
  std::string path_of(std::string const& name) const { return build_ + "/Testing/Temporary/testlog/" + name; }

  tracing_test::TemporaryFolder const folder_;
  std::string const build_ = folder_ / "build";
};

TEST_F(Attempts, StayIfTheTestPassesInTheEnd) {
  EXPECT_EQ(ctest("Retried.FailsTwice", {"--repeat", "until-pass:3"}).exit_code, 0);
  EXPECT_THAT(recordings(), ElementsAre("testlog_scenarios.Retried.FailsTwice.T.attempt-1.rec",
                                        "testlog_scenarios.Retried.FailsTwice.T.attempt-2.rec"));
  std::string const shown = ask("show --time=none");
  EXPECT_THAT(shown, HasSubstr("attempt{number=1}"));
  EXPECT_THAT(shown, HasSubstr("attempt{number=2}"));
  EXPECT_THAT(shown,
              HasSubstr("testlog show: testlog_scenarios.Retried.FailsTwice is flaky: attempt 2 failed, attempt 3 "
                        "passed\n"));
  EXPECT_EQ(ask("show --failed --brief"),
            "testlog show: testlog_scenarios.Retried.FailsTwice is flaky: attempt 1 failed, attempt 3 passed\n"
            "testlog show: testlog_scenarios.Retried.FailsTwice is flaky: attempt 2 failed, attempt 3 passed\n"
            "testlog show: no selected test has failed\n");
}

TEST_F(Attempts, AreNumberedIfEarlierAttemptsPassed) {
  EXPECT_NE(ctest("Retried.FailsTheThirdTime", {"--repeat", "until-fail:5"}).exit_code, 0);
  EXPECT_THAT(recordings(), ElementsAre("testlog_scenarios.Retried.FailsTheThirdTime.rec"));
  EXPECT_THAT(ask("show --json --filter=off"), HasSubstr("\"attempt\":3"));
  EXPECT_THAT(ask("show"), Not(HasSubstr("is flaky"))) << "it did not pass after it had failed";
}

#ifdef TRACING_HAS_ZLIB
// The two attempts that passed are what the third is compared with.
TEST_F(Attempts, AreExplainedByThoseThatPassed) {
  ctest("Retried.FailsTheThirdTime", {"--repeat", "until-fail:5"});
  EXPECT_THAT(
      ask("why --color=never"),
      testing::MatchesRegex("---- Retried.FailsTheThirdTime: 1 failing run against 2 passing runs ----\n"
                            "1\\. process_scenarios \"loaded\": is_stale is true; false in 2 of 2 passing runs .*\n"));
  EXPECT_THAT(ask("summary"),
              HasSubstr("    why: process_scenarios \"loaded\": is_stale is true; false in 2 of 2 passing runs"));
  EXPECT_THAT(ask("why --run latest --failing x"), HasSubstr("give no --failing beside it"));
  std::filesystem::remove_all(path_of("passed"));
  EXPECT_THAT(ask("why"), HasSubstr("too few passing runs of Retried.FailsTheThirdTime; two are needed"));
  EXPECT_THAT(ask("summary"), AllOf(Not(HasSubstr("why: ")), Not(HasSubstr("testlog why"))));
}

TEST_F(Attempts, StayIfTheyPassedAsOftenAsTheVariableSays) {
  for (auto const& [count, kept] : {std::pair{"", 3}, {"1", 1}, {"0", 0}}) {
    ctest("Plain.Fails", {"-R", "Plain.Passes", "--repeat", "until-fail:4"}, {{"TRACE_RECORD_PASSED", count}});
    int files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(path_of("passed"))) files += entry.is_regular_file();
    EXPECT_EQ(files, kept) << count;
  }
}
#endif

TEST_F(Attempts, StayIfCtestEndsThem) {
  EXPECT_EQ(ctest("Retried.HangsTheFirstTime", {"--repeat", "after-timeout:2", "--timeout", "2"}).exit_code, 0);
  EXPECT_THAT(recordings(), ElementsAre("testlog_scenarios.Retried.HangsTheFirstTime.T.attempt-1.rec"));
  EXPECT_THAT(ask("show"), HasSubstr("is flaky: attempt 1 failed, attempt 2 passed\n"));
}

TEST_F(Attempts, StayIfALaterCtestRunsTheTestAgain) {
  EXPECT_NE(ctest("Retried.FailsTwice").exit_code, 0);
  std::string const first = content_of(path_of("testlog_scenarios.Retried.FailsTwice.rec"));
  EXPECT_NE(ctest("Retried.FailsTwice", {"--rerun-failed"}).exit_code, 0);
  EXPECT_THAT(recordings(), ElementsAre("testlog_scenarios.Retried.FailsTwice.T.attempt-1.rec",
                                        "testlog_scenarios.Retried.FailsTwice.rec"));
  for (auto const& entry : std::filesystem::directory_iterator(path_of(""))) {
    if (entry.path().native().find(".attempt-1.rec") != std::string::npos) {
      EXPECT_EQ(content_of(entry.path()), first) << "it has other bytes than without a second attempt";
    }
  }
  EXPECT_EQ(ctest("Retried.FailsTwice", {}, {{"TRACE_RECORD_KEEP", "all"}}).exit_code, 0);
  EXPECT_THAT(
      recordings(),
      ElementsAre("testlog_scenarios.Plain.Passes.rec", "testlog_scenarios.Retried.FailsTwice.T.attempt-1.rec",
                  "testlog_scenarios.Retried.FailsTwice.T.attempt-1.rec", "testlog_scenarios.Retried.FailsTwice.rec"));
  std::string const shown = ask("show --time=none");
  EXPECT_THAT(shown, HasSubstr("attempt{number=3}"));
  EXPECT_THAT(shown, Not(HasSubstr("attempt{number=2}"))) << "it is of an earlier run";
  EXPECT_THAT(shown, HasSubstr("left out 2 recordings of earlier runs of ctest"));
}

TEST_F(Attempts, StayOfEachShardOfAProgram) {
  std::filesystem::create_directories(build_);
  std::ofstream file(build_ + "/CTestTestfile.cmake");
  for (std::string const shard : {"0", "1"}) {
    file << "add_test(shard" << shard << " [==[" << TESTLOG_SCENARIOS << "]==] --gtest_filter=Plain.Fails*)\n"
         << "set_tests_properties(shard" << shard
         << " PROPERTIES ENVIRONMENT \"GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=" << shard << "\")\n";
  }
  file.close();
  testlog::testdata::run_ctest(build_);
  EXPECT_EQ(recordings().size(), 2u);
  EXPECT_THAT(recordings(), Not(Contains(HasSubstr("attempt"))));
}

TEST_F(Attempts, StayIfTwoCtestsRunTheTestAtOnce) {
  write_ctest(build_, {"Retried.FailsTwice"});
  std::string const one = ctest_program() + " --test-dir " + build_ + " & ";
  testlog::testdata::run(
      {"/bin/sh", "-c", one + one + "wait"},
      {{"TRACE_RECORD_DEFAULT", build_ + "/Testing/Temporary/testlog/"}, {"SCENARIO_COUNTER", folder_ / "counter"}});
  EXPECT_EQ(recordings().size(), 2u);
}

TEST_F(Attempts, AreNotMixedWithThoseOfACtestAtTheSameTime) {
  std::filesystem::create_directories(path_of(""));
  std::ofstream(path_of("runs.log")) << "1-1 10 begin a.rec\n1-1 20 failed a.rec\n"
                                        "2-2 21 begin a.rec\n2-2 22 passed a.rec\n"
                                        "1-1 30 begin a.rec\n1-1 40 passed a.rec\n";
  EXPECT_THAT(ask("runs --json"), HasSubstr("\"tests\":1,\"failed\":0,\"flaky\":1,"));
}

TEST_F(Attempts, AreNotMixedWithThoseOfAProgramOfTheSameName) {
  std::filesystem::create_directories(folder_ / "copy");
  std::string const copy = folder_ / "copy/testlog_scenarios";
  std::filesystem::copy_file(TESTLOG_SCENARIOS, copy);
  std::ofstream(folder_ / "other") << "xx";  // the copy has run twice
  write_ctests({{"first", TESTLOG_SCENARIOS, "counter"}, {"second", copy, "other"}}, "Retried.FailsTwice");
  EXPECT_NE(testlog::testdata::run_ctest(build_).exit_code, 0);
  EXPECT_THAT(ask("runs --json"), HasSubstr("\"tests\":2,\"failed\":1,\"flaky\":0,"));
  EXPECT_THAT(ask("show"), Not(HasSubstr("is flaky")));
  EXPECT_THAT(ask("summary"), HasSubstr("testlog: 1 of 2 tests failed; 1 cause:\n"));
}

TEST_F(Attempts, AreThoseOfEachTestOfAWholeProgram) {
  write_ctests({{"whole", TESTLOG_SCENARIOS, "counter"}}, "Plain.*:Retried.FailsTwice-Plain.Skips");
  EXPECT_NE(testlog::testdata::run_ctest(build_, {"--repeat", "until-pass:2"}).exit_code, 0);
  EXPECT_THAT(ask("summary"), HasSubstr("testlog: 6 of 8 tests failed; "));
  EXPECT_THAT(ask("show --failed --brief"), HasSubstr("testlog: 6 tests failed, "));
  std::string const junit = ask("export --junit -");
  EXPECT_THAT(junit, HasSubstr("<testcase classname=\"testlog_scenarios.Plain\" name=\"Passes\""));
  EXPECT_THAT(junit, Not(HasSubstr("<stackTrace>---- Plain.Passes"))) << "it passed in both attempts";
  EXPECT_THAT(ask("runs --json"), HasSubstr("\"tests\":8,\"failed\":6,\"flaky\":0,"));
}

TEST_F(Attempts, AreFoundIfTwoProcessesRunTheTestAtOnce) {
  write_ctests({{"first", TESTLOG_SCENARIOS, "one"}, {"second", TESTLOG_SCENARIOS, "two"}},
               "Retried.HangsTheFirstTime");
  testlog::testdata::run_ctest(build_, {"-j", "2", "--timeout", "2"});
  EXPECT_EQ(recordings().size(), 2u);
  EXPECT_TRUE(std::filesystem::remove(path_of("testlog_scenarios.Retried.HangsTheFirstTime.rec")));
  EXPECT_THAT(recordings(), ElementsAre(testing::ContainsRegex("HangsTheFirstTime\\.[0-9]+\\.rec")));
  EXPECT_THAT(ask("summary"), HasSubstr("testlog: 1 of 1 test failed; 1 cause:\n"));
}

TEST_F(Attempts, StayOfAProgramWithAnOddAndLongName) {
  std::filesystem::create_directories(build_);
  std::string const program = folder_ / ("two\nlines" + std::string(230, 'x'));
  std::filesystem::create_symlink(TESTLOG_SCENARIOS, program);
  write_ctests({{"first", program, "counter"}, {"second", program, "other"}}, "Retried.FailsTwice");
  for (int i = 0; i < 2; ++i) testlog::testdata::run_ctest(build_, {"-R", "first"});
  EXPECT_THAT(recordings(), ElementsAre(testing::ContainsRegex("^two_linesx+~[0-9a-f]+\\.T\\.attempt-1\\.rec$"),
                                        testing::ContainsRegex("^two_linesx+~[0-9a-f]+\\.rec$")));
  EXPECT_THAT(ask("runs --json"), HasSubstr("\"tests\":1,\"failed\":1,\"flaky\":0,\"recordings\":2,"));
}

TEST_F(Attempts, StayIfCtestIsKilled) {
  write_ctest(build_, {"Retried.HangsTheFirstTime"});
  testlog::testdata::run(
      {"/bin/sh", "-c",
       "$0 --test-dir $1 & ctest=$!; until [ -s $2 ]; do sleep 0.05; done; "
       "kill -9 $ctest $(pgrep -P $ctest); wait",
       ctest_program(), build_, folder_ / "counter"},
      {{"TRACE_RECORD_DEFAULT", build_ + "/Testing/Temporary/testlog/"}, {"SCENARIO_COUNTER", folder_ / "counter"}});
  EXPECT_THAT(recordings(), ElementsAre("testlog_scenarios.Retried.HangsTheFirstTime.rec"));
  ctest("Retried.HangsTheFirstTime");
  EXPECT_THAT(recordings(), ElementsAre("testlog_scenarios.Retried.HangsTheFirstTime.T.attempt-1.rec"));
}

#ifdef TRACING_HAS_ZLIB
TEST_F(Attempts, AreFoundInAPackedRun) {
  ctest("Retried.FailsTwice", {"--repeat", "until-pass:2"});
  ask("pack -o run.tar");
  EXPECT_THAT(ask("runs --json run.tar"), HasSubstr("\"tests\":1,\"failed\":1,\"flaky\":0,\"recordings\":2,"))
      << "a test that passed left no recording";
  std::string const summary = ask("summary --run run.tar");
  EXPECT_THAT(summary, HasSubstr("testlog: 1 of 1 test failed; 1 cause:\n"));
  EXPECT_THAT(summary, HasSubstr("testlog: read on: testlog show --failed --run run.tar\n"));
  ctest("Retried.FailsTwice", {"--repeat", "until-pass:2"}, {{"TRACE_RECORD_KEEP", "all"}});
  ask("pack -o all.tar Testing/Temporary/testlog");
  EXPECT_THAT(ask("runs --json all.tar"), HasSubstr("\"tests\":2,\"failed\":0,\"flaky\":1,\"recordings\":4,"));
  EXPECT_THAT(ask("summary --run all.tar"), HasSubstr("testlog: 0 of 2 tests failed, 1 flaky\n"));
  EXPECT_EQ(ask("summary --run none.tar"),
            "testlog: summary: --run: no run begins with 'none.tar'; testlog runs lists them\n");
}
#endif

TEST_F(Attempts, AreOfTheRunThatIsNamed) {
  constexpr char kHour[] = "3600000000000";
  std::string const first = "/one/Testing/Temporary/testlog", second = "/two/Testing/Temporary/testlog";
  for (std::string const& folder : {first, second}) std::filesystem::create_directories(build_ + folder);
  std::ofstream(build_ + first + "/runs.log") << "47-1 1 begin a.rec\n47-12 " << kHour << " begin a.rec\n";
  EXPECT_THAT(ask("show --run 47-1"), HasSubstr("show: this run left no recordings in")) << "it is not that of 47-12";
  EXPECT_EQ(ask("show --run 47"),
            "testlog: show: --run: more than one run begins with '47'; testlog runs lists them\n");
  std::ofstream(build_ + second + "/runs.log") << "47-1 1 begin b.rec\n";
  EXPECT_EQ(ask("show --run 47-1"),
            "testlog: show: --run: the run '47-1' has recordings in one/Testing/Temporary/testlog "
            "and two/Testing/Temporary/testlog; call testlog in one of these builds\n");
}

TEST_F(Attempts, AreListedWithTheirRuns) {
  write_ctest(build_, {});
  EXPECT_THAT(ask("runs"), HasSubstr("no run of ctest was found"));
  ctest("Retried.FailsTwice");
  ctest("Retried.FailsTwice", {"--repeat", "until-pass:2"});
  std::string const listed = ask("runs");
  EXPECT_THAT(listed, testing::MatchesRegex("run  +began  +tests  failed  flaky  +bytes  recordings\n"
                                            "[0-9]+-[0-9]+ +[-0-9]+ [:0-9]+ +2 +0 +1 .*\n"
                                            "[0-9]+-[0-9]+ +[-0-9]+ [:0-9]+ +2 +1 +0 .*\n"));
  std::string const first = listed.substr(listed.rfind('\n', listed.size() - 2) + 1);
  std::string const id = first.substr(0, first.find(' '));
  EXPECT_THAT(ask("show --time=none --run " + id), HasSubstr("attempt{number=1}"));
  EXPECT_THAT(ask("show --time=none --run " + id), Not(HasSubstr("attempt{number=2}")));
  EXPECT_EQ(ask("show --time=none --run latest"), ask("show --time=none"));
  EXPECT_EQ(ask("show --time=none " + id), ask("show --time=none --run " + id));
  EXPECT_EQ(ask("slow --critical " + id), ask("slow --critical --run " + id));
  EXPECT_EQ(ask("show --run x"), "testlog: show: --run: no run begins with 'x'; testlog runs lists them\n");
  EXPECT_THAT(ask("show --run latest Testing"), HasSubstr("name no recording beside it"));
  EXPECT_THAT(ask("runs --json"), testing::ContainsRegex("\"tests\":2,\"failed\":0,\"flaky\":1,\"recordings\":1,"));
  EXPECT_EQ(ask("runs nowhere"), "testlog: runs: nowhere is neither a folder nor a TAR\n");
}

}  // namespace
