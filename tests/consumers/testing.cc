// A GoogleTest program whose tests CTest discovers.
#include <gtest/gtest.h>

#include <tracing_core/model/level.h>

#include <cstdlib>
#include <string_view>

std::string_view variable(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TEST(Consumer, KeepsRecordingsInTheBuildFolder) {
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/Testing/Temporary/testlog"));
}
TEST(Consumer, KeepsRecordingsInAnotherFolder) {
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/mine"));
  EXPECT_EQ(variable("X"), "1");
}
TEST(Consumer, KeepsRecordingsNowhere) { EXPECT_EQ(variable("TRACE_RECORD_DEFAULT"), ""); }
TEST(Consumer, KnowsWhenItsTimeIsNearlyOver) {
  EXPECT_EQ(variable("TRACE_HANG_AFTER_DEFAULT"), "9.6");
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/Testing/Temporary/testlog"));
}
class ConsumerOfWords : public testing::TestWithParam<char const*> {};
TEST_P(ConsumerOfWords, HasItsNumber) { EXPECT_STREQ(GetParam(), "two words"); }
INSTANTIATE_TEST_SUITE_P(Given, ConsumerOfWords, testing::Values("two words"));
TEST(Consumer, SeesTheLevels) { EXPECT_EQ(tracing::name(tracing::LevelFilter::off), "off"); }
