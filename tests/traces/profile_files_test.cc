// The files of with_profiler() show what was recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <semaphore>
#include <string>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tests/traces/perfetto_reader.h"
#include "tests/traces/xplane_reader.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/profile/profiler.h"
#include "tracing_core/tracing.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testlog_test::PerfettoTrace;
using tracing::kv;

class ProfileFiles : public testing::Test {
 protected:
  template <class F>
  PerfettoTrace profile(F f) {
    tracing::with_profiler(folder_ / "", f, {.run = "run", .host_name = "machine", .print = false});
    PerfettoTrace trace = PerfettoTrace::read(folder_.read("plugins/profile/run/machine.pftrace"));
    EXPECT_THAT(trace.problems, IsEmpty());
    return trace;
  }
  static std::vector<std::string> names_of(testlog_test::PerfettoRow const& row) {
    std::vector<std::string> names;
    for (auto const& slice : row.slices) names.push_back(std::string(slice.depth, ' ') + slice.name);
    return names;
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(ProfileFiles, HaveSpansEventsPerfSpansAndAnnotations) {
  auto const trace = profile([] {
    TRACE_SPAN(info, "train");
    TRACE_STEP(3);
    TRACE_ANNOTATE("forward", kv("batch", 8));
    TRACE_PERF("matmul");
    tracing::annotate("layer 1", [] { TRACE_INFO("event"); });
  });
  auto const& row = trace.row("main");
  EXPECT_EQ(row.kind, "thread");
  EXPECT_THAT(names_of(row), ElementsAre("train", " step", "  forward", "   matmul", "    layer 1", "     event"));
  EXPECT_THAT(row.slices.at(1).args, ElementsAre(Pair("step_num", "3")));
  EXPECT_THAT(row.slices.at(2).args, ElementsAre(Pair("batch", "8")));
  for (auto const& slice : row.slices) EXPECT_TRUE(slice.is_instant || slice.end) << slice.name;
}

TEST_F(ProfileFiles, HaveTheSameInTheFormatOfTensorBoard) {
  profile([] {
    TRACE_STEP(3);
    TRACE_ANNOTATE("forward", kv("batch", 8));
  });
  auto const read = testlog_test::XplaneProfile::read(folder_.read("plugins/profile/run/machine.xplane.pb"));
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.hostname, "machine");
  auto const& events = read.line("main").events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "step");
  EXPECT_EQ(events[1].name, "forward");
  EXPECT_THAT(events[1].args, Contains(Pair("batch", "8")));
}

TEST_F(ProfileFiles, HaveARowForEachThread) {
  auto const trace = profile([] {
    std::thread([] {
      tracing::set_thread_name("worker");
      TRACE_SPAN(info, "work");
    }).join();
  });
  EXPECT_THAT(names_of(trace.row("worker")), ElementsAre("work"));
}

TEST_F(ProfileFiles, HaveNothingOfEarlierProfiles) {
  for (int i = 0; i < 3; ++i) {
    auto const trace = profile([i] { TRACE_SPAN(info, "work", i); });
    EXPECT_THAT(names_of(trace.row("main")), ElementsAre("work"));
    EXPECT_THAT(trace.row("main").slices.at(0).args, ElementsAre(Pair("i", std::to_string(i))));
  }
}

// The memory that the thread was filling contains the end of the first profile, and begins with the span around it.
TEST_F(ProfileFiles, HaveNothingOfASpanThatEndsBetweenProfiles) {
  ASSERT_EQ(tracing::profiler_start(folder_ / "first", {.print = false}), "");
  {
    TRACE_SPAN(info, "first");
    for (int i = 0; i < 2000; ++i) TRACE_INFO("event", i);
    EXPECT_TRUE(tracing::profiler_stop().ok());
  }
  auto const trace = profile([] { TRACE_SPAN(info, "second"); });
  EXPECT_THAT(names_of(trace.row("main")), ElementsAre("second"));
}

TEST_F(ProfileFiles, HaveNoRowOfAThreadThatDidNothingMeanwhile) {
  std::binary_semaphore go{0}, is_inside{0};
  std::thread thread([&] {
    tracing::set_thread_name("earlier");
    go.acquire();
    TRACE_SPAN(info, "request");
    is_inside.release();
    go.acquire();
  });
  profile([&] {
    go.release();
    is_inside.acquire();
  });
  auto const trace = profile([] { TRACE_INFO("event"); });
  go.release();
  thread.join();
  EXPECT_EQ(trace.row("main").kind, "thread");
  EXPECT_EQ(trace.row("earlier").kind, "");
  auto const read = testlog_test::XplaneProfile::read(folder_.read("plugins/profile/run/machine.xplane.pb"));
  EXPECT_THAT(read.planes.at("/host:CPU"), ElementsAre(testing::Field(&testlog_test::XplaneLine::name, "main")));
}

TEST_F(ProfileFiles, LeaveSpansOpenThatEndLater) {
  auto span = TRACE_MAKE_SPAN(info, "none");
  auto const trace = profile([&] { span = TRACE_MAKE_SPAN(info, "late"); });
  EXPECT_THAT(names_of(trace.row("late")), ElementsAre("late"));
  EXPECT_FALSE(trace.row("late").slices.at(0).end);
}

// The format of TensorBoard has no open spans.
TEST_F(ProfileFiles, EndWhenTheProfileIsStopped) {
  ASSERT_EQ(tracing::profiler_start(folder_ / "", {.run = "run", .host_name = "machine", .print = false}), "");
  TRACE_SPAN(info, "late");
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(tracing::profiler_stop().ok());
  auto const read = testlog_test::XplaneProfile::read(folder_.read("plugins/profile/run/machine.xplane.pb"));
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_GE(read.line("main").events.at(0).duration_ps, 1'000'000'000);
  EXPECT_GT(read.environment.at("profile_stop_time"), read.environment.at("profile_start_time"));
}

}  // namespace
