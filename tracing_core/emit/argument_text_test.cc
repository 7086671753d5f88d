#include "tracing_core/emit/argument_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tracing::internal { namespace {

std::vector<std::string> split(std::string const& text, std::size_t expected) {
  std::vector<ArgumentRange> ranges(expected);
  if (!split_arguments(text.data(), text.size(), ranges.data(), expected)) return {"<unclear>"};
  std::vector<std::string> pieces;
  for (ArgumentRange const& range : ranges) pieces.emplace_back(text, range.begin, range.end - range.begin);
  return pieces;
}

std::string plain(std::string const& text) {
  ArgumentRange const range = plain_name(text.data(), {0, static_cast<std::uint16_t>(text.size())});
  return range.end == 0 ? "<none>" : text.substr(range.begin, std::size_t(range.end) - range.begin);
}

std::string quoted(std::string const& text) {
  ArgumentRange const range = quoted_name(text.data(), {0, static_cast<std::uint16_t>(text.size())});
  return range.end == 0 ? "<none>" : text.substr(range.begin, std::size_t(range.end) - range.begin);
}

TEST(ArgumentText, SplitsAtCommasOutsideBracketsAndLiterals) {
  struct Case {
    char const* text;
    std::vector<std::string> pieces;
  };
  Case const cases[] = {
      {"a", {"a"}},
      {"a, b", {"a", "b"}},
      {R"("moved {} bytes", n, grid.x)", {R"("moved {} bytes")", "n", "grid.x"}},
      {"f(a, b), c", {"f(a, b)", "c"}},
      {"a[i, j], c", {"a[i, j]", "c"}},
      {"T{1, 2}, c", {"T{1, 2}", "c"}},
      {"f({1, (2, 3)}, [](int a, int b) { return a, b; }), c",
       {"f({1, (2, 3)}, [](int a, int b) { return a, b; })", "c"}},
      {R"("a, b", c)", {R"("a, b")", "c"}},
      {R"("a\", b", c)", {R"("a\", b")", "c"}},
      {R"("a\\", b)", {R"("a\\")", "b"}},
      {R"("a\\\", b", c)", {R"("a\\\", b")", "c"}},
      {R"("", b)", {R"("")", "b"}},
      {R"("(", b)", {R"("(")", "b"}},
      {R"("a" "b, c", d)", {R"("a" "b, c")", "d"}},
      {R"("a" PRIu64 "b", d)", {R"("a" PRIu64 "b")", "d"}},
      {R"(',', b)", {"','", "b"}},
      {R"('\'', b)", {R"('\'')", "b"}},
      {R"('\\', b)", {R"('\\')", "b"}},
      {R"('"', b)", {"'\"'", "b"}},
      {"'(', b", {"'('", "b"}},
      {"u8',', L',', u',', U','", {"u8','", "L','", "u','", "U','"}},
      {"1'000, 0x1'F, b", {"1'000", "0x1'F", "b"}},
      {"R\"(a, \" b)\", c", {"R\"(a, \" b)\"", "c"}},
      {"R\"x(a, )\" b)x\", c", {"R\"x(a, )\" b)x\"", "c"}},
      {"u8R\"(a, \\)\", c", {"u8R\"(a, \\)\"", "c"}},
      {"LR\"(,)\", UR\"(,)\", uR\"(,)\"", {"LR\"(,)\"", "UR\"(,)\"", "uR\"(,)\""}},
      {"FOR\"a, b\", c", {"FOR\"a, b\"", "c"}},
      {"a < b, c > d", {"a < b", "c > d"}},
      {"a << b, c", {"a << b", "c"}},
      {"p->x, q->y", {"p->x", "q->y"}},
      {"[&]<class T>(T a, T b) -> int { return 1; }(1, 2), c",
       {"[&]<class T>(T a, T b) -> int { return 1; }(1, 2)", "c"}},
      {"operator\"\"_x(1, 2), c", {"operator\"\"_x(1, 2)", "c"}},
      {"a ? b : c, d", {"a ? b : c", "d"}},
      {"x, y,", {"x", "y", ""}},
  };
  for (Case const& c : cases) EXPECT_EQ(split(c.text, c.pieces.size()), c.pieces) << c.text;
}

TEST(ArgumentText, TreatsAnglesAsBracketsOnlyIfTheCountRequiresIt) {
  EXPECT_EQ(split("f<a, b>(c), d", 2), (std::vector<std::string>{"f<a, b>(c)", "d"}));
  EXPECT_EQ(split("f<a, b>(c), d", 3), (std::vector<std::string>{"f<a", "b>(c)", "d"}));
  EXPECT_EQ(split("std::map<int, std::pair<a, b>>{}, d", 2),
            (std::vector<std::string>{"std::map<int, std::pair<a, b>>{}", "d"}));
  EXPECT_EQ(split("f<a, b>(p->x), q->y", 2), (std::vector<std::string>{"f<a, b>(p->x)", "q->y"}));
  EXPECT_EQ(split("f<a, b>(), x < y", 2), (std::vector<std::string>{"f<a, b>()", "x < y"}));
}

TEST(ArgumentText, RejectsAmbiguousText) {
  EXPECT_EQ(split("a, b", 3), (std::vector<std::string>{"<unclear>"}));
  EXPECT_EQ(split("x < y, f<a, b>()", 2), (std::vector<std::string>{"<unclear>"}));
  EXPECT_EQ(split(std::string(70'000, 'a'), 1), (std::vector<std::string>{"<unclear>"}));
}

TEST(ArgumentText, DistinguishesNamesFromOtherExpressions) {
  struct Case {
    char const* text;
    char const* name;
  };
  Case const cases[] = {
      {"n", "n"},          {"grid.x", "grid.x"},     {"p->n", "p->n"},
      {"this->n", "n"},    {"this->p->n", "p->n"},   {"_a1.b2_", "_a1.b2"},
      {"größe", "größe"},  {"thisx", "thisx"},       {"this_one", "this_one"},
      {"errno", "errno"},  {"__func__", "__func__"}, {"N", "N"},
      {"trues", "trues"},  {"a.b->c.d", "a.b->c.d"}, {"this", "<none>"},
      {"true", "<none>"},  {"false", "<none>"},      {"nullptr", "<none>"},
      {"1", "<none>"},     {"a.1", "<none>"},        {"a()", "<none>"},
      {"a.b()", "<none>"}, {"a + b", "<none>"},      {"-a", "<none>"},
      {"a-b", "<none>"},   {"a->", "<none>"},        {"a.", "<none>"},
      {".a", "<none>"},    {"*p", "<none>"},         {"&x", "<none>"},
      {"a::b", "<none>"},  {"a[0]", "<none>"},       {"\"a\"", "<none>"},
      {"'a'", "<none>"},   {"(a)", "<none>"},        {"", "<none>"},
      {"a.b c", "<none>"}, {"this->", "<none>"},     {"int{}", "<none>"},
      {"n_", "n"},         {"this->n_", "n"},        {"a_.b_", "a_.b"},
      {"_", "_"},          {"n__", "n__"},           {"a._", "a._"},
  };
  for (Case const& c : cases) EXPECT_EQ(plain(c.text), c.name) << c.text;
}

TEST(ArgumentText, FindsTheNameOfAKeyValue) {
  struct Case {
    char const* text;
    char const* name;
  };
  Case const cases[] = {
      {R"(tracing::kv("kernel.name", f(x)))", "kernel.name"},
      {R"(kv( "a" , x))", "a"},
      {R"(tracing::target("a::b"))", "a::b"},
      {R"(tracing::kv("a-b", x))", "a-b"},
      {R"(tracing::kv("", x))", ""},
      {R"(tracing::kv(kName, "value"))", "<none>"},
      {R"(tracing::kv("a\n", x))", "<none>"},
      {R"(tracing::kv(R"x(a)x", x))", "<none>"},
      {R"(tracing::kv(u8"a", x))", "<none>"},
      {R"(tracing::kv("a" "b", x))", "<none>"},
      {R"(tracing::kv("a"s, x))", "<none>"},
      {R"(tracing::kv(name, x))", "<none>"},
  };
  for (Case const& c : cases) EXPECT_EQ(quoted(c.text), c.name) << c.text;
}

}}  // namespace tracing::internal
