#include "tracing_core/filter/env_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tracing_core/filter/filter_test_support.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/model/value_of.h"

namespace tracing { namespace {

EnvFilter filter(std::string_view text, EnvFilterOptions const& options = {}) {
  ParseError error;
  auto parsed = EnvFilter::parse(text, options, &error);
  if (!parsed) ADD_FAILURE() << text << ": " << error.message;
  return parsed ? *std::move(parsed) : EnvFilter("off");
}

EnvFilterOptions by_default(std::string_view directive) { return {.default_directive = Directive::parse(directive)}; }

bool passes(EnvFilter& filter, RuntimeCallsite const& site) { return filter.enabled(site.metadata()); }

TEST(EnvFilter, PrintsStaticDirectivesBeforeDynamicOnes) {
  EXPECT_EQ(filter("info,foo=debug,foo::bar=warn").to_string(), "foo::bar=warn,foo=debug,info");
  EXPECT_EQ(filter("[s]=debug,info").to_string(), "info,[s]=debug");
  EXPECT_EQ(filter("[{x}]=debug").to_string(), "[{x}]=debug,[{x}]=debug");
  EXPECT_EQ(filter("foo=info,foo=debug").to_string(), "foo=debug");
  EXPECT_EQ(filter("[s{x=1}]=info,[s{x=1}]=debug").to_string(), "[s{x=1}]=debug");
  EXPECT_EQ(filter("[s{x=a}]=info,[s{x=a}]=debug", {.regex = false}).to_string(), "[s{x=a}]=debug");
}

TEST(EnvFilter, MaxLevelHintIsTheMostVerboseLevel) {
  EXPECT_EQ(filter("").max_level_hint(), LevelFilter::off);
  EXPECT_EQ(filter("info,foo=debug").max_level_hint(), LevelFilter::debug);
  EXPECT_EQ(filter("foo=trace,foo=info").max_level_hint(), LevelFilter::trace);
  EXPECT_EQ(filter("[s]=debug,info").max_level_hint(), LevelFilter::debug);
  EXPECT_EQ(filter("[s{x=1}]=off").max_level_hint(), LevelFilter::trace);
}

TEST(EnvFilter, UsesTheDefaultOnlyIfTheTextContainsNoDirective) {
  EXPECT_EQ(EnvFilter("").to_string(), "error");
  EXPECT_EQ(EnvFilter("foo").to_string(), "foo=trace");
  EXPECT_EQ(filter("", by_default("warn")).to_string(), "warn");
  EXPECT_EQ(filter("[s]", by_default("warn")).to_string(), "[s]=trace");
}

TEST(EnvFilter, ParseLossySkipsInvalidDirectives) {
  std::vector<ParseError> errors;
  EXPECT_EQ(EnvFilter::parse_lossy("foo=bar,info,=x", {}, &errors).to_string(), "info");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[1].piece, "=x");
  ParseError error;
  EXPECT_FALSE(EnvFilter::parse("info,=x,foo=bar", {}, &error));
  EXPECT_EQ(error.position, 5u);
}

TEST(EnvFilter, WritesErrorsToStderrIfTheyAreNotCollected) {
  testing::internal::CaptureStderr();
  EnvFilter const lossy("foo=bar,info,=x");
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "ignoring `foo=bar`: error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", "
      "\"debug\", \"trace\", or a number 0-5\n"
      "  foo=bar,info,=x\n"
      "      ^~~ not a level; levels are off, error, warn, info, debug, trace or 0 to 5\n"
      "ignoring `=x`: invalid filter directive\n"
      "  foo=bar,info,=x\n"
      "               ^ a target is missing before \"=\"; the level of all other targets is written without \"=\"\n");
  EXPECT_EQ(lossy.to_string(), "info");
}

TEST(EnvFilter, ReadsTheEnvironment) {
  setenv("ENV_FILTER_TEST", "foo=debug", 1);
  EXPECT_EQ(EnvFilter::from_env({.variable = "ENV_FILTER_TEST"}).to_string(), "foo=debug");
  unsetenv("ENV_FILTER_TEST");
  EnvFilterOptions options = by_default("warn");
  options.variable = "ENV_FILTER_TEST";
  EXPECT_EQ(EnvFilter::from_env(options).to_string(), "warn");
}

