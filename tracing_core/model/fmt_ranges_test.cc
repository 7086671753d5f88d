// Includes <fmt/ranges.h>, which gives every type with begin() and end() a formatter.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value_of.h"

namespace fmt_ranges_test {

struct Slice {
  char const* begin() const { return "foo"; }
  char const* end() const { return begin() + 3; }
  friend std::ostream& operator<<(std::ostream& os, Slice const&) { return os << "foo"; }
};

struct Tree {  // a range whose elements are trees
  std::vector<Tree> branches;
  auto begin() const { return branches.begin(); }
  auto end() const { return branches.end(); }
  friend std::ostream& operator<<(std::ostream& os, Tree const& tree) {
    return os << "a tree with " << tree.branches.size() << " branches";
  }
};

template <class T>
std::string message_text(T const& x) {
  tracing::InlineTextBuffer<64> out;
  append_formatted(out, tracing::internal::value_of(x), {});
  return std::string(out.view());
}

TEST(ValueOf, PrintsByTheStreamOperatorOfARangeAlsoWithFmtRanges) {
  EXPECT_EQ(message_text(Slice()), "foo");
  EXPECT_EQ(message_text(tracing::display(Slice())), "foo");
}

TEST(ValueOf, PrintsARangeOfItselfAlsoWithFmtRanges) {
  EXPECT_EQ(message_text(Tree{std::vector<Tree>(2)}), "a tree with 2 branches");
}

}  // namespace fmt_ranges_test
