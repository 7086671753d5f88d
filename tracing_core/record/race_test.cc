// A recording must not hide the races of the program from ThreadSanitizer.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/support/sanitizers.h"

namespace {

// In how many of 20 runs the race is found.
int found(std::string const& argument) {
  int count = 0;
  std::string const command = "TSAN_OPTIONS=exitcode=66 " RACE_PROGRAM " " + argument + " 2>/dev/null";
  for (int i = 0; i < 20; ++i) count += WEXITSTATUS(std::system(command.c_str())) == 66;
  return count;
}

TEST(Race, IsFoundAsOftenWithARecordingAsWithout) {
  if (TESTLOG_TSAN == 0) GTEST_SKIP() << "built without ThreadSanitizer";
  int const plain = found("plain");
  int const recorded = found("recorded");
  RecordProperty("found_plain", plain);
  RecordProperty("found_recorded", recorded);
  EXPECT_GT(plain, 15) << "the experiment is worth nothing";
  EXPECT_GE(recorded, plain - 1);
}

}  // namespace
