// Tests of every kind that GoogleTest lists. CTest makes the names of its tests from theirs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

TEST(Plain, Passes) {}
TEST(Plain, DISABLED_Waits) {}

class Sizes : public testing::TestWithParam<int> {};
TEST_P(Sizes, Fit) {}
INSTANTIATE_TEST_SUITE_P(Small, Sizes, testing::Values(1, 2, 2));
INSTANTIATE_TEST_SUITE_P(Named, Sizes, testing::Values(8, 16),
                         [](auto const& one) { return one.param == 8 ? "eight" : "sixteen"; });

class Words : public testing::TestWithParam<std::string> {};
TEST_P(Words, AreRead) {}
INSTANTIATE_TEST_SUITE_P(Given, Words,
                         testing::Values("two words", "a;b", "[x]", "]", "a/1", "# GetParam() = 7", "$x", "a:b*"));

template <class T>
class Types : public testing::Test {};
using TwoTypes = testing::Types<int, std::vector<std::pair<int, char>>>;
TYPED_TEST_SUITE(Types, TwoTypes);
TYPED_TEST(Types, Hold) {}

struct TypeNames {
  template <class T>
  static std::string GetName(int i) {
    return i == 0 ? "first" : "second";
  }
};
template <class T>
class NamedTypes : public testing::Test {};
TYPED_TEST_SUITE(NamedTypes, TwoTypes, TypeNames);
TYPED_TEST(NamedTypes, Hold) {}

template <class T>
class Patterns : public testing::Test {};
TYPED_TEST_SUITE_P(Patterns);
TYPED_TEST_P(Patterns, Hold) {}
REGISTER_TYPED_TEST_SUITE_P(Patterns, Hold);
INSTANTIATE_TYPED_TEST_SUITE_P(Some, Patterns, TwoTypes);

}  // namespace
