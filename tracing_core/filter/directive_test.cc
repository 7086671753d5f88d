#include "tracing_core/filter/directive.h"

#include <gtest/gtest.h>

#include <ctime>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/directive_scan.h"
#include "tracing_core/filter/nearest.h"
#include "tracing_core/filter/parse_error.h"

namespace tracing { namespace {

// Prints the parsed directives, followed by each error as "!position+length".
std::string dump(std::string_view text, ValueSyntax syntax = ValueSyntax::text_or_regex) {
  std::string out;
  auto const parsed = parse_directives(text, syntax);
  for (Directive const& directive : parsed.directives) {
    out.append(out.empty() ? "" : " ").append(directive.to_string());
    if (directive.fields.size() > 1) out.append("#").append(std::to_string(directive.fields.size()));
  }
  for (ParseError const& error : parsed.errors) {
    out.append(out.empty() ? "!" : " !").append(std::to_string(error.position)).append("+");
    out += std::to_string(error.length);
  }
  return out;
}

struct Case {
  std::string_view text;
  std::string_view expected;
};

TEST(Directive, ParsesTargetsSpansFieldsAndLevels) {
  constexpr Case kCases[] = {
      {"info", "info"},
      {"OFF", "off"},
      {"5", "trace"},
      {"6", "6=trace"},
      {"foo", "foo=trace"},
      {"foo=", "foo=trace"},
      {"foo=+3", "foo=info"},
      {"a::b=debug", "a::b=debug"},
      {"[s]", "[s]=trace"},
      {"[]=info", "[]=info"},
      {"t[s{x}]=info", "t[s{x}]=info"},
      {"[{x}]", "[{x}]=trace"},
      {"t[s{x=1}]=info", "t[s{x=1}]=info"},
      {"[a {x}]", "[a {x}]=trace"},
      {"[[]", "[[]=trace"},
      {"日本=info", "日本=info"},
      {"-a", "-a=trace"},
      {"", ""},
      {",,", ""},
      {"info,,debug", "info debug"},
  };
  for (Case const& c : kCases) EXPECT_EQ(dump(c.text), c.expected) << c.text;
}

TEST(Directive, NormalisesNumbers) {
  constexpr Case kCases[] = {
      {"[{x=+1}]", "[{x=1}]=trace"},
      {"[{x=007}]", "[{x=7}]=trace"},
      {"[{x=-0}]", "[{x=0}]=trace"},
      {"[{x=-0.0}]", "[{x=-0}]=trace"},
      {"[{x=1.}]", "[{x=1}]=trace"},
      {"[{x=.5}]", "[{x=0.5}]=trace"},
      {"[{x=1e3}]", "[{x=1000}]=trace"},
      {"[{x=1e23}]", "[{x=100000000000000000000000}]=trace"},
      {"[{x=1.25e-7}]", "[{x=0.000000125}]=trace"},
      {"[{x=12345.678}]", "[{x=12345.678}]=trace"},
      {"[{x=18446744073709551616}]", "[{x=18446744073709552000}]=trace"},
      {"[{x=1e999}]", "[{x=inf}]=trace"},
      {"[{x=-1e-999}]", "[{x=-0}]=trace"},
      {"[{x=0.001e400}]", "[{x=inf}]=trace"},
      {"[{x=Infinity}]", "[{x=inf}]=trace"},
      {"[{x=-NAN}]", "[{x=NaN}]=trace"},
  };
  for (Case const& c : kCases) EXPECT_EQ(dump(c.text), c.expected) << c.text;
}

TEST(Directive, IgnoresSurroundingWhiteSpace) {
  EXPECT_EQ(dump(" a=info ,\tb=debug\n, ,info\u3000"), "a=info b=debug info");
  EXPECT_EQ(dump("\u00a0[s{x=1, y=2}]=info"), "[s{x=1,y=2}]=info#2");
}

TEST(Directive, FieldListsMayContainCommasBracesAndEqualsSigns) {
  constexpr Case kCases[] = {
      {"[s{a=1,b=2}]=debug,foo", "[s{a=1,b=2}]=debug#2 foo=trace"},
      {"t[s{a=1,b,c=x}],info", "t[s{a=1,b,c=x}]=trace#3 info"},
      {"[s{x=a{2,3}}]", "[s{x=a{2,3}}]=trace"},
      {"[s{x=a{2},y=b{1,2}}]", "[s{x=a{2},y=b{1,2}}]=trace#2"},
      {"[s{x=\"a,b}\",y=1}]", "[s{x=\"a,b}\",y=1}]=trace#2"},
      {"[s{x=\"a\\\",b\"}]", "[s{x=\"a\\\",b\"}]=trace"},
      {"[s{x=(a,b|c),y=[d,e]}]", "[s{x=(a,b|c),y=[d,e]}]=trace#2"},
      {"[s{x=\\(4, 64, 1\\)}]", "[s{x=\\(4, 64, 1\\)}]=trace"},
      {"[s{x=a=b==c}]", "[s{x=a=b==c}]=trace"},
      {"[s{x=add<float, 4>(float*, int),y=1}],t", "[s{x=add<float, 4>(float*, int),y=1}]=trace#2 t=trace"},
      {"[s{x=f<auto (int) -> int, 3>,y=1}]", "[s{x=f<auto (int) -> int, 3>,y=1}]=trace#2"},
      {"[s{x=a<b,y=c->d,z=1}]", "[s{x=a<b,y=c->d,z=1}]=trace#3"},
      {"[s{x=(1, {\"a}\": 2}),y}],t", "[s{x=(1, {\"a}\": 2}),y}]=trace#2 t=trace"},
      {"[s{x=(\"a\", \"b}c\"),y}],t", "[s{x=(\"a\", \"b}c\"),y}]=trace#2 t=trace"},
      {"[s{x=\\p{L}+}]", "[s{x=\\p{L}+}]=trace"},
      {"[s{x=\\}}]", "[s{x=\\}}]=trace"},
  };
  for (Case const& c : kCases) EXPECT_EQ(dump(c.text), c.expected) << c.text;
  EXPECT_EQ(dump("[s{x=Foo { a: 1, b: \"}\" }}]=info,bar", ValueSyntax::printed),
            "[s{x=Foo { a: 1, b: \"}\" }}]=info bar=trace");
}

TEST(Directive, AnInvalidDirectiveDoesNotSwallowTheNext) {
  constexpr Case kCases[] = {
      {"[s{a]=info,foo=debug", "foo=debug !2+8"},
      {"a[s{b],foo=debug,[t{x=1,y}]", "foo=debug [t{x=1,y}]=trace#2 !3+3"},
      {"[s,foo", "foo=trace !0+2"},
      {"a=b=c,foo", "foo=trace !2+3"},
  };
  for (Case const& c : kCases) EXPECT_EQ(dump(c.text), c.expected) << c.text;
}

TEST(Directive, AValueNeedNotBeARegularExpression) {
  for (std::string_view const text :
       {"[s{x=(}]=trace", "[s{x=C:\\x}]=trace", "[s{x=[[1, 2], [3]]}]=trace", "[s{x=\"(\"}]=trace"}) {
    EXPECT_EQ(dump(text), text);
    EXPECT_TRUE(Directive::parse(text)) << text;
  }
  EXPECT_EQ(dump("[s{x=(}],info", ValueSyntax::regex), "info !5+1");
}

TEST(Directive, ErrorsHaveAMessagePositionAndHint) {
  struct {
    std::string_view text, message, piece, hint;
    std::size_t position, length;
  } const cases[] = {
      {"info,=debug", "invalid filter directive", "=debug",
       "a target is missing before \"=\"; the level of all other targets is written without \"=\"", 5, 0},
      {"*", "invalid filter directive", "*", "expected a target, a level or \"[\"", 0, 1},
      {"[s", "invalid filter directive", "[s", "the \"[\" is never closed by \"]\"", 0, 2},
      {"[{x}", "invalid filter directive", "[{x}", "the \"[\" is never closed by \"]\"", 0, 4},
      {"[{x]", "invalid filter directive", "[{x]", "the \"{\" is never closed by \"}\"", 1, 3},
      {"[{a,,b}]", "invalid filter directive", "[{a,,b}]", "a field name is missing", 4, 0},
      {"[s]b", "invalid filter directive", "[s]b", "expected \"=\" and a level, or nothing, after \"]\"", 3, 1},
      {"a, b=wran",
       "error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", "
       "\"trace\", or a number 0-5",
       "b=wran", "not a level; did you mean \"warn\"? levels are off, error, warn, info, debug, trace or 0 to 5", 5, 4},
      {"a= info",
       "error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", "
       "\"trace\", or a number 0-5",
       "a= info", "blanks around \"=\" are not allowed", 2, 5},
      {"[{x=(}]", "invalid field filter: missing ): (", "[{x=(}]", "not a regular expression: missing ): (", 4, 1},
  };
  for (auto const& c : cases) {
    auto const parsed = parse_directives(c.text, ValueSyntax::regex);
    ASSERT_EQ(parsed.errors.size(), 1u) << c.text;
    ParseError const& error = parsed.errors.front();
    EXPECT_EQ(error.message, c.message) << c.text;
    EXPECT_EQ(error.piece, c.piece) << c.text;
    EXPECT_EQ(error.hint, c.hint) << c.text;
    EXPECT_EQ(error.position, c.position) << c.text;
    EXPECT_EQ(error.length, c.length) << c.text;
  }
}

TEST(Directive, ParsesASingleDirectiveWithPositionsInTheGivenText) {
  ParseError error;
  EXPECT_FALSE(Directive::parse("  foo=bar", &error));
  EXPECT_EQ(error.position, 6u);
  EXPECT_EQ(Directive::parse("[a,b]=info")->to_string(), "[a,b]=info");
  EXPECT_FALSE(Directive::parse("a,b"));
  EXPECT_FALSE(Directive::parse(""));
}

TEST(Directive, SortsTheMostSpecificFirst) {
  std::vector<std::string_view> const sorted{"longer=info", "b[s]",   "b[{x,y}]", "b[{x}]", "b",     "a",
                                             "[s{x=1}]",    "[s{x}]", "[t]",      "[s]",    "[{x}]", "info"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      auto const order = compare_specificity(*Directive::parse(sorted[i]), *Directive::parse(sorted[j]));
      EXPECT_EQ(order, i <=> j) << sorted[i] << " and " << sorted[j];
    }
  }
}

// Joins random tokens of the grammar, with a fixed seed.
TEST(Directive, ParsesRandomTexts) {
  constexpr std::string_view kPieces[] = {"[",      "]",      "{",    "}",  ",",    "=",      "\"",  "\\",   "(",
                                          ")",      "|",      "*",    "+",  "?",    "info",   "foo", "span", "x",
                                          "1",      "-1.5e3", "nan",  " ",  "\t",   "::",     ".",   "日",   "\xff",
                                          "\\p{L}", "^",      "\\u{", "(?", "a{2}", "\u3000", "\n",  "<",    ">"};
  std::mt19937 random(20260108);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned n = random() % 24; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
    for (ValueSyntax const syntax : {ValueSyntax::text_or_regex, ValueSyntax::printed}) {
      auto const parsed = parse_directives(text, syntax);
      for (ParseError const& error : parsed.errors) {
        ASSERT_LE(error.position + error.length, text.size()) << text;
        ASSERT_FALSE(render(error, text, "TRACE_FILTER").empty());
      }
      for (Directive const& directive : parsed.directives) ASSERT_FALSE(directive.to_string().empty()) << text;
    }
  }
}

