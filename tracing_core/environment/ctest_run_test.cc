#include "tracing_core/environment/ctest_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace tracing::environment { namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Returns the second at which the last run began, according to a log of `run second recording`, `;` after each; -1
// without a run.
std::int64_t began(std::string const& log) {
  tracing_test::TemporaryFolder const folder;
  std::istringstream lines(log);
  std::string run, recording;
  std::int64_t second;
  while (lines >> run >> second >> recording && recording.ends_with(';')) {
    recording.pop_back();
    RunLog(folder / ".").begin({run, {}}, recording, Instant{second * kSecond});
  }
  auto const runs = RunLog(folder / ".").runs();
  return runs.empty() ? -1 : runs.front().began.ns / kSecond;
}

TEST(RunLog, HasNoRunBeforeTheFirst) { EXPECT_EQ(began(""), -1); }

TEST(RunLog, HasTheRunOfTheLastProcess) {
  EXPECT_EQ(began("A 1 x; A 2 y;"), 1);
  EXPECT_EQ(began("A 1 x; A 2 y; B 3 x; B 4 y;"), 3);
  EXPECT_EQ(began("A 1 x; A 2 y; B 3 x;"), 3) << "one test of many is a run of its own";
  EXPECT_EQ(began("A 1 x; B 3 x; B 4 y;"), 3);
}

TEST(RunLog, TakesRunsThatOverlapForOne) {
  EXPECT_EQ(began("A 1 x; A 2 y; B 3 v; A 4 z; B 5 w;"), 1);
  EXPECT_EQ(began("A 1 x; A 2 y; B 3 v; A 4 z;"), 1);
  EXPECT_EQ(began("Z 0 x; Z 1 y; A 2 x; B 3 v; A 4 z; C 5 u; B 6 w; C 7 t;"), 2) << "one after the other";
}

TEST(RunLog, TakesRunsOfOneTestEachForOne) {
  EXPECT_EQ(began("A 1 x; B 500 y; C 1000 z;"), 1);
  EXPECT_EQ(began("A 1 x; B 500 y; C 1101 z;"), 1101) << "more than ten minutes later";
  EXPECT_EQ(began("M 1 x; M 2 y; A 3 x; B 4 y;"), 3);
  EXPECT_EQ(began("A 1 x; A 2 x; B 3 y;"), 1) << "a test that was repeated";
}

