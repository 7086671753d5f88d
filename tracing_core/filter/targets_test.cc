#include "tracing_core/filter/targets.h"

#include <gtest/gtest.h>

#include "tracing_core/filter/filter_test_support.h"

namespace tracing { namespace {

TEST(Targets, ParsesLevelsOfTargets) {
  struct {
    std::string_view text, printed;
  } const cases[] = {
      {"", "error"},
      {"info,app=debug", "app=debug,info"},
      {"app", "app=trace"},
      {"app=", "app=error"},
      {"=info", "=info"},
      {"app[{x}]=info", "app[{x}]=info"},
      {"app[{x,y}]=info", "app[{x=trace,y}]=info"},
      {"app=info,app=warn", "app=warn"},
      {"[span]=info", "[span]=info"},
  };
  for (auto const& c : cases) {
    auto const targets = Targets::parse(c.text);
    ASSERT_TRUE(targets) << c.text;
    EXPECT_EQ(targets->to_string(), c.printed) << c.text;
  }
}

TEST(Targets, ReportsTheFirstError) {
  struct {
    std::string_view text, message, piece;
    std::size_t position;
  } const cases[] = {
      {"a,b=c=d", "invalid filter directive: too many '=' in filter directive, expected 0 or 1", "b=c=d", 5},
      {"a[{b}][{c}]=info", "invalid filter directive: too many '[{' in filter directive, expected 0 or 1",
       "a[{b}][{c}]=info", 6},
      {"a[{b}=info", "invalid filter directive: expected fields list to end with '}]'", "a[{b}=info", 1},
      {"a=inf",
       "error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", \"trace\", "
       "or a number 0-5",
       "a=inf", 2},
  };
  for (auto const& c : cases) {
    ParseError error;
    EXPECT_FALSE(Targets::parse(c.text, &error)) << c.text;
    EXPECT_EQ(error.message, c.message) << c.text;
    EXPECT_EQ(error.piece, c.piece) << c.text;
    EXPECT_EQ(error.position, c.position) << c.text;
    EXPECT_FALSE(error.hint.empty()) << c.text;
  }
}

TEST(Targets, TheLongestTargetDecides) {
  Targets targets = Targets()
                        .with_default(LevelFilter::info)
                        .with_target("app", LevelFilter::off)
                        .with_target("app::database", LevelFilter::debug);
  EXPECT_EQ(targets.to_string(), "app::database=debug,app=off,info");
  EXPECT_EQ(targets.default_level(), LevelFilter::info);
  EXPECT_EQ(targets.targets().size(), 2u);
  EXPECT_EQ(targets.max_level_hint(), LevelFilter::debug);
  EXPECT_TRUE(targets.would_enable("other", Level::info));
  EXPECT_FALSE(targets.would_enable("app", Level::error));
  EXPECT_FALSE(targets.would_enable("app::databas", Level::debug));
  EXPECT_TRUE(targets.would_enable("app::database::pool", Level::debug));
  EXPECT_EQ(targets.callsite_enabled(event_site("other", Level::info).metadata()), Interest::always);
  EXPECT_EQ(targets.callsite_enabled(event_site("other", Level::debug).metadata()), Interest::never);
  EXPECT_FALSE(targets.follows_spans());
}

TEST(Targets, RequiresFieldsOfEvents) {
  Targets targets = *Targets::parse("app[{x}]=debug");
  EXPECT_TRUE(targets.enabled(event_site("app", Level::debug, {"x"}).metadata()));
  EXPECT_FALSE(targets.enabled(event_site("app", Level::debug, {"y"}).metadata()));
  EXPECT_TRUE(targets.enabled(span_site("app", "s").metadata()));
  EXPECT_FALSE(targets.would_enable("app", Level::error));
}

}}  // namespace tracing
