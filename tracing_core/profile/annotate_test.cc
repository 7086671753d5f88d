#include "tracing_core/profile/annotate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/profile/profile_test_support.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tracing::AnnotationLevel;
using tracing::kv;
using tracing_test::profiled;

TEST(Annotation, IsASpanOfTheProfile) {
  int const batch = 7;
  EXPECT_THAT(profiled([&] {
                TRACE_ANNOTATE("forward", batch, kv("layer", "conv1"));
                TRACE_SPAN(info, "inner");
              }),
              ElementsAre("forward{batch=7 layer=\"conv1\"}", "forward > inner"));
}

TEST(Annotation, DoesNotEvaluateItsArgumentsWithoutAProfile) {
  int evaluated = 0;
  auto const run = [&] {
    TRACE_ANNOTATE("macro", kv("n", ++evaluated));
    TRACE_STEP(++evaluated);
  };
  run();
  EXPECT_EQ(evaluated, 0);
  EXPECT_THAT(profiled(run), ElementsAre("macro{n=1}", "macro > step{step_num=2}"));
  run();
  EXPECT_EQ(evaluated, 2);
}

TEST(Annotation, IsInAProfileOfItsLevel) {
  auto const run = [] {
    { TRACE_ANNOTATE("critical"); }
    { TRACE_ANNOTATE_AT(info, "info"); }
    { TRACE_ANNOTATE_AT(verbose, "verbose"); }
    tracing::annotate("named critical", [] {});
    tracing::annotate(AnnotationLevel::info, "named info", [] {});
    tracing::annotate(AnnotationLevel::verbose, "named verbose", [] {});
  };
  EXPECT_THAT(profiled(run, {.annotations = AnnotationLevel::critical}), ElementsAre("critical", "named critical"));
  EXPECT_THAT(profiled(run), ElementsAre("critical", "info", "named critical", "named info"));
  EXPECT_EQ(profiled(run, {.annotations = AnnotationLevel::verbose}).size(), 6u);
  EXPECT_THAT(profiled(run, {.host = false}), IsEmpty());
}

// The filters of other layers decide about spans and events only.
TEST(Annotation, IsNotForOtherLayers) {
  class Counting final : public tracing::Layer {
   public:
    explicit Counting(int& spans) : spans_(spans) {}
    void on_new_span(tracing::SpanRef, tracing::NewSpan const&, tracing::Context const&) noexcept override { ++spans_; }

   private:
    int& spans_;
  };
  int spans = 0;
  tracing::ScopedDefault const scope(tracing::RegistryBuilder().with(std::make_unique<Counting>(spans)).build());
  EXPECT_THAT(profiled([] {
                TRACE_ANNOTATE("macro");
                tracing::annotate("named", [] { TRACE_SPAN(info, "span"); });
              }),
              ElementsAre("macro", "macro > named", "macro > named > span"));
  EXPECT_EQ(spans, 1);
}

TEST(Annotation, MayHaveANameMadeAtRunTime) {
  std::vector<std::string> const names{"a", "b", "a"};
  EXPECT_THAT(profiled([&] {
                for (std::string const& name : names)
                  tracing::annotate(
                      "layer " + name, [] { TRACE_SPAN(info, "x"); }, kv("n", name.size()));
                tracing::annotate("layer a", [] {});
              }),
              ElementsAre("layer a{n=1}", "layer a > x", "layer b{n=1}", "layer b > x", "layer a{n=1}", "layer a > x",
                          "layer a"));
}

TEST(Annotation, MayHaveAnyNumberOfNames) {
  constexpr int kNames = 10'000;
  auto const lines = profiled([] {
    for (int i = 0; i < kNames; ++i) tracing::annotate("n" + std::to_string(i), [] {});
  });
  ASSERT_EQ(lines.size(), std::size_t{kNames});
  for (int i = 0; i < kNames; ++i) ASSERT_EQ(lines[static_cast<std::size_t>(i)], "n" + std::to_string(i));
}

TEST(Annotation, ReturnsWhatTheFunctionReturns) {
  int n = 0;
  auto const run = [&] {
    int& same = tracing::annotate("reference", [&]() -> int& { return n; });
    EXPECT_EQ(&same, &n);
    EXPECT_EQ(tracing::annotate("value", [] { return std::make_unique<int>(3); }) == nullptr, false);
  };
  run();
  EXPECT_EQ(profiled(run).size(), 2u);
}

TEST(Annotation, EndsWithAnException) {
  EXPECT_THAT(profiled([] {
                EXPECT_THROW(tracing::annotate("throws", [] { throw std::runtime_error("x"); }), std::runtime_error);
                TRACE_SPAN(info, "after");
              }),
              ElementsAre("throws", "after"));
}

}  // namespace
