// `testlog hunt`: what it keeps and prints after runs of the real ctest, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testlog/testdata/ctest.h"
#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

// A build folder with a test that fails in each third run.
class Hunt : public testing::Test {
 protected:
  Hunt() { testlog::testdata::write_ctest(build_, {"Flaky.FailsInEachThirdRun", "Plain.Passes"}); }

  // Runs `testlog hunt ARGUMENTS...` in the build folder.
  Outcome hunt(std::vector<std::string> const& arguments, Variables variables = {}) const {
    std::vector<std::string> words{"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", build_, TESTLOG_COMMAND, "hunt"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    variables.emplace_back("SCENARIO_COUNTER", folder_ / "counter");
    variables.emplace_back("TRACE_RECORD_DEFAULT", build_ + "/Testing/Temporary/testlog/");
    if (variables.front().first != "PATH")
      variables.emplace_back("PATH", fs::path(TESTLOG_CTEST).parent_path().native() + ":" + std::getenv("PATH"));
    return testlog::testdata::run(words, variables);
  }
  std::string folder_of(std::string const& test) const { return build_ + "/Testing/Temporary/testlog/hunt/" + test; }
  // Returns the names in a folder, sorted.
  static std::vector<std::string> names_in(fs::path const& folder) {
    std::vector<std::string> names;
    for (fs::directory_entry const& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  static constexpr char kFlaky[] = "Flaky.FailsInEachThirdRun";
  tracing_test::TemporaryFolder const folder_;
  std::string const build_ = folder_ / "build";
};

TEST_F(Hunt, EndsWithRunsThatFailedAndPassed) {
  fs::create_directories(build_ + "/Testing/Temporary");
  std::ofstream(build_ + "/Testing/Temporary/LastTestsFailed.log") << "9:Another.Test\n";
  Outcome const outcome = hunt({kFlaky, "--failing=2", "--passing=3", "--seed=7"});
  EXPECT_EQ(testlog::testdata::content_of(build_ + "/Testing/Temporary/LastTestsFailed.log"), "9:Another.Test\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(testlog::testdata::run({TESTLOG_COMMAND, "runs", build_ + "/Testing/Temporary/testlog"}).out,
              Not(HasSubstr("hunt-")))
      << "a hunt is not the last run";
  std::string const folder = folder_of(kFlaky);
  EXPECT_THAT(outcome.out,
              AllOf(ContainsRegex("^Flaky.FailsInEachThirdRun: 6 runs in [0-9.]+ s: 2 failed, 4 passed\n"),
                    HasSubstr("\nrun 3 was the first to fail, with TRACE_PERTURB=9,200\n"),
                    HasSubstr("\n    TRACE_PERTURB=9,200 ctest --test-dir . -R '^Flaky\\.FailsInEachThirdRun$' "
                              "--output-on-failure\n"),
                    HasSubstr("testlog why --failing " + folder + "/failing --passing " + folder + "/passing\n")));
  EXPECT_EQ(names_in(folder), (std::vector<std::string>{"current.log", "failing", "passing"}));
  EXPECT_EQ(names_in(folder + "/failing"), (std::vector<std::string>{"run-3.seed-9.log", "run-3.seed-9.rec",
                                                                     "run-6.seed-12.log", "run-6.seed-12.rec"}));
  EXPECT_EQ(names_in(folder + "/passing"),
            (std::vector<std::string>{"run-1.seed-7.rec", "run-2.seed-8.rec", "run-4.seed-10.rec"}));
  EXPECT_THAT(testlog::testdata::content_of(folder + "/failing/run-3.seed-9.log"),
              HasSubstr("---- TRACE_PERTURB=9,200 was set: set it again to repeat ----\n"));
  EXPECT_THAT(testlog::testdata::run({TESTLOG_COMMAND, "show", "--failed", folder + "/failing"}).out,
              HasSubstr("---- Flaky.FailsInEachThirdRun failed"));
}

TEST_F(Hunt, KeepsTheRecordingsOfTheHuntBefore) {
  for (char const* const seed : {"--seed=100", "--seed=200"})
    EXPECT_EQ(hunt({kFlaky, "--failing=1", "--passing=1", seed}).exit_code, 0);
  EXPECT_EQ(names_in(folder_of(kFlaky) + ".before/failing").back(), "run-3.seed-102.rec");
  EXPECT_EQ(names_in(folder_of(kFlaky) + "/failing").back(), "run-3.seed-202.rec");
}

TEST_F(Hunt, CanLeaveTheThreadsAsTheyAre) {
  Outcome const outcome = hunt({kFlaky, "--failing=1", "--passing=1", "--no-perturb"}, {{"TRACE_PERTURB", "5"}});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\nrun 3 was the first to fail\n"), HasSubstr("\n    ctest --test-dir"),
                                 Not(HasSubstr("TRACE_PERTURB"))));
  EXPECT_EQ(names_in(folder_of(kFlaky) + "/failing"), (std::vector<std::string>{"run-3.log", "run-3.rec"}));
  EXPECT_THAT(testlog::testdata::content_of(folder_of(kFlaky) + "/failing/run-3.log"), Not(HasSubstr("TRACE_PERTURB")));
}

TEST_F(Hunt, RunsAnotherCommand) {
  std::string const filter = std::string("--gtest_filter=") + kFlaky;
  Outcome const outcome =
      hunt({kFlaky, "--failing=1", "--passing=1", "--seed=1", "--", TESTLOG_SCENARIOS, filter, "--gtest_brief=1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("\n    TRACE_PERTURB=3,200 " TESTLOG_SCENARIOS " " + filter + " --gtest_brief=1\n"));
}

TEST_F(Hunt, EndsIfTheTestAlwaysFails) {
  Outcome const outcome = hunt({"Plain.Fails", "--", TESTLOG_SCENARIOS, "--gtest_filter=Plain.Fails"});
  EXPECT_THAT(outcome.out, HasSubstr(" s: 30 failed, 0 passed; it fails in each run, so this is no rare failure\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("testlog why")));
}

TEST_F(Hunt, EndsWhenTheTimeIsOver) {
  Outcome const outcome = hunt({"Plain.Passes", "--for=1s", "--", "/bin/sh", "-c", "sleep 60"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              ContainsRegex("Plain.Passes: 0 runs in 1.[0-9] s: 0 failed, 0 passed; the time is over \\(--for\\)\n"
                            "no failure was seen\n"));
}

TEST_F(Hunt, LeavesNoProcessBehind) {
  std::string const file = folder_ / "background";
  std::string const script = "sleep 600 & echo $! >> " + file + "; exec " TESTLOG_SCENARIOS " --gtest_filter=Flaky.*";
  EXPECT_EQ(hunt({kFlaky, "--failing=1", "--passing=1", "--", "/bin/sh", "-c", script}).exit_code, 0);
  std::ifstream processes(file);
  for (pid_t process = 0; processes >> process;) {
    std::string const state = testlog::testdata::content_of("/proc/" + std::to_string(process) + "/stat");
    EXPECT_TRUE(state.empty() || state.find(" Z ") != state.npos) << state;
  }
}

// The program sends Ctrl-C to the hunt while its third run is going on.
TEST_F(Hunt, EndsAtCtrlC) {
  std::string const script =
      "echo >> \"$SCENARIO_COUNTER.runs\"; if [ $(wc -l < \"$SCENARIO_COUNTER.runs\") = 4 ]; then "
      "kill -INT $PPID; sleep 60; fi; exec " TESTLOG_SCENARIOS " --gtest_filter=Flaky.*";
  Outcome const outcome = hunt({kFlaky, "--", "/bin/sh", "-c", script});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(ContainsRegex(": 3 runs in [0-9.]+ s: 1 failed, 2 passed; interrupted\n"),
                                 HasSubstr("run 3 was the first to fail")));
}

TEST_F(Hunt, NamesTheTestThatWasMeant) {
  EXPECT_EQ(hunt({"Plain.Pases"}).err, "testlog: hunt: . has no test Plain.Pases; did you mean Plain.Passes?\n");
  EXPECT_EQ(hunt({"Plain.Pases"}).exit_code, 1);
  EXPECT_THAT(hunt({"FailsIn"}).err, EndsWith("; did you mean Flaky.FailsInEachThirdRun?\n"));
  EXPECT_EQ(hunt({"Nothing.Near"}).err, "testlog: hunt: . has no test Nothing.Near (`ctest -N` lists its 2 tests)\n");
}

TEST_F(Hunt, ReportsWhatItCannotRun) {
  EXPECT_EQ(hunt({"Plain.Passes"}, {{"PATH", "/nowhere"}}).err,
            "testlog: hunt: cannot run ctest: No such file or directory\n");
  EXPECT_EQ(hunt({"Plain.Passes", "--", "./missing"}).err,
            "testlog: hunt: cannot run ./missing: No such file or directory\n");
  Outcome const silent = hunt({"Plain.Passes", "--", "/bin/sh", "-c", "echo the output"});
  EXPECT_EQ(silent.exit_code, 1);
  EXPECT_EQ(silent.err,
            "testlog: hunt: run 1 left no recording: did it run a test that links testlog? It printed\nthe output\n");
}

TEST_F(Hunt, ReportsMistakes) {
  EXPECT_THAT(hunt({"Plain.Passes", "--for=soon"}).err,
              StartsWith("testlog: hunt: --for soon is no time; expected for example 90s or 10m\n"));
  EXPECT_EQ(hunt({"Plain.Passes", "--failing=0"}).exit_code, 2);
  EXPECT_EQ(hunt({"Plain.Passes", "--no-perturb", "--seed=1"}).exit_code, 2);
  EXPECT_EQ(hunt({}).exit_code, 2);
  EXPECT_THAT(hunt({"Plain.Passes", "--build", "elsewhere"}).err,
              HasSubstr("elsewhere has no tests of CTest; --build"));
}

}  // namespace