TEST(EnvFilter, TheMostSpecificDirectiveDecidesAlone) {
  EnvFilter f = filter("info,app=off,app::db=debug");
  struct {
    std::string_view target;
    Level level;
    Interest interest;
  } const cases[] = {
      {"other", Level::info, Interest::always},    {"other", Level::debug, Interest::never},
      {"app", Level::error, Interest::never},      {"app_other", Level::error, Interest::never},
      {"app::db", Level::debug, Interest::always}, {"app::db::pool", Level::trace, Interest::never},
  };
  for (auto const& c : cases) {
    auto const event = event_site(c.target, c.level);
    EXPECT_EQ(f.callsite_enabled(event.metadata()), c.interest) << c.target;
    EXPECT_EQ(passes(f, event), c.interest == Interest::always) << c.target;
  }
}

TEST(EnvFilter, RequiresFieldsOfEventsButNotOfSpans) {
  EnvFilter f = filter("[{x}]=debug");
  EXPECT_TRUE(passes(f, event_site("a", Level::debug, {"x", "y"})));
  EXPECT_FALSE(passes(f, event_site("a", Level::debug, {"y"})));
  EXPECT_FALSE(passes(f, event_site("a", Level::trace, {"x"})));
  EXPECT_TRUE(passes(f, span_site("a", "s", Level::debug, {"y"})));
}

TEST(EnvFilter, LetsMorePassInsideANamedSpan) {
  EnvFilter f = filter("[s]=debug,info");
  auto const debug = event_site("a", Level::debug), trace = event_site("a", Level::trace), s = span_site("b", "s");
  EXPECT_EQ(f.callsite_enabled(s.metadata()), Interest::always);
  EXPECT_EQ(f.callsite_enabled(debug.metadata()), Interest::sometimes);
  EXPECT_FALSE(passes(f, debug));
  FilteredSpan const span(f, s);
  span.enter();
  EXPECT_TRUE(passes(f, debug));
  EXPECT_TRUE(f.enabled_now(debug.metadata()));
  EXPECT_FALSE(passes(f, trace));
  span.exit();
  EXPECT_FALSE(passes(f, debug));
}

TEST(EnvFilter, UsesTheMostVerboseLevelOfTheEnteredSpans) {
  EnvFilter f = filter("[a]=trace,[b]=info,error");
  auto const trace = event_site("x", Level::trace), info = event_site("x", Level::info);
  FilteredSpan const a(f, span_site("x", "a")), b(f, span_site("x", "b"));
  b.enter(), a.enter(), b.enter();
  EXPECT_TRUE(passes(f, trace));
  b.exit();
  EXPECT_TRUE(passes(f, trace));
  b.exit();  // out of order: removes the level that was pushed last
  EXPECT_FALSE(passes(f, trace));
  EXPECT_TRUE(passes(f, info));
  a.exit();
  EXPECT_FALSE(passes(f, info));
}

TEST(EnvFilter, MatchesSpanFieldValue) {
  EnvFilter f = filter("[s{x=1,name=b.*}]=trace");
  auto const trace = event_site("a", Level::trace);
  auto const s = span_site("a", "s", Level::info, {"x", "name"});
  EXPECT_EQ(f.callsite_enabled(s.metadata()), Interest::always);
  EXPECT_EQ(f.callsite_enabled(span_site("a", "s", Level::info, {"x"}).metadata()), Interest::sometimes);
  FilteredSpan span(f, s, {{"x", Value::of_i64(1)}});
  span.enter();
  EXPECT_FALSE(passes(f, trace));
  span.record({{"name", Value::of_text("bob")}});
  EXPECT_FALSE(passes(f, trace)) << "counts from the next enter on";
  span.record({{"x", Value::of_i64(2)}, {"name", Value::of_text("alice")}});
  span.exit();
  span.enter();
  EXPECT_TRUE(passes(f, trace)) << "a value that matched once stays matched";
  span.exit();
}

