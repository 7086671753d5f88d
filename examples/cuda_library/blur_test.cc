#include "blur.h"

#include <testlog/testlog.h>

#include <vector>

namespace {

// A step from 0 to 1.
class Step : public testing::TestWithParam<int> {
 protected:
  std::vector<float> values = [] {
    std::vector<float> step(1000, 0.0f);
    for (std::size_t i = 500; i < step.size(); ++i) step[i] = 1.0f;
    return step;
  }();
};

TEST_LOG(Blur, ReturnsNothingForNothing) { EXPECT_TRUE(blur::box({}, 3).empty()); }

TEST_LOG_F(Step, StaysAsItIsWithoutNeighbours) { EXPECT_EQ(blur::box(values, 0), values); }

TEST_LOG_P(Step, RisesOverTheWidthOfTheBox) {
  std::vector<float> const blurred = blur::box(values, GetParam());
  EXPECT_EQ(blurred[static_cast<std::size_t>(500 - GetParam() - 1)], 0.0f);
  EXPECT_EQ(blurred[static_cast<std::size_t>(500 + GetParam())], 1.0f);
  EXPECT_NEAR(blurred[500], 0.5f, 0.5f / static_cast<float>(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Radius, Step, testing::Values(1, 3, 50));

}  // namespace
