#include "tracing_core/perf/finish_perf.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "tracing_core/perf/perf_test_support.h"

namespace tracing::perf_test { namespace {

using namespace std::chrono_literals;

TEST(FinishPerf, ReportsTheGivenDurationInTheSpan) {
  Collected collected;
  Span work;
  {
    TRACE_SPAN(info, "launch", kv("stream", 7));
    work = TRACE_MAKE_PERF("gpu_work", kv("grid_size", 4), target("gpu"));
  }
  finish_perf(std::move(work), 1234us);
  EXPECT_EQ(
      collected.take(),
      "DEBUG launch{stream=7}:perf{name=\"gpu_work\" grid_size=4}: gpu: performance_span_complete duration_us=1234 "
      "duration_ms=1.234\n");
  PerfSummary const summary = collected.summary();
  ASSERT_NE(summary.find("gpu_work"), nullptr);
  EXPECT_EQ(summary.find("gpu_work")->total_ns, 1'234'000u);
  EXPECT_EQ(summary.find("gpu_work")->self_ns, 1'234'000u);
}

TEST(FinishPerf, MayEndASpanOfAnotherThread) {
  Collected collected;
  Span work = TRACE_MAKE_PERF("work", target("t"));
  std::thread([&] { finish_perf(std::move(work), 3us); }).join();
  EXPECT_EQ(collected.take(),
            "DEBUG perf{name=\"work\"}: t: performance_span_complete duration_us=3 duration_ms=0.003\n");
}

TEST(FinishPerf, LeavesASpanThatThisThreadIsIn) {
  Collected collected;
  Span work = TRACE_MAKE_PERF("work", kv("steps", empty), target("t"));
  internal::enter(work.open());
  TRACE_INFO("inside", target("t"));
  work.record(kv("steps", 5));
  finish_perf(std::move(work), 3us, 1us);
  TRACE_INFO("outside", target("t"));
  EXPECT_EQ(collected.take(),
            " INFO perf{name=\"work\"}: t: inside\n"
            "DEBUG perf{name=\"work\" steps=5}: t: performance_span_complete duration_us=3 duration_ms=0.003\n"
            " INFO t: outside\n");
  EXPECT_EQ(collected.summary().find("work")->self_ns, 1000u);
}

TEST(FinishPerf, ReportsOnceAndClosesTheSpanWithItsLastHandle) {
  Collected collected;
  Span work = TRACE_MAKE_PERF("work", target("t"));
  Span const other = work;
  finish_perf(std::move(work), 3us);
  other.in_scope([] { TRACE_INFO("still open", target("t")); });
  EXPECT_EQ(collected.summary().find("work")->count, 1u);
  EXPECT_EQ(collected.take(),
            "DEBUG perf{name=\"work\"}: t: performance_span_complete duration_us=3 duration_ms=0.003\n"
            " INFO perf{name=\"work\"}: t: still open\n");
}

TEST(FinishPerf, ASpanThatIsNotFinishedHasNoDuration) {
  Collected collected;
  { Span const work = TRACE_MAKE_PERF("work"); }
  EXPECT_EQ(collected.take(), "");
  EXPECT_EQ(collected.summary().find("work"), nullptr);
}

TEST(FinishPerf, HoldsToTheThresholdOfTheLayer) {
  Collected collected({.threshold = 10us});
  finish_perf(TRACE_MAKE_PERF("short"), 9us);
  finish_perf(TRACE_MAKE_PERF("negative"), -9us);
  EXPECT_EQ(collected.take(), "");
  EXPECT_EQ(collected.summary().find("short")->count, 1u);
  EXPECT_EQ(collected.summary().find("negative")->total_ns, 0u);
}

TEST(MakePerf, EvaluatesNothingWhilePerfSpansAreOff) {
  std::string text;
  auto const registry = RegistryBuilder().with(print_layer({.writer = to_text(text)})).build();
  int evaluated = 0;
  with_default(registry, [&] {
    Span work = TRACE_MAKE_PERF("work", kv("evaluated", ++evaluated));
    EXPECT_TRUE(work.is_none());
    finish_perf(std::move(work), 3us);
  });
  EXPECT_EQ(text, "");
  EXPECT_EQ(evaluated, 0);
}

TEST(PerfEnabled, DependsOnTheLevelAndTheTargetAlone) {
  auto const levels = [] {
    return std::string(TRACE_PERF_ENABLED(debug, target("gpu")) ? "debug " : "") +
           (TRACE_PERF_ENABLED(trace, target("gpu")) ? "trace " : "") +
           (TRACE_PERF_ENABLED(trace, target("other")) ? "other" : "");
  };
  EXPECT_EQ(levels(), "");
  {
    Collected collected;
    EXPECT_EQ(levels(), "debug ");
  }
  Collected collected({.directives = "gpu=trace"});
  EXPECT_EQ(levels(), "debug trace ");
}

}}  // namespace tracing::perf_test