TEST(EnvFilter, MatchesPatternsWithDebugOutput) {
  struct {
    std::string_view wanted;
    bool regex;
    Value value;
    bool matches;
  } const cases[] = {
      {"1", true, Value::of_u64(1), true},          {"1", true, Value::of_f64(1), false},
      {"0.1", true, Value::of_f32(0.1F), true},     {"true", true, Value::of_bool(true), true},
      {"1", true, Value::of_text("1"), false},      {"bob", true, Value::of_text("bob"), true},
      {"bo", true, Value::of_text("bob"), false},   {"\"bob\"", false, Value::of_text("bob"), true},
      {"bob", false, Value::of_text("bob"), false}, {"bob", false, Value::of_verbatim("bob"), true},
      {"43", true, Value::of_i128(42), false},      {"4.", true, Value::of_i128(42), false},
      {"4[0-9]", true, Value::of_i128(42), true},   {".*", true, Value(), false},
  };
  for (auto const& c : cases) {
    EnvFilter f = filter(std::string("[s{x=").append(c.wanted).append("}]=trace"), {.regex = c.regex});
    FilteredSpan const span(f, span_site("a", "s", Level::info, {"x"}), {{"x", c.value}});
    span.enter();
    EXPECT_EQ(passes(f, event_site("a", Level::trace)), c.matches) << c.wanted << " regex " << c.regex;
    span.exit();
  }
}

// True if `[s{x=...}]` matches a span with this value of `x`.
bool matches(std::string_view wanted, Value const& value, EnvFilterOptions const& options = {}) {
  EnvFilter f = filter(std::string("[s{x=").append(wanted).append("}]=trace"), options);
  FilteredSpan const span(f, span_site("a", "s", Level::info, {"x"}), {{"x", value}});
  span.enter();
  bool const found = passes(f, event_site("a", Level::trace));
  span.exit();
  return found;
}

struct Dim {
  int x;
  friend std::ostream& operator<<(std::ostream& out, Dim dim) { return out << "Dim(" << dim.x << ", [2]) {a+b}"; }
};

// Returns the text that follows `x=` in a line.
std::string shown(Value const& value) {
  InlineTextBuffer<256> out;
  append_debug(out, value);
  return std::string(out.view());
}

TEST(EnvFilter, MatchesWhatALineShows) {
  using internal::value_of;
  enum class Color { red };
  auto const color = Color::red;
  auto const grid = std::tuple(4, 64, 1);
  auto const list = std::vector<int>{1, 2};
  auto const names = std::vector<std::string>{"a,b", "c}d", "e\"f", "g\\"};
  auto const map = std::map<std::string, std::vector<double>>{{"a=b", {1.5, 1e300}}, {"]=", {}}};
  auto const nested = std::pair(std::string("x}]=trace,y"), map);
  auto const some = std::optional<std::string>("Some(..)");
  auto const path = std::filesystem::path("C:\\dir\\x (1).txt");
  auto const dim = Dim{3};
  auto const failure = std::runtime_error("cannot open \"a,b\" (no such file)");
  Value const values[] = {
      value_of(grid),
      value_of(list),
      value_of(names),
      value_of(map),
      value_of(nested),
      value_of(some),
      value_of(path),
      value_of(dim),
      value_of(color),
      Value::of_error(failure),
      Value::of_bool(true),
      Value::of_i64(-5),
      Value::of_u64(7),
      Value::of_f64(0.1),
      Value::of_f64(1e300),
      Value::of_f64(-1.0 / 3),
      Value::of_f32(0.1F),
      Value::of_f64(std::nan("")),
      Value::of_f64(std::numeric_limits<double>::infinity()),
      Value::of_f64(-std::numeric_limits<double>::infinity()),
      Value::of_i128(-42),
      Value::of_bytes("\n\xff", 2),
      Value::of_pointer(&dim),
      Value::of_text(""),
      Value::of_text("alice"),
      Value::of_text("1"),
      Value::of_text("true"),
      Value::of_text("\"bob\""),
      Value::of_text("a,b"),
      Value::of_text("a}]=off,b"),
      Value::of_text("x=y"),
      Value::of_text("((+*?"),
      Value::of_text("C:\\x\\"),
      Value::of_text("line\nline\t\x1b[31m\u202e\xff"),
      Value::of_text("\\u{41}"),
      Value::of_verbatim("1.5"),
      Value::of_verbatim("add<float, 2>(float*, int)"),
      Value::of_verbatim("a+b"),
      Value::of_verbatim("[1, 2]"),
      Value::of_verbatim("\"bob\""),
      Value::of_verbatim("Point { x: 1, y: (2, 3) }"),
  };
  for (Value const& value : values) {
    std::string const text = shown(value);
    EXPECT_TRUE(matches(text, value)) << text;
    InlineTextBuffer<256> quoted;
    append_quoted(quoted, value.kind() == ValueKind::text ? value.as_text() : std::string_view(text));
    EXPECT_TRUE(matches(quoted.view(), value)) << quoted.view();
    for (Value const& other : values) {
      if (other.kind() != value.kind() || shown(other) == text) continue;
      EXPECT_FALSE(matches(quoted.view(), other)) << quoted.view() << " on " << shown(other);
    }
  }
}

