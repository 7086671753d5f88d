#include "tracing_core/model/describe.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace outer {
namespace inner {
struct Point {
  int x = 1;
  int y = 2;
};
enum class Color { red, green };
}  // namespace inner
// The macros must be in the type's namespace: argument-dependent lookup would not find them elsewhere.
namespace inner {
TRACE_FIELDS(Point, x, y)
TRACE_ENUM(inner::Color, red, green)
}  // namespace inner

class WithPrivate {
  int hidden_ = 7;

 public:
  int shown = 8;
  int get() const { return hidden_; }
};
TRACE_FIELDS(WithPrivate, shown)

struct Empty {};
TRACE_FIELDS(Empty)

struct Nested {
  inner::Point point;
  std::vector<inner::Point> points{2};
  std::map<std::string, std::optional<inner::Color>> colors{{"a", inner::Color::green}, {"b", {}}};
  double const* pointer = nullptr;
  Empty empty;
};
TRACE_FIELDS(outer::Nested, point, points, colors, empty, point.x)

struct Derived : inner::Point {
  int z = 3;
};
TRACE_FIELDS(Derived, x, z)

// The largest number of members.
struct Wide {
  int a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, i = 8, j = 9, k = 10, l = 11, m = 12, n = 13, o = 14,
      p = 15, q = 16, r = 17, s = 18, t = 19, u = 20, v = 21, w = 22, x = 23, y = 24, z = 25, aa = 26;
};
TRACE_FIELDS(Wide, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa)

struct Recursive {
  int n = 0;
  std::vector<Recursive> below;
};
TRACE_FIELDS(Recursive, n, below)

}  // namespace outer

namespace {

template <class T>
std::string text_of(T const& x) {
  tracing::InlineTextBuffer<256> out;
  append_debug(out, tracing::internal::value_of(x));
  return std::string(out.view());
}
template <class T>
std::string pretty_text_of(T const& x) {
  return text_of(tracing::pretty(x));
}

TEST(TraceFields, PrintsTheListedMembers) {
  EXPECT_EQ(text_of(outer::inner::Point()), "Point { x: 1, y: 2 }");
  EXPECT_EQ(text_of(outer::WithPrivate()), "WithPrivate { shown: 8 }");
  EXPECT_EQ(text_of(outer::Empty()), "Empty");
  EXPECT_EQ(text_of(outer::Derived()), "Derived { x: 1, z: 3 }");
}

TEST(TraceFields, PrintsNestedMembers) {
  EXPECT_EQ(text_of(outer::Nested()),
            "Nested { point: Point { x: 1, y: 2 }, points: [Point { x: 1, y: 2 }, Point { x: 1, y: 2 }], "
            "colors: {\"a\": green, \"b\": null}, empty: Empty, point.x: 1 }");
}

TEST(TraceFields, PrintsOverSeveralLinesIfPretty) {
  EXPECT_EQ(pretty_text_of(outer::inner::Point()), "Point {\n    x: 1,\n    y: 2,\n}");
  EXPECT_EQ(pretty_text_of(outer::Empty()), "Empty");
  outer::Recursive tree{1, {{2, {}}}};
  EXPECT_EQ(pretty_text_of(tree),
            "Recursive {\n    n: 1,\n    below: [\n        Recursive {\n            n: 2,\n            below: [],\n"
            "        },\n    ],\n}");
}

TEST(TraceFields, AcceptsTwentySevenMembers) {
  std::string const text = text_of(outer::Wide());
  EXPECT_EQ(text.substr(0, 19), "Wide { a: 0, b: 1, ");
  EXPECT_EQ(text.substr(text.size() - 15), "z: 25, aa: 26 }");
}

TEST(TraceFields, CutsOffDeepNesting) {
  outer::Recursive chain{0, {}};
  for (int i = 1; i < 100; ++i) chain = outer::Recursive{i, {std::move(chain)}};
  std::string const text = text_of(chain);
  EXPECT_NE(text.find("..."), std::string::npos);
  EXPECT_EQ(text.find("n: 1,"), std::string::npos);
  EXPECT_NE(text.find("n: 90"), std::string::npos);
}

TEST(TraceEnum, NamesEnumerators) {
  EXPECT_EQ(text_of(outer::inner::Color::green), "green");
  EXPECT_EQ(text_of(static_cast<outer::inner::Color>(7)), "7");
  static_assert(tracing_enumerator_name(outer::inner::Color::red) == "red");
}

}  // namespace
