#include "tracing_core/model/level.h"

#include <gtest/gtest.h>

namespace tracing { namespace {

TEST(Level, ParsesNamesInAnyCaseAndNumbers) {
  struct Case {
    std::string_view text;
    std::optional<Level> expected;
  };
  Case const cases[] = {{"error", Level::error},
                        {"WARN", Level::warn},
                        {"dEbUg", Level::debug},
                        {"1", Level::error},
                        {"+3", Level::info},
                        {"005", Level::trace},
                        {"", {}},
                        {"0", {}},
                        {"off", {}},
                        {"6", {}},
                        {" info", {}},
                        {"-1", {}},
                        {"+", {}},
                        {"warning", {}},
                        {"1e0", {}}};
  for (auto const& [text, expected] : cases) EXPECT_EQ(parse_level(text), expected) << text;
}

TEST(LevelFilter, ParsesOffAndTakesEmptyTextAsError) {
  EXPECT_EQ(parse_level_filter("off"), LevelFilter::off);
  EXPECT_EQ(parse_level_filter("0"), LevelFilter::off);
  EXPECT_EQ(parse_level_filter(""), LevelFilter::error);
  EXPECT_EQ(parse_level_filter("Trace"), LevelFilter::trace);
  EXPECT_EQ(parse_level_filter("99999999999999999999"), std::nullopt);
}

TEST(Level, ParseErrorListsTheValidTexts) {
  std::string_view error = "none";
  EXPECT_EQ(parse_level("3", &error), Level::info);
  EXPECT_EQ(parse_level_filter("off", &error), LevelFilter::off);
  EXPECT_EQ(error, "none");
  EXPECT_EQ(parse_level("off", &error), std::nullopt);
  EXPECT_EQ(error,
            R"(error parsing level: expected one of "error", "warn", "info", "debug", "trace", or a number 1-5)");
  EXPECT_EQ(parse_level_filter("6", &error), std::nullopt);
  EXPECT_EQ(
      error,
      R"(error parsing level filter: expected one of "off", "error", "warn", "info", "debug", "trace", or a number 0-5)");
}

TEST(LevelFilter, PassesItsOwnLevelAndMoreImportantOnes) {
  EXPECT_TRUE(Level::warn <= LevelFilter::warn);
  EXPECT_TRUE(Level::error <= LevelFilter::warn);
  EXPECT_FALSE(Level::info <= LevelFilter::warn);
  EXPECT_FALSE(Level::error <= LevelFilter::off);
  EXPECT_EQ(as_filter(Level::debug), LevelFilter::debug);
}

TEST(Level, HasUpperCaseNamesAndLevelFilterLowerCaseOnes) {
  EXPECT_EQ(name(Level::error), "ERROR");
  EXPECT_EQ(name(Level::trace), "TRACE");
  EXPECT_EQ(name(LevelFilter::off), "off");
  EXPECT_EQ(name(LevelFilter::trace), "trace");
}

}}  // namespace tracing
