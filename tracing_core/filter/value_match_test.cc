#include "tracing_core/filter/value_match.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace tracing { namespace {

ValueMatch value(std::string_view text, ValueSyntax syntax = ValueSyntax::regex) {
  std::string error;
  auto const match = ValueMatch::parse(text, syntax, error);
  EXPECT_TRUE(match) << text << ": " << error;
  return *match;
}

TEST(ValueMatch, ComparesByTheRecordedType) {
  EXPECT_TRUE(value("true").matches_bool(true));
  EXPECT_FALSE(value("true").matches_bool(false));
  EXPECT_FALSE(value("1").matches_bool(true));
  EXPECT_TRUE(value("1").matches_u64(1));
  EXPECT_TRUE(value("1").matches_i64(1));
  EXPECT_FALSE(value("1").matches_f64(1.0));
  EXPECT_FALSE(value("18446744073709551615").matches_i64(-1));
  EXPECT_TRUE(value("-1").matches_i64(-1));
  EXPECT_FALSE(value("-1").matches_u64(~std::uint64_t{0}));
  EXPECT_TRUE(value("1.5").matches_f64(1.5));
  EXPECT_FALSE(value("1.5").matches_u64(1));
  EXPECT_TRUE(value("-0.0").matches_f64(0.0));
  EXPECT_FALSE(value("inf").matches_f64(std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(value("nan").matches_f64(std::nan("")));
  EXPECT_FALSE(value("nan").matches_f64(0.0));
  EXPECT_FALSE(value("1").matches_text("1"));
}

TEST(ValueMatch, PatternsMustMatchUpToTheEnd) {
  struct {
    std::string_view pattern, text;
    bool matches;
  } const cases[] = {
      {"o", "bob", false},   {"b.b", "xbob", true}, {"foo", "foofoo", false}, {"foo", "fofoo", true},
      {"a|ab", "ab", false}, {"ab|a", "ab", true},  {"bob.*", "bobby", true}, {"a*", "b", false},
      {"", "", true},        {"", "x", false},      {".", "\n", false},       {"(?s).", "\n", true},
      {"^ab$", "ab", true},  {"[^a]", "bb", false}, {"日本", "x日本", true},  {"a??", "a", false},
  };
  for (auto const& c : cases) {
    EXPECT_EQ(value(c.pattern).matches_text(c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(ValueMatch, AcceptsRustsRegexSyntax) {
  struct {
    std::string_view pattern, text;
    bool matches;
  } const cases[] = {
      {"\\u0041\\u{42}\\U00000043\\x44\\x{45}", "ABCDE", true},
      {"\\d+", "٣", true},
      {"(?-u)\\d+", "٣", false},
      {"(?-u:\\d)\\d", "1٣", true},
      {"\\w+", "日本", true},
      {"(?-u:\\w+)\\w", "a日", true},
      {"^(?-u:\\w+)$", "日", false},
      {"[\\w-]+", "日-é", true},
      {"^\\W$", "-", true},
      {"^\\W$", "é", false},
      {"(?-u)[\\Wa]", "é", true},
      {"^\\D[\\D]$", "é٣", false},
      {"\\s", "\u3000", true},
      {"[^\\S]", "\u00a0", true},
      {"^\\S$", "\u00a0", false},
      {"^[\\s\\S]$", "\u3000", true},
      {"\\pN\\p{L}[\\p{Lu}]", "1aB", true},
      {"\\p{Greek}\\P{Greek}\\p{^Greek}", "αaa", true},
      {"(?i)BOB", "bob", true},
      {"(?P<ux>a) (?<n>b)(?:c)", "a bc", true},
      {"(?x) a b # comment", "ab", true},
      {"(?x: a )( )b", "a b", true},
      {"[[:alpha:]]+", "ab", true},
      {"[]a]+", "]a", true},
      {"Foo { a: 1 }", "Foo { a: 1 }", true},
  };
  for (auto const& c : cases) {
    EXPECT_EQ(value(c.pattern).matches_text(c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(ValueMatch, ReportsWhyAPatternIsInvalid) {
  struct {
    std::string_view pattern, error;
  } const cases[] = {
      {"(", "missing ): ("},
      {"(?=a)", "look-around is not supported"},
      {"(?<!a)", "look-around is not supported"},
      {"(?R)a", "invalid perl operator: (?R"},
      {"(a)\\1", "backreferences are not supported"},
      {"\\Qa", "unknown escape: \\Q"},
      {"\\b{start}", "\\b{...} is not supported"},
      {"[\\Wa]", "\\W inside brackets is not supported; write [^\\w]"},
      {"[a[b]]", "a [ inside brackets is not supported; write \\["},
      {"[a&&b]", "set operations inside brackets are not supported"},
      {"[a", "missing ]: [a"},
      {"\\u{110000}", "invalid escape sequence: \\x{110000"},
      {"\\u{41", "invalid code point after a backslash"},
      {"\\u1}ab", "invalid code point after a backslash"},
      {"\\u12", "invalid code point after a backslash"},
      {"\\p{Letter}", "invalid character class range: \\p{Letter}"},
      {"a\\", "trailing \\"},
      {"[a\\", "trailing \\"},
      {"\xff", "invalid UTF-8"},
  };
  for (auto const& c : cases) {
    std::string error;
    EXPECT_FALSE(ValueMatch::parse(c.pattern, ValueSyntax::regex, error)) << c.pattern;
    EXPECT_EQ(error, c.error) << c.pattern;
  }
}

TEST(ValueMatch, ComparesLiterallyWithRegexOff) {
  EXPECT_TRUE(value("bob", ValueSyntax::printed).matches_literal("bob"));
  EXPECT_TRUE(value("bob", ValueSyntax::printed).matches_literal("bo"));
  EXPECT_FALSE(value("bob", ValueSyntax::printed).matches_literal("bobby"));
  EXPECT_FALSE(value("b.b", ValueSyntax::printed).matches_literal("bob"));
  EXPECT_TRUE(value("(", ValueSyntax::printed).is_literal());
  EXPECT_TRUE(value("bob").read_as(ValueSyntax::printed).matches_literal("bob"));
  EXPECT_TRUE(value("1", ValueSyntax::printed).matches_u64(1));
}

TEST(ValueMatch, MatchesItsOwnTextOrARegularExpression) {
  struct {
    std::string_view wanted, text;
    bool matches;
  } const cases[] = {
      {"(4, 64, 1)", "(4, 64, 1)", true},
      {"(4, 64, 1)", "grid 4, 64, 1", true},
      {"(4, 64, 1)", "(4, 64, 1)x", false},
      {"a+b", "a+b", true},
      {"a+b", "aab", true},
      {"a+b", "xa+b", false},
      {"\"a,b\"", "a,b", true},
      {"\"a,b\"", "\"a,b\"", true},
      {"\"a,b\"", "xa,b", false},
      {"\"a.b\"", "axb", false},
      {"\"a.b\"", "\"axb\"", true},
      {"\"C:\\\\x\"", "C:\\x", true},
      {"\"C:\\x\"", "C:\\x", true},
      {"\"say \\\"hi\\\"\"", "say \"hi\"", true},
      {"\"\\n\\t\\r\\0\\'\\u{e9}\\u{20ac}\\u{1f600}\\x1b\"",
       {"\n\t\r\0'\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x1b", 15},
       true},
      {"\"\"", "", true},
      {"\"", "\"", true},
      {"\"((\"", "((", true},
      {"1", "1", true},
      {"1.50", "1.50", true},
      {"true", "true", true},
  };
  for (auto const& c : cases) {
    EXPECT_EQ(value(c.wanted, ValueSyntax::text_or_regex).matches_text(c.text), c.matches)
        << c.wanted << " on " << c.text;
  }
  EXPECT_TRUE(value("c++", ValueSyntax::text_or_regex).matches_text("c++"));
  EXPECT_EQ(value("c++", ValueSyntax::text_or_regex).pattern_error(), "bad repetition operator: ++");
  EXPECT_EQ(value("\"c++\"", ValueSyntax::text_or_regex).pattern_error(), "");
  EXPECT_TRUE(value("inf", ValueSyntax::text_or_regex).matches_f64(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(value("\"a,b\"").matches_text("a,b")) << "as the reference";
}

TEST(ValueMatch, OrdersByTypeThenValue) {
  std::string_view const sorted[] = {"false", "true", "-1.5", "0.5", "nan", "0", "1", "-2", "-1", "a", "b"};
  for (std::size_t i = 0; i < std::size(sorted); ++i) {
    for (std::size_t j = 0; j < std::size(sorted); ++j) {
      EXPECT_EQ(value(sorted[i]) <=> value(sorted[j]), i <=> j) << sorted[i] << " and " << sorted[j];
    }
  }
}

}}  // namespace tracing
