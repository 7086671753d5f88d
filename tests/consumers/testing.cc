// A GoogleTest program whose tests CTest discovers.
#include <gtest/gtest.h>

#include <tracing_core/model/level.h>

#include <fstream>
#include <regex>
#include <string>

// Returns a variable as it was when the program started, since testlog removes TRACE_RECORD_DEFAULT from the
// environment.
std::string variable(std::string const& name) {
  std::ifstream environment("/proc/self/environ");
  for (std::string one; std::getline(environment, one, '\0');)
    if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
  return "";
}

TEST(Consumer, KeepsRecordingsInTheBuildFolder) {
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/Testing/Temporary/testlog/%e.%t.rec"));
  EXPECT_EQ(variable("TRACE_LONG_AFTER"), "60");
}
TEST(Consumer, KeepsRecordingsInAnotherFolder) {
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/mine/%e.%t.rec"));
  EXPECT_EQ(variable("X"), "1");
}
TEST(Consumer, KeepsRecordingsByPrefix) {
  EXPECT_TRUE(
      std::regex_search(variable("TRACE_RECORD_DEFAULT"), std::regex("/testlog/%e\\.gpu_%t\\.2~[0-9a-f]{8}\\.rec$")));
}
TEST(Consumer, TakesTheWordRecordAsAValue) {
  EXPECT_TRUE(
      std::regex_search(variable("TRACE_RECORD_DEFAULT"), std::regex("/mine/%e\\.RECORD%t~[0-9a-f]{8}\\.rec$")));
  std::ifstream arguments("/proc/self/cmdline");
  std::string last;
  for (std::string one; std::getline(arguments, one, '\0');) last = one;
  EXPECT_EQ(last, "RECORD");
}
TEST(Consumer, KeepsRecordingsOfTheWholeProgram) {
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/Testing/Temporary/testlog/whole.program.%t.rec"));
  EXPECT_EQ(variable("TRACE_HANG_AFTER_DEFAULT"), "9.6");
}
TEST(Consumer, KeepsRecordingsOfAProgramElsewhere) {
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/mine/whole_elsewhere~6ca3e0c0.%t.rec"));
  EXPECT_EQ(variable("TRACE_LONG_AFTER"), "60");
}
TEST(Consumer, KeepsRecordingsNowhere) { EXPECT_EQ(variable("TRACE_RECORD_DEFAULT"), ""); }
TEST(Consumer, KnowsWhenItsTimeIsNearlyOver) {
  EXPECT_EQ(variable("TRACE_HANG_AFTER_DEFAULT"), "9.6");
  EXPECT_EQ(variable("TRACE_LONG_AFTER"), "");
  EXPECT_TRUE(variable("TRACE_RECORD_DEFAULT").ends_with("/Testing/Temporary/testlog/%e.%t.rec"));
}
class ConsumerOfWords : public testing::TestWithParam<char const*> {};
TEST_P(ConsumerOfWords, HasItsValue) { EXPECT_STREQ(GetParam(), "two words"); }
INSTANTIATE_TEST_SUITE_P(Given, ConsumerOfWords, testing::Values("two words"));
TEST(Consumer, SeesTheLevels) { EXPECT_EQ(tracing::name(tracing::LevelFilter::off), "off"); }