TEST(EnvFilter, ReadsPatternsAsTheReferenceOnRequest) {
  EnvFilterOptions const reference{.literal_text = false};
  EXPECT_FALSE(matches("\"bob\"", Value::of_text("bob"), reference));
  EXPECT_TRUE(matches("\"bob\"", Value::of_verbatim("\"bob\""), reference));
  EXPECT_FALSE(matches("(4, 64, 1)", Value::of_text("(4, 64, 1)"), reference));
  EXPECT_FALSE(matches("1", Value::of_verbatim("1"), reference));
  EXPECT_FALSE(matches("inf", Value::of_f64(std::numeric_limits<double>::infinity()), reference));
  EXPECT_FALSE(EnvFilter::parse("info,[s{x=(}]", reference));
  EXPECT_TRUE(EnvFilter::parse("info,[s{x=(}]"));
  EnvFilter later = filter("info", reference).add_directive(*Directive::parse("[s{x=a+b}]"));
  FilteredSpan const span(later, span_site("a", "s", Level::info, {"x"}), {{"x", Value::of_text("a+b")}});
  span.enter();
  EXPECT_FALSE(passes(later, event_site("a", Level::trace)));
  span.exit();
}

TEST(EnvFilter, LevelsApplyToTheirThreadOnly) {
  EnvFilter f = filter("[s]=debug");
  auto const debug = event_site("a", Level::debug);
  FilteredSpan const span(f, span_site("a", "s"));
  span.enter();
  std::thread([&] { EXPECT_FALSE(passes(f, debug)); }).join();
  EXPECT_TRUE(passes(f, debug));
  span.exit();
}

TEST(EnvFilter, FiltersHaveIndependentLevels) {
  std::vector<EnvFilter> filters;
  for (int i = 0; i < 9; ++i) filters.push_back(filter("[s]=debug"));
  auto const debug = event_site("a", Level::debug);
  FilteredSpan const span(filters[0], span_site("a", "s"));
  span.enter();
  for (EnvFilter& f : filters) EXPECT_EQ(passes(f, debug), &f == &filters[0]);
  span.exit();
  EXPECT_FALSE(passes(filters[0], debug));
}

TEST(EnvFilter, ADestroyedFilterLeavesNoLevelToTheNext) {
  auto const debug = event_site("a", Level::debug), s = span_site("a", "s");
  for (int i = 0; i < 100; ++i) {
    EnvFilter f = filter("[s]=debug");
    EXPECT_FALSE(passes(f, debug));
    FilteredSpan const span(f, s);
    span.enter();
    EXPECT_TRUE(passes(f, debug));
  }
}

TEST(EnvFilter, AcceptsDirectivesLater) {
  EnvFilter f =
      filter("info").add_directive(*Directive::parse("app=debug")).add_directive(*Directive::parse("[a,b]=trace"));
  EXPECT_EQ(f.to_string(), "app=debug,info,[a,b]=trace");
  EXPECT_EQ(f.max_level_hint(), LevelFilter::trace);
  f.add_directive(*Directive::parse("[{x}]=warn"));
  EXPECT_EQ(f.to_string(), "app=debug,[{x}]=warn,info,[a,b]=trace")
      << "a field without value that is added is static only";
  EnvFilter literal = filter("info", {.regex = false}).add_directive(*Directive::parse("[s{x=b.b}]"));
  FilteredSpan const span(literal, span_site("a", "s", Level::info, {"x"}), {{"x", Value::of_verbatim("bob")}});
  span.enter();
  EXPECT_FALSE(passes(literal, event_site("a", Level::trace)));
  span.exit();
}