TEST(Directive, TakesTimeLinearInTheText) {
  for (std::string_view const piece :
       {"[{", "[s{x=\"", "a,", "[s{x=((((", "[{x=a{", "=", "]", "[s{x=\"\\\"", "[s{x=([)}]"}) {
    std::string text;
    while (text.size() < 200'000) text += piece;
    std::clock_t const start = std::clock();  // processor time: a busy machine does not change it
    parse_directives(text, ValueSyntax::printed);
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC) << piece;
  }
}

// Parses a text that joins the patterns by commas, each as `[{x=pattern}]`. Returns the hint of each error.
std::vector<std::string> errors_of_patterns(std::vector<std::string> const& patterns) {
  std::string text;
  for (std::string const& pattern : patterns) text += "[{x=" + pattern + "}],";
  std::vector<std::string> hints;
  for (ParseError const& error : parse_directives(text).errors) hints.push_back(error.hint);
  return hints;
}

std::string repeated(std::string_view piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

TEST(Directive, PatternsHaveABudget) {
  constexpr char kTooLong[] = "the pattern is longer than 4096 bytes";
  constexpr char kTooLarge[] = "the pattern takes more than 2 MiB";
  constexpr char kTooMany[] = "the patterns of the filter take more than 8 MiB";
  using Errors = std::vector<std::string>;
  EXPECT_EQ(errors_of_patterns({std::string(4096, 'a'), R"(\w+@\w+\.\w+)", R"((?i)get|put|\d{1,3})"}), Errors{});
  EXPECT_EQ(errors_of_patterns(std::vector<std::string>(500, "matmul_.*|GET /[a-z]+")), Errors{});
  EXPECT_EQ(errors_of_patterns({std::string(4097, 'a'), "a+"}), Errors{kTooLong});
  EXPECT_EQ(errors_of_patterns({R"(\w{900})", "a+"}), Errors{kTooLarge});
  EXPECT_EQ(errors_of_patterns({repeated(R"(\pL)", 1300), "a+"}), Errors{kTooLarge});
  Errors const many = errors_of_patterns(std::vector<std::string>(1000, R"(\w+)"));
  ASSERT_GT(many.size(), 0u);
  EXPECT_EQ(many.front(), kTooMany);
  EXPECT_LT(many.size(), 1000u - 30);
  auto const parsed = parse_directives("info,[{x=" + repeated("a", 5000) + "}]=trace");
  ASSERT_EQ(parsed.errors.size(), 1u);
  EXPECT_EQ(parsed.errors[0].message, std::string("invalid field filter: ") + kTooLong);
  EXPECT_EQ(parsed.errors[0].position, 9u);
  EXPECT_EQ(parsed.errors[0].length, 5000u);
}

TEST(Directive, HostilePatternsAreRefusedSoon) {
  for (std::string const& pattern : {std::string(R"(\w{900})"), repeated(R"(\pL)", 1300), repeated(R"((?i)\w)", 600),
                                     repeated("(", 900) + "a" + repeated(")", 900), repeated("a{1000}", 500)}) {
    std::clock_t const start = std::clock();  // processor time, whatever else the machine does
    errors_of_patterns(std::vector<std::string>(50, pattern));
    EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC) << pattern.substr(0, 20);
  }
}

