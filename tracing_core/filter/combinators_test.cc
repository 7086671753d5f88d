#include "tracing_core/filter/combinators.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/filter_test_support.h"
#include "tracing_core/filter/targets.h"

namespace tracing { namespace {

auto is_span() {
  return filter_fn([](Metadata const& metadata) { return metadata.is_span(); });
}
auto undecided(bool answer) {
  return dynamic_filter_fn([answer](Metadata const&, FilterContext const&) { return answer; });
}

TEST(FilterFn, IsCalledOncePerCallsite) {
  auto const f = filter_fn([](Metadata const& metadata) { return metadata.target() == "app"; }, LevelFilter::info);
  EXPECT_EQ(f->callsite_enabled(event_site("app", Level::info).metadata()), Interest::always);
  EXPECT_EQ(f->callsite_enabled(event_site("other", Level::info).metadata()), Interest::never);
  EXPECT_EQ(f->callsite_enabled(event_site("app", Level::debug).metadata()), Interest::never);
  EXPECT_EQ(f->max_level_hint(), LevelFilter::info);
}

TEST(DynamicFilterFn, IsCalledForEveryRecord) {
  bool answer = false;
  auto const f = dynamic_filter_fn(
      [&answer](Metadata const&, FilterContext const& context) { return answer && context.current_span() == nullptr; },
      LevelFilter::info);
  auto const info = event_site("app", Level::info);
  EXPECT_EQ(f->callsite_enabled(info.metadata()), Interest::sometimes);
  EXPECT_EQ(f->callsite_enabled(event_site("app", Level::debug).metadata()), Interest::never);
  EXPECT_FALSE(f->enabled_now(info.metadata()));
  answer = true;
  EXPECT_TRUE(f->enabled_now(info.metadata()));
}

TEST(Combinators, CombineAnswersAboutCallsites) {
  auto const event = event_site("app", Level::info);
  auto const& metadata = event.metadata();
  auto const always = [] { return level_filter(LevelFilter::trace); };
  auto const never = [] { return level_filter(LevelFilter::off); };
  EXPECT_EQ(filter_all(always(), always())->callsite_enabled(metadata), Interest::always);
  EXPECT_EQ(filter_all(always(), undecided(true))->callsite_enabled(metadata), Interest::sometimes);
  EXPECT_EQ(filter_all(undecided(true), never())->callsite_enabled(metadata), Interest::never);
  EXPECT_EQ(filter_any(never(), always(), undecided(true))->callsite_enabled(metadata), Interest::always);
  EXPECT_EQ(filter_any(never(), undecided(true))->callsite_enabled(metadata), Interest::sometimes);
  EXPECT_EQ(filter_any(never(), never())->callsite_enabled(metadata), Interest::never);
  EXPECT_EQ(filter_none(never())->callsite_enabled(metadata), Interest::always);
  EXPECT_EQ(filter_none(always())->callsite_enabled(metadata), Interest::never);
  EXPECT_EQ(filter_none(undecided(true))->callsite_enabled(metadata), Interest::sometimes);
}

TEST(Combinators, CombineAnswersAboutRecords) {
  auto const event = event_site("app", Level::info);
  auto const& metadata = event.metadata();
  EXPECT_TRUE(filter_all(undecided(true), LevelFilter::info)->enabled(metadata));
  EXPECT_FALSE(filter_all(undecided(true), undecided(false))->enabled_now(metadata));
  EXPECT_TRUE(filter_any(undecided(false), LevelFilter::info)->enabled(metadata));
  EXPECT_FALSE(filter_any(undecided(false), is_span())->enabled(metadata));
  EXPECT_FALSE(filter_none(undecided(false), LevelFilter::info)->enabled(metadata));
  EXPECT_TRUE(filter_none(undecided(false), is_span())->enabled(metadata));
}

TEST(Combinators, CombineLevelHints) {
  EXPECT_EQ(filter_all(LevelFilter::info, LevelFilter::debug)->max_level_hint(), LevelFilter::info);
  EXPECT_EQ(filter_any(LevelFilter::info, LevelFilter::debug)->max_level_hint(), LevelFilter::debug);
  EXPECT_EQ(filter_none(LevelFilter::info)->max_level_hint(), LevelFilter::trace);
}

TEST(Combinators, AcceptAnythingThatToFilterAccepts) {
  auto const debug = event_site("app", Level::debug);
  auto const shared = std::make_shared<Targets>(Targets().with_default(LevelFilter::debug));
  EXPECT_TRUE(filter_all(EnvFilter("debug"), Targets().with_default(LevelFilter::trace), LevelFilter::trace,
                         std::shared_ptr<Filter>(shared), std::optional<EnvFilter>(), std::unique_ptr<Filter>())
                  ->enabled(debug.metadata()));
  EXPECT_FALSE(to_filter(std::optional<EnvFilter>(EnvFilter("info")))->enabled(debug.metadata()));
  EXPECT_TRUE(to_filter(std::make_unique<EnvFilter>("debug"))->enabled(debug.metadata()));
}

// Each filter keeps its own state for the same span.
TEST(Combinators, LetEveryFilterFollowSpans) {
  auto const both = filter_all(EnvFilter("[a]=debug"), EnvFilter("[{x=1}]=debug"));
  auto const debug = event_site("app", Level::debug);
  auto const a = span_site("app", "a", Level::info, {"x"}), b = span_site("app", "b", Level::info, {"y"});
  ASSERT_TRUE(both->follows_spans());
  FilteredSpan with_one(*both, a, {{"x", Value::of_i64(1)}}), later(*both, a), neither(*both, b);
  with_one.enter();
  EXPECT_TRUE(both->enabled_now(debug.metadata()));
  with_one.exit();
  later.enter();
  EXPECT_FALSE(both->enabled_now(debug.metadata()));
  later.exit();
  later.record({{"x", Value::of_i64(1)}});
  later.enter();
  EXPECT_TRUE(both->enabled_now(debug.metadata()));
  later.exit();
  neither.enter();
  EXPECT_FALSE(both->enabled_now(debug.metadata()));
  neither.exit();
  EXPECT_FALSE(filter_all(LevelFilter::info, is_span())->follows_spans());
}

TEST(Combinators, OneFilterMayDecideByTheValuesOfEvents) {
  struct OnlyRoots final : Filter {
    Interest callsite_enabled(Metadata const&) noexcept override { return Interest::always; }
    bool enabled(Metadata const&) noexcept override { return true; }
    bool wants_events() const noexcept override { return true; }
    bool event_enabled(Event const& event) noexcept override { return event.parent.kind == Parent::Kind::root; }
  };
  auto const site = event_site("app", Level::info);
  Event const root{FieldValues(site.metadata()), Parent::root()}, inner{FieldValues(site.metadata())};
  auto const all = filter_all(std::make_unique<OnlyRoots>(), LevelFilter::info);
  EXPECT_TRUE(all->wants_events());
  EXPECT_TRUE(all->event_enabled(root));
  EXPECT_FALSE(all->event_enabled(inner));
  EXPECT_FALSE(filter_any(std::make_unique<OnlyRoots>(), LevelFilter::off)->event_enabled(inner));
  EXPECT_TRUE(filter_any(std::make_unique<OnlyRoots>(), LevelFilter::info)->event_enabled(inner));
  EXPECT_FALSE(filter_all(LevelFilter::info)->wants_events());
}

}}  // namespace tracing