// A callsite as macros make it: its metadata is never destroyed. Tests may change the name and the target, to see
// whether they are read again.
struct StaticSpan {
  char text[6] = {'s', 'a', 'p', 'p', 'x', 0};
  internal::FieldEntry const field = internal::field_entry(4, "x", 1, 0);
  Metadata const metadata{internal::MetadataParts{.text = text,
                                                  .fields = &field,
                                                  .name_size = 1,
                                                  .target_size = 3,
                                                  .field_count = 1,
                                                  .value_count = 1,
                                                  .level = Level::info,
                                                  .kind = Kind::span}};
};

// True if trace passes inside a new span, by the level in the state that a filter stores for it.
bool lets_trace_pass(EnvFilter& f, Metadata const& span, std::int64_t x) {
  Recorded const values = {{"x", Value::of_i64(x)}};
  std::uintptr_t state = 0;
  f.on_new_span(NewSpan{Values(span, values).fields()}, state);
  if (state == 0) return false;
  f.on_enter(state);
  bool const passes_now = passes(f, event_site("a", Level::trace));
  f.on_exit(state);
  f.on_close(state);
  return passes_now;
}

TEST(EnvFilter, FindsTheDirectivesOfACallsiteOnce) {
  EnvFilter f = filter("app[s{x=1}]=trace,app[s]=info,other[s{x=2}]=trace,error");
  StaticSpan matched, foreign;
  foreign.text[1] = 'A';
  EXPECT_EQ(f.callsite_enabled(matched.metadata), Interest::always);
  EXPECT_EQ(f.callsite_enabled(foreign.metadata), Interest::sometimes);
  std::swap(matched.text[1], foreign.text[1]);  // the filter does not read the names again
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(lets_trace_pass(f, matched.metadata, 1));
    EXPECT_FALSE(lets_trace_pass(f, matched.metadata, 2)) << "each span has its own values";
    EXPECT_FALSE(lets_trace_pass(f, foreign.metadata, 1));
  }
  f.add_directive(*Directive::parse("[{x=3}]=trace"));  // the filter forgets the matches that it found
  EXPECT_EQ(f.callsite_enabled(matched.metadata), Interest::always);
  EXPECT_FALSE(lets_trace_pass(f, matched.metadata, 1));
  EXPECT_TRUE(lets_trace_pass(f, matched.metadata, 3));
  EXPECT_TRUE(lets_trace_pass(f, foreign.metadata, 1));
}

TEST(EnvFilter, FindsTheDirectivesOfManyCallsitesOnAnyThread) {
  EnvFilter f = filter("app[s{x=1}]=trace");
  std::vector<StaticSpan> spans(2000);
  for (std::size_t i = 0; i < spans.size(); i += 2) spans[i].text[1] = 'A';
  auto const use_all = [&] {
    for (std::size_t i = 0; i < spans.size(); ++i) EXPECT_EQ(lets_trace_pass(f, spans[i].metadata, 1), i % 2 == 1) << i;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(use_all);
  for (std::thread& thread : threads) thread.join();
}

TEST(EnvFilter, ACallsiteMadeAtRunTimeMayReplaceAnother) {
  EnvFilter f = filter("[s]=trace");
  for (int i = 0; i < 100; ++i) {  // a new callsite is often at the address of the last
    bool const is_named = i % 2 == 0;
    auto const span = span_site("app", is_named ? "s" : "t", Level::info, {"x"});
    EXPECT_EQ(f.callsite_enabled(span.metadata()), is_named ? Interest::always : Interest::sometimes);
    EXPECT_EQ(lets_trace_pass(f, span.metadata(), 0), is_named);
  }
}

}}  // namespace tracing
