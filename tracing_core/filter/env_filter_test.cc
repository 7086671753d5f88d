#include "tracing_core/filter/env_filter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tracing_core/filter/filter_test_support.h"

namespace tracing {
namespace {

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
      {"1", true, Value::of_u64(1), true},
      {"1", true, Value::of_f64(1), false},
      {"0.1", true, Value::of_f32(0.1F), true},
      {"true", true, Value::of_bool(true), true},
      {"1", true, Value::of_verbatim("1"), false},
      {"bob", true, Value::of_text("bob"), true},
      {"\"bob\"", true, Value::of_text("bob"), false},
      {"\"bob\"", false, Value::of_text("bob"), true},
      {"bob", false, Value::of_text("bob"), false},
      {"bob", false, Value::of_verbatim("bob"), true},
      {"42", true, Value::of_i128(42), false},
      {"4.", true, Value::of_i128(42), false},
      {"4[0-9]", true, Value::of_i128(42), true},
      {".*", true, Value(), false},
  };
  for (auto const& c : cases) {
    EnvFilter f = filter(std::string("[s{x=").append(c.wanted).append("}]=trace"), {.regex = c.regex});
    FilteredSpan const span(f, span_site("a", "s", Level::info, {"x"}), {{"x", c.value}});
    span.enter();
    EXPECT_EQ(passes(f, event_site("a", Level::trace)), c.matches) << c.wanted << " regex " << c.regex;
    span.exit();
  }
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

// A callsite as macros make them: its metadata is never destroyed. The name and target may be changed, to see whether
// they are read again.
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

// The level of the state of a new span as a filter stores it: whether trace passes inside of it.
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
  std::swap(matched.text[1], foreign.text[1]);  // not read again
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(lets_trace_pass(f, matched.metadata, 1));
    EXPECT_FALSE(lets_trace_pass(f, matched.metadata, 2)) << "each span has its own values";
    EXPECT_FALSE(lets_trace_pass(f, foreign.metadata, 1));
  }
  f.add_directive(*Directive::parse("[{x=3}]=trace"));  // what was found is forgotten
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
  for (int i = 0; i < 100; ++i) {  // often at the same address
    bool const is_named = i % 2 == 0;
    auto const span = span_site("app", is_named ? "s" : "t", Level::info, {"x"});
    EXPECT_EQ(f.callsite_enabled(span.metadata()), is_named ? Interest::always : Interest::sometimes);
    EXPECT_EQ(lets_trace_pass(f, span.metadata(), 0), is_named);
  }
}

}  // namespace
}  // namespace tracing
