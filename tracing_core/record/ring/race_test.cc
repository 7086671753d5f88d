// A recording must not hide the races of the program from ThreadSanitizer.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace {

// In how many of 20 runs the race is found.
int found(std::string const& arguments) {
  int count = 0;
  std::string const command = "TSAN_OPTIONS='exitcode=66 symbolize=0' " RACE_PROGRAM " " + arguments + " 2>/dev/null";
  for (int i = 0; i < 20; ++i) count += WEXITSTATUS(std::system(command.c_str())) == 66;
  return count;
}

TEST(Race, IsFoundAsOftenWithARecordingAsWithout) {
  if (TESTLOG_TSAN == 0) GTEST_SKIP() << "built without ThreadSanitizer";
  tracing_test::TemporaryFolder const folder;
  // A step takes 64 bytes, so the second distance is 8 chunks of each thread, and the third one 40.
  for (std::string const distance : {"0", "2048", "10240"}) {
    int const plain = found(distance);
    EXPECT_GT(plain, 15) << "the experiment is worth nothing";
    EXPECT_GE(found(distance + " memory"), plain - 1) << distance;
    std::string const path = folder / "race.rec";
    EXPECT_GE(found(distance + " " + path), plain - 1) << distance;
  }
}

}  // namespace
