// Two tests of a library with a bug.
// The second test fails on purpose.
#include "launcher.h"

#include <vector>

#include <testlog/testlog.h>

namespace demo { namespace {

TEST_LOG(Launcher, RunsTheKernelOverTheWholeArray) {
  Launcher launcher;
  std::vector<int> data{1, 2, 3, 4};
  EXPECT_EQ(launcher.launch({.kernel = "double", .mode = Mode::Unchecked, .count = 4}, data), 4u);
  EXPECT_EQ(data, (std::vector{2, 4, 6, 8}));
}

TEST_LOG(Launcher, ChecksBoundsAfterAnUncheckedLaunch) {
  Launcher launcher;
  std::vector<int> data{1, 2, 3, 4};
  launcher.launch({.kernel = "double", .mode = Mode::Unchecked, .count = 4}, data);
  std::size_t const touched = launcher.launch({.kernel = "double", .mode = Mode::Checked, .count = 64}, data);
  EXPECT_LE(touched, data.size());
}

}}  // namespace demo
