#include "compare.h"

#include <gtest/gtest.h>

namespace conformance { namespace {

using Json = nlohmann::json;

std::size_t count(char const* expected, char const* got) {
  return differences(Json::parse(expected), Json::parse(got)).size();
}

TEST(Differences, AreEmptyForEqualAnswers) {
  EXPECT_EQ(count(R"({"a":[1,{"b":null}],"c":"x"})", R"({"c":"x","a":[1,{"b":null}]})"), 0U);
}

TEST(Differences, AreFoundAtEveryDepth) {
  EXPECT_EQ(count(R"({"a":[1,2]})", R"({"a":[1,3]})"), 1U);
  EXPECT_EQ(count(R"({"a":{"b":"x"}})", R"({"a":{"b":"y"}})"), 1U);
  EXPECT_EQ(count(R"({"a":"1"})", R"({"a":1})"), 1U);
  EXPECT_EQ(count("[]", "{}"), 1U);
}

TEST(Differences, IncludeKeysAndItemsOnOneSideOnly) {
  EXPECT_EQ(count(R"({"a":1})", "{}"), 1U);
  EXPECT_EQ(count("{}", R"({"a":null})"), 1U);
  EXPECT_EQ(count("[1,2]", "[1]"), 1U);
  EXPECT_EQ(count("[]", "[1,2]"), 2U);
}

TEST(Differences, IgnoreAnythingWhereTheReferenceCrashed) {
  EXPECT_EQ(count(R"({"a":{"panic":"boom"}})", R"({"a":{"ok":true}})"), 0U);
  EXPECT_EQ(count(R"({"a":{"panic":"boom"}})", "{}"), 1U);
}

TEST(Differences, HavePathAndBothValues) {
  EXPECT_EQ(differences(Json::parse(R"({"a":[{"b":"x"}]})"), Json::parse(R"({"a":[{"b":"y"}]})")).front(),
            "a[0].b\n    expected \"x\"\n    got      \"y\"");
}

}}  // namespace conformance
