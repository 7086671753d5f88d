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

// Has the largest number of members.
struct Wide {
  int a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, i = 8, j = 9, k = 10, l = 11, m = 12, n = 13, o = 14,
      p = 15, q = 16, r = 17, s = 18, t = 19, u = 20, v = 21, w = 22, x = 23, y = 24, z = 25, aa = 26, ab = 27, ac = 28,
      ad = 29, ae = 30, af = 31, ag = 32, ah = 33, ai = 34, aj = 35, ak = 36, al = 37, am = 38, an = 39, ao = 40;
};
TRACE_FIELDS(Wide, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad, ae, af,
             ag, ah, ai, aj, ak, al, am, an, ao)

struct Recursive {
  int n = 0;
  std::vector<Recursive> below;
};
TRACE_FIELDS(Recursive, n, below)

// Classes that list private members.
class Block {
 public:
  Block() = default;

 private:
  friend TRACE_FIELDS(Block, size_, kind_, rest)

      enum class Kind {
        small,
        large
      };
  friend TRACE_ENUM(Kind, small, large)

      struct Rest {
    int bytes_ = 3;
  };
  friend TRACE_FIELDS(Rest, bytes_)

      int size_ = 16;
  Kind kind_ = Kind::large;
  Rest rest;
};
class OpenBlock {
  int size_ = 17;

 public:
  TRACE_FIELDS(OpenBlock, size_)
};
class DerivedBlock : public OpenBlock {};

// Class templates.
template <class T>
struct Span {
  T* data;
  int size_;
};
template <class T>
TRACE_FIELDS(outer::Span<T>, size_)
template <class Key, class Item>
class Pair {
 public:
  Pair(Key key, Item item) : key_(key), item_(item) {}

 private:
  friend TRACE_FIELDS(Pair, key_, item_) Key key_;
  Item item_;
};
template <class T>
class Box {
 public:
  explicit Box(T item) : item_(item) {}
  TRACE_FIELDS(Box, item_)

 private:
  T item_;
};
template <class T>
struct Holder {
  enum class State { empty, full };
  friend TRACE_ENUM(State, empty, full)
};

// Has names whose underscore does not only mark a member.
struct Underscores {
  int _ = 1;
  int two__ = 2;
  int _three = 3;
};
TRACE_FIELDS(Underscores, _, two__, _three)

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

TEST(TraceFields, AcceptsFortyOneMembers) {
  std::string const text = text_of(outer::Wide());
  EXPECT_EQ(text.substr(0, 19), "Wide { a: 0, b: 1, ");
  EXPECT_EQ(text.substr(text.size() - 16), "an: 39, ao: 40 }");
}

TEST(TraceFields, PrintsPrivateMembersThatTheClassLists) {
  EXPECT_EQ(text_of(outer::Block()), "Block { size: 16, kind: large, rest: Rest { bytes: 3 } }");
  EXPECT_EQ(text_of(outer::OpenBlock()), "OpenBlock { size: 17 }");
  outer::OpenBlock const constant;
  EXPECT_EQ(text_of(constant), "OpenBlock { size: 17 }");
  EXPECT_EQ(text_of(outer::DerivedBlock()), "OpenBlock { size: 17 }");
  struct Local {
    int n_ = 1;
    TRACE_FIELDS(Local, n_)
  };
  EXPECT_EQ(text_of(std::vector<Local>(2)), "[Local { n: 1 }, Local { n: 1 }]");
}

TEST(TraceFields, DescribesTemplates) {
  EXPECT_EQ(text_of(outer::Span<int>{nullptr, 4}), "Span { size: 4 }");
  EXPECT_EQ(text_of(outer::Pair<int, std::string>(1, "one")), "Pair { key: 1, item: \"one\" }");
  EXPECT_EQ(text_of(outer::Box<outer::Box<int>>(outer::Box<int>(5))), "Box { item: Box { item: 5 } }");
}

TEST(TraceFields, DropsTheUnderscoreOfAMember) {
  EXPECT_EQ(text_of(outer::Underscores()), "Underscores { _: 1, two__: 2, _three: 3 }");
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
  EXPECT_EQ(text_of(outer::Holder<int>::State::full), "full");
}

}  // namespace
