// Two tests of a library with a bug. The second one fails on purpose.
#include "launcher.h"

#include <vector>

#include <gtest/gtest.h>

namespace demo {
namespace {

TEST(Launcher, RunsTheKernelOverTheWholeArray) {
  Launcher launcher;
  std::vector<int> data{1, 2, 3, 4};
  EXPECT_EQ(launcher.launch({.kernel = "double", .mode = Mode::Unchecked, .count = 4}, data), 4u);
  EXPECT_EQ(data, (std::vector{2, 4, 6, 8}));
}

TEST(Launcher, ChecksBoundsAfterAnUncheckedLaunch) {
  Launcher launcher;
  std::vector<int> data{1, 2, 3, 4};
  launcher.launch({.kernel = "double", .mode = Mode::Unchecked, .count = 4}, data);
  EXPECT_EQ(launcher.launch({.kernel = "double", .mode = Mode::Checked, .count = 64}, data), 4u);
}

}  // namespace
}  // namespace demo