TEST(RunLog, FindsTheLinesOfARecordingInALongLog) {
  tracing_test::TemporaryFolder const folder;
  std::string log = "A 1 begin x.rec\n";
  for (int i = 0; log.size() < 100'000; ++i) log += "A 2 begin other" + std::to_string(i) + ".rec\n";
  log += "A 3 begin prefix.rec\nA 4 begin x.recent\nA 5 begin x.rec\nA 5 file x.rec/x.2.rec\nA 6 begin x.rec";
  folder.write("runs.log", log);
  auto const began = [&folder](std::size_t max_bytes) {
    std::string seconds;
    for (auto const& attempt : RunLog(folder / ".").attempts("x.rec", max_bytes))
      seconds += std::to_string(attempt.began.ns) + (attempt.file == "x.2.rec" ? "! " : " ");
    return seconds;
  };
  EXPECT_EQ(began(SIZE_MAX), "1 5! 6 ");
  EXPECT_EQ(began(50'000), "5! 6 ");
  EXPECT_EQ(RunLog(folder / ".").runs().size(), 1u) << "without a recording, it reads all lines";
}

TEST(RunLog, LeavesOutTheRunsOfAHunt) {
  EXPECT_EQ(began("A 1 x; A 2 y; hunt-B 3 x; hunt-C 4 x;"), 1);
  tracing_test::TemporaryFolder const folder;
  folder.write("runs.log", "A 1 begin x\nhunt-B 2 begin x\nhunt-B 3 passed x\n");
  EXPECT_EQ(RunLog(folder / ".").attempts().size(), 1u);
}

TEST(RunLog, TellsProcessesAndProgramsApart) {
  tracing_test::TemporaryFolder const folder;
  RunLog const log(folder / ".");
  environment::Run const first{"A", true, "7-1", "program"}, second{"A", true, "8-1", "program"},
      other{"A", true, "9-1", "another"};
  log.begin(first, "x.rec", Instant{1});
  log.begin(second, "x.rec", Instant{2});
  log.take_file(second, "x.rec", "x.8.rec", Instant{3});
  log.begin(other, "x.rec", Instant{4});
  log.end(first, "x.rec", Instant{5}, {});
  log.end(other, "x.rec", Instant{6}, {.passed = false});
  auto const attempts = log.attempts("x.rec");
  ASSERT_EQ(attempts.size(), 3u);
  EXPECT_EQ(attempts[0].passed, true);
  EXPECT_EQ(attempts[0].file, "x.rec");
  EXPECT_EQ(attempts[1].passed, std::nullopt) << "the second process did not end";
  EXPECT_EQ(attempts[1].file, "x.8.rec");
  EXPECT_EQ(attempts[1].number, 2);
  EXPECT_EQ(attempts[2].passed, false);
  EXPECT_EQ(attempts[2].number, 1) << "the first of its program";
  EXPECT_EQ(attempts[2].program, "another");
}

TEST(RunLog, ReadsLogsWithoutProcesses) {
  tracing_test::TemporaryFolder const folder;
  folder.write("runs.log", "A 1 begin x.rec\nA 2 failed x.rec\nA 3 begin x.rec\nA 4 passed x.rec\n");
  auto const attempts = RunLog(folder / ".").attempts();
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].passed, false);
  EXPECT_EQ(attempts[1].passed, true);
  EXPECT_EQ(attempts[1].number, 2);
}

TEST(RunLog, SaysThatItCannotBeRead) {
  tracing_test::TemporaryFolder const folder;
  RunLog const log(folder / ".");
  EXPECT_EQ(log.problem(), "") << "there is none";
  folder.write("runs.log", "A 1 begin x\n");
  EXPECT_EQ(log.problem(), "");
  constexpr uid_t kOther = 65'534;
  if (seteuid(kOther) != 0) GTEST_SKIP() << "only root can become another user";
  std::string const problem = log.problem();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(problem.ends_with("log: Permission denied")) << problem;
}

TEST(RunLog, SkipsWhatIsNoLine) {
  tracing_test::TemporaryFolder const folder;
  folder.write("runs.log", "A 1 begin x\n\nA\nB two begin x\nB 9\nB 9 begin\n");
  EXPECT_EQ(RunLog(folder / ".").runs().front().last.ns, 1);
}

TEST(RunLog, CountsTheTestsOfAProcess) {
  tracing_test::TemporaryFolder const folder;
  RunLog const log(folder / ".");
  environment::Run const run{.id = "A", .process = "7-1", .program = "c0ffee"};
  log.begin(run, "x", Instant{1});
  log.end(run, "x", Instant{2}, {.passed = false, .tests = 16, .failed = 8});
  log.begin(run, "y", Instant{3});
  auto const attempts = log.attempts();
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].program, "c0ffee");
  EXPECT_EQ(attempts[0].tests, 16);
  EXPECT_EQ(attempts[0].failed, 8);
  EXPECT_EQ(attempts[1].tests, 1) << "it has not ended";
}

TEST(RunLog, IsBounded) {
  tracing_test::TemporaryFolder const folder;
  std::string const log = folder / "runs.log", old = folder / "runs.old.log";
  std::string lines;
  while (lines.size() < (16 << 20)) lines += "A 1 begin x\n";
  folder.write("runs.log", lines);
  RunLog(folder / ".").end({"A", {}}, "x", Instant{2}, {});
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_EQ(std::filesystem::file_size(old), lines.size() + 13);
  RunLog(folder / ".").begin({"A", {}}, "x", Instant{3});
  EXPECT_EQ(folder.read("runs.log"), "A 3 begin x\n");
  EXPECT_EQ(RunLog(folder / ".").runs().front().began.ns, 1);
}

TEST(Run, StaysTheSameInAProcess) {
  environment::Run const run = run_of_this_process();
  EXPECT_EQ(run.id, run_of_this_process().id);
  EXPECT_NE(run.id.find('-'), run.id.npos);
  EXPECT_EQ(run.is_ctest, run_of_this_process().is_ctest);
}

}}  // namespace tracing::environment
