// Tests Registry::attach(): a layer that comes and goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/filter/targets.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Notes the calls that it gets.
class Notes final : public tracing::Layer {
 public:
  explicit Notes(std::vector<std::string>& notes) : notes_(notes) {}
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::all | tracing::Hooks::scopes; }
  void on_new_span(tracing::SpanRef span, tracing::NewSpan const&, tracing::Context const&) noexcept override {
    note("new ", span);
  }
  void on_enter(tracing::SpanRef span, tracing::Context const&) noexcept override { note("enter ", span); }
  void on_exit(tracing::SpanRef span, tracing::Context const&) noexcept override { note("exit ", span); }
  void on_close(tracing::SpanRef span, tracing::Context const&) noexcept override { note("close ", span); }
  void on_scope_begin(tracing::SpanRef span, tracing::Context const&) noexcept override { note("begin ", span); }
  void on_scope_end(tracing::SpanRef span, tracing::Context const&) noexcept override { note("end ", span); }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    auto const span = context.event_span(event);
    notes_.push_back("event in " + std::string(span ? span.metadata().name() : "none"));
  }
  void on_timed(tracing::SpanRef span, tracing::Timing const&, tracing::Context const&) noexcept override {
    note("timed ", span);
  }

 private:
  void note(char const* what, tracing::SpanRef span) { notes_.push_back(what + std::string(span.metadata().name())); }
  std::vector<std::string>& notes_;
};

class Attach : public testing::Test {
 protected:
  bool attach(tracing::LevelFilter level = tracing::LevelFilter::trace) {
    return registry_->attach(layer_, std::make_unique<tracing::Targets>(tracing::Targets().with_default(level)));
  }

  std::vector<std::string> own_;
  std::vector<std::string> notes_;
  std::shared_ptr<tracing::Registry> const registry_ =
      tracing::RegistryBuilder()
          .with(std::make_unique<Notes>(own_),
                std::make_unique<tracing::Targets>(tracing::Targets().with_default(tracing::LevelFilter::info)))
          .build();
  std::shared_ptr<Notes> const layer_ = std::make_shared<Notes>(notes_);
  tracing::ScopedDefault const scope_{registry_};
};

TEST_F(Attach, GetsWhatItsFilterLetsPassAndOthersSeeTheSameAsBefore) {
  auto const run = [] {
    TRACE_SPAN(debug, "detail");
    TRACE_SPAN(info, "work");
    TRACE_INFO("event");
    TRACE_TRACE("noise");
  };
  ASSERT_TRUE(attach(tracing::LevelFilter::debug));
  run();
  EXPECT_THAT(notes_, ElementsAre("begin detail", "begin work", "event in work", "end work", "end detail"));
  auto const attached = std::exchange(own_, {});
  registry_->detach();
  notes_.clear();
  run();
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_EQ(attached, own_);
  EXPECT_THAT(own_, ElementsAre("begin work", "event in work", "end work"));
}

TEST_F(Attach, GetsTheEndsOfSpansThatBeganMeanwhile) {
  ASSERT_TRUE(attach());
  tracing::Span const held = TRACE_MAKE_SPAN(trace, "held");
  {
    TRACE_SPAN(info, "scope");
    registry_->detach();
    TRACE_SPAN(info, "later");
    held.in_scope([] {});
  }
  EXPECT_THAT(notes_, ElementsAre("new held", "begin scope", "enter held", "exit held", "end scope"));
}

TEST_F(Attach, GetsNothingOfSpansThatWereOpen) {
  TRACE_SPAN(info, "outer");
  tracing::Span const held = TRACE_MAKE_SPAN(info, "held");
  ASSERT_TRUE(attach());
  held.in_scope([] { TRACE_INFO("event"); });
  EXPECT_THAT(notes_, ElementsAre("event in none"));
}

TEST_F(Attach, HasRoomForOneFilter) {
  EXPECT_TRUE(attach());
  EXPECT_FALSE(attach());
  registry_->detach();
  EXPECT_TRUE(attach());
}

TEST_F(Attach, GetsPerfSpans) {
  ASSERT_TRUE(attach());
  { TRACE_PERF("fast"); }
  EXPECT_THAT(notes_, ElementsAre("begin fast", "timed fast", "end fast"));
}

TEST_F(Attach, TurnsNoCallsiteOnWhileNothingIsAttached) {
  auto const registry =
      tracing::RegistryBuilder().with(std::make_unique<Notes>(own_), std::make_unique<tracing::Targets>()).build();
  EXPECT_EQ(registry->max_level_hint(), tracing::LevelFilter::off);
  tracing::with_default(registry, [] { EXPECT_FALSE(TRACE_ENABLED(error)); });
}

// A registry without layers keeps its spans, with or without attach().
TEST_F(Attach, WorksInARegistryWithoutLayers) {
  auto const registry = tracing::RegistryBuilder().build();
  tracing::with_default(registry, [&] {
    TRACE_SPAN(info, "outer");
    EXPECT_FALSE(tracing::Span::current().is_none());
    ASSERT_TRUE(registry->attach(
        layer_, std::make_unique<tracing::Targets>(tracing::Targets().with_default(tracing::LevelFilter::trace))));
    TRACE_SPAN(info, "inner");
    registry->detach();
  });
  EXPECT_THAT(notes_, ElementsAre("begin inner", "end inner"));
}

TEST_F(Attach, HasRoomBesideAsManyLayersAsThereMayBe) {
  tracing::RegistryBuilder builder;
  for (std::size_t i = 0; i < tracing::RegistryBuilder::kMaxLayers + 3; ++i)
    builder.with(std::make_unique<Notes>(own_));
  auto const registry = std::move(builder).build();
  tracing::with_default(registry, [&] {
    ASSERT_TRUE(registry->attach(
        layer_, std::make_unique<tracing::Targets>(tracing::Targets().with_default(tracing::LevelFilter::trace))));
    TRACE_INFO("event");
  });
  EXPECT_EQ(notes_.size(), 1u);
  EXPECT_EQ(own_.size(), tracing::RegistryBuilder::kMaxLayers);
}

}  // namespace
