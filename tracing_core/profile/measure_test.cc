#include "tracing_core/profile/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "tracing_core/emit/span.h"
#include "tracing_core/profile/profile_test_support.h"
#include "tracing_core/tracing.h"

namespace {

using testing::IsEmpty;
using testing::SizeIs;
using tracing::kv;
using tracing::ProfiledRun;
using tracing::ProfiledRuns;

// Emit what tracing::cuda does for a launch, a copy and a compilation.
void launch() {
  auto const span = TRACE_MAKE_SPAN(trace, "launch", tracing::target("tracing::cuda"), kv("kernel.name", "f"));
  span.in_scope([] { TRACE_TRACE("launched", tracing::target("tracing::cuda")); });
}
void copy(std::size_t bytes) {
  TRACE_SPAN(trace, "memcpy_htod_async", tracing::target("tracing::cuda"), bytes, kv("device", 0));
}
void compile() {
  auto const span = TRACE_MAKE_SPAN(trace, "compile", tracing::target("tracing::cuda"), kv("cache", tracing::empty));
  span.in_scope([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
}

TEST(ProfileOfRuns, SaysWhatEachRunDid) {
  int calls = 0;
  ProfiledRuns const runs = tracing::profile(
      [&] {
        if (calls++ == 0) compile();
        for (int i = 0; i < calls; ++i) launch();
        copy(100);
        std::thread([] { copy(28); }).join();
      },
      {.warmup = 1, .repeat = 3});
  EXPECT_EQ(runs.error, "");
  EXPECT_EQ(calls, 4);
  ASSERT_THAT(runs.warmup, SizeIs(1));
  ASSERT_THAT(runs.runs, SizeIs(3));
  EXPECT_GE(runs.warmup[0].compile_ns, 2'000'000u);
  EXPECT_GE(runs.warmup[0].runtime_ns, runs.warmup[0].compile_ns);
  EXPECT_EQ(runs.warmup[0].launches, 1u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(runs.runs[i].compile_ns, 0u);
    EXPECT_EQ(runs.runs[i].launches, i + 2);
    EXPECT_EQ(runs.runs[i].copied_bytes, 128u);
    EXPECT_GT(runs.runs[i].runtime_ns, 0u);
  }
}

TEST(ProfileOfRuns, DoesNotCountCallsThatAreCapturedIntoAGraph) {
  ProfiledRuns const runs = tracing::profile([] {
    for (std::optional<std::string_view> const capture : {std::optional<std::string_view>("active"), {}}) {
      TRACE_SPAN(trace, "launch", tracing::target("tracing::cuda"), kv("kernel.name", "f"), kv("capture", capture));
      TRACE_SPAN(trace, "memcpy_htod_async", tracing::target("tracing::cuda"), kv("bytes", 8), kv("capture", capture));
    }
  });
  EXPECT_EQ(runs.runs.at(0).launches, 1u);
  EXPECT_EQ(runs.runs.at(0).copied_bytes, 8u);
}

TEST(ProfileOfRuns, CountsTheBytesOfRowsAndSlices) {
  ProfiledRuns const runs = tracing::profile([] {
    TRACE_SPAN(trace, "memcpy_3d", tracing::target("tracing::cuda"), kv("row_bytes", std::size_t{5}),
               kv("rows", std::size_t{3}), kv("slices", std::size_t{2}));
  });
  EXPECT_EQ(runs.runs.at(0).copied_bytes, 30u);
}

TEST(ProfileOfRuns, HasTheTimesOfTheDevice) {
  ProfiledRuns const runs = tracing::profile([] {
    TRACE_SPAN(trace, "kernel", tracing::target("tracing::cuda::device"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_GE(runs.runs.at(0).device_ns, 1'000'000u);
  EXPECT_EQ(runs.runs.at(0).launches, 0u);
}

TEST(ProfileOfRuns, HasASpread) {
  ProfiledRuns runs;
  for (std::uint64_t const ns : {400, 100, 200, 100}) runs.runs.push_back({.runtime_ns = ns, .launches = 7});
  tracing::Spread const spread = runs.spread(&ProfiledRun::runtime_ns);
  EXPECT_DOUBLE_EQ(spread.mean, 200);
  EXPECT_NEAR(spread.deviation, 141.42, 0.01);
  EXPECT_EQ(spread.min, 100u);
  EXPECT_EQ(spread.median, 150u);
  EXPECT_EQ(spread.max, 400u);
  EXPECT_EQ(runs.to_string(),
            "runtime 200ns \u00b1 141ns, median 150ns, 100ns to 400ns (runs: 4, warm-up: 0)\nlaunches in a run 7\n");
  EXPECT_EQ(ProfiledRuns().spread(&ProfiledRun::launches).max, 0u);
}

TEST(ProfileOfRuns, PrintsWhatThereIs) {
  ProfiledRuns runs;
  runs.warmup = {{.runtime_ns = 40'000'000, .compile_ns = 35'000'000}};
  runs.runs = {{.runtime_ns = 1'230'000, .launches = 4, .device_ns = 900'000, .copied_bytes = 1024}};
  EXPECT_EQ(runs.to_string(),
            "runtime 1.23ms (runs: 1, warm-up: 1)\n"
            "compilation 0.00ns, in the warm-up 35.0ms\n"
            "launches in a run 4, on the device for 900\u00b5s\n"
            "bytes copied in a run 1024\n");
}

TEST(ProfileOfRuns, HasTheTimesInsideAnotherProfile) {
  ASSERT_EQ(tracing::internal::start_recording({}), "");
  ProfiledRuns const runs = tracing::profile([] { launch(); });
  EXPECT_EQ(runs.error, "a profile is being recorded already, and there is one at a time");
  EXPECT_GT(runs.runs.at(0).runtime_ns, 0u);
  EXPECT_EQ(runs.runs.at(0).launches, 0u);
  EXPECT_EQ(tracing::internal::stop_recording().error, "");
}

TEST(ProfileOfRuns, PassesAnExceptionOn) {
  EXPECT_THROW(tracing::profile([] { throw std::runtime_error("stop"); }), std::runtime_error);
  EXPECT_THAT(tracing_test::profiled([] {}), IsEmpty());
}

}  // namespace