TEST(ParseError, ShowsACaretBelowTheError) {
  auto const shown = [](std::string_view text) {
    auto const parsed = parse_directives(text);
    return render(parsed.errors.at(0), text, "TRACE_FILTER");
  };
  EXPECT_EQ(
      shown("info,foo=debgu,bar=trace"),
      "TRACE_FILTER: invalid filter directive\n"
      "  info,foo=debgu,bar=trace\n"
      "           ^~~~~ not a level; did you mean \"debug\"? levels are off, error, warn, info, debug, trace or 0 "
      "to 5");
  EXPECT_EQ(shown("日本=é,info"),
            "TRACE_FILTER: invalid filter directive\n"
            "  日本=é,info\n"
            "     ^ not a level; levels are off, error, warn, info, debug, trace or 0 to 5");
  EXPECT_EQ(shown("a\nb,[s"),
            "TRACE_FILTER: invalid filter directive\n"
            "  a?b,[s\n"
            "      ^~ the \"[\" is never closed by \"]\"");
}

TEST(ParseError, ShowsOnlyThePartOfALongTextAroundTheError) {
  std::string const text = std::string(500, 'a') + ",[b" + std::string(500, 'c');
  auto const parsed = parse_directives(text);
  std::string const shown = render(parsed.errors.at(0), text, "TRACE_FILTER");
  EXPECT_EQ(shown, "TRACE_FILTER: invalid filter directive\n  ..." + std::string(59, 'a') + ",[b" +
                       std::string(78, 'c') + "...\n" + std::string(65, ' ') + "^" + std::string(39, '~') +
                       " the \"[\" is never closed by \"]\"");
}

TEST(Nearest, FindsTheNameThatWasMeant) {
  constexpr std::string_view kNames[] = {"launch_inner", "compile", "gpu::memory"};
  EXPECT_EQ(internal::nearest("lanch_inner", kNames), "launch_inner");
  EXPECT_EQ(internal::nearest("Compiel", kNames), "compile");
  EXPECT_EQ(internal::nearest("network", kNames), "");
  EXPECT_EQ(internal::edit_distance("abc", "acb"), 1u);
  EXPECT_EQ(internal::edit_distance("", "abc"), 3u);
}

}}  // namespace tracing
