// The launches of a driver, with the streams, events and kernels that they are known by.
#include "tracing_core/cuda/driver/launch_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/printed.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda_test { namespace {

using namespace cuda;  // NOLINT
using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class T>
T handle(std::uintptr_t number) {
  return reinterpret_cast<T>(number);
}

CUstream const kFirst = handle<CUstream>(16);
CUstream const kSecond = handle<CUstream>(32);

// Adds launches to a log, under numbers that the test chooses.
class LaunchLogTest : public testing::Test {
 protected:
  LaunchLog::Added begin(LaunchId id, CUstream stream, Span span = {}) {
    return log_.begin(handle<CUfunction>(1), stream, {id, {4, 2}, {64}}, std::move(span), {});
  }
  LaunchLog::Added launch(LaunchId id, CUstream stream, Span span = {}) {
    LaunchLog::Added const added = begin(id, stream, std::move(span));
    log_.accept(added);
    return added;
  }
  static std::vector<LaunchId> ids(std::vector<Launch> const& launches) {
    std::vector<LaunchId> found;
    for (Launch const& launch : launches) found.push_back(launch.id);
    return found;
  }
  std::vector<LaunchId> outstanding() const { return ids(log_.outstanding()); }
  std::vector<LaunchId> visited() const {
    std::vector<LaunchId> found;
    EXPECT_TRUE(log_.try_visit([&](Launch const& launch) { found.push_back(launch.id); }));
    return found;
  }

  LaunchLog log_;
};

TEST_F(LaunchLogTest, KeepsWhatALaunchIs) {
  auto const before = std::chrono::steady_clock::now();
  log_.add_kernel(handle<CUfunction>(1), handle<CUmodule>(1), "saxpy");
  log_.number_of(kSecond);
  begin(7, kFirst);
  std::vector<Launch> const all = log_.outstanding();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, 7u);
  EXPECT_EQ(all[0].kernel, "saxpy");
  EXPECT_EQ(all[0].grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(all[0].block, (Dim3{64, 1, 1}));
  EXPECT_EQ(all[0].stream, 2u);
  // The two clocks may differ by a rounding.
  EXPECT_GE(all[0].at, before - std::chrono::milliseconds(1));
  EXPECT_LE(all[0].at, std::chrono::steady_clock::now());
}

TEST_F(LaunchLogTest, CompletesOnlyLaunchesWhoseCallHadReturned) {
  launch(1, kFirst);
  LaunchLog::Added const second = begin(2, kFirst);
  launch(3, kFirst);
  LaunchLog::Mark const mark = log_.now();
  log_.accept(second);
  launch(4, kFirst);
  EXPECT_THAT(ids(log_.complete_stream(kFirst, mark)), ElementsAre(1, 3));
  EXPECT_THAT(outstanding(), ElementsAre(2, 4));
  EXPECT_THAT(ids(log_.complete_stream(kFirst, log_.now())), ElementsAre(2, 4));
  EXPECT_THAT(outstanding(), IsEmpty());
}

TEST_F(LaunchLogTest, CompletesInTheOrderOfAllStreams) {
  launch(1, kFirst);
  launch(2, kSecond);
  launch(3, kFirst);
  EXPECT_THAT(visited(), ElementsAre(1, 2, 3));
  EXPECT_THAT(outstanding(), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids(log_.complete_all(log_.now())), ElementsAre(1, 2, 3));
}

TEST_F(LaunchLogTest, RemovesFromTheMiddle) {
  launch(1, kFirst);
  LaunchLog::Added const second = launch(2, kFirst);
  launch(3, kFirst);
  EXPECT_EQ(log_.remove(second).id, 2u);
  EXPECT_EQ(log_.remove(second).id, 0u);
  log_.accept(second);  // does nothing
  EXPECT_THAT(outstanding(), ElementsAre(1, 3));
}

// The places of the launches wrap around in the ring, which grows several times.
TEST_F(LaunchLogTest, KeepsTheOrderHoweverManyThereAre) {
  LaunchId last = 0;
  std::vector<LaunchId> expected;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 5; ++i) launch(++last, kFirst), expected.push_back(last);
    LaunchLog::Mark const mark = log_.now() - expected.size() + 2;
    std::vector<LaunchId> const done(expected.begin(), expected.begin() + 2);
    EXPECT_EQ(ids(log_.complete_stream(kFirst, mark)), done);
    expected.erase(expected.begin(), expected.begin() + 2);
    ASSERT_EQ(outstanding(), expected);
  }
}

TEST_F(LaunchLogTest, OnlyCountsTheOldestOfTooManyLaunches) {
  std::vector<LaunchLog::Added> added;
  for (LaunchId id = 1; id <= LaunchLog::kMaxPerStream + 3; ++id) added.push_back(launch(id, kFirst));
  launch(1000, kSecond);
  EXPECT_EQ(outstanding().size(), LaunchLog::kMaxPerStream + 1);
  EXPECT_EQ(outstanding().front(), 4u);
  EXPECT_EQ(log_.forgotten(), 3u);
  EXPECT_EQ(log_.remove(added.front()).id, 0u);
  log_.complete_stream(kSecond, log_.now());
  EXPECT_EQ(log_.forgotten(), 3u);
  log_.complete_stream(kFirst, 4);  // completes the oldest launch in the log; the forgotten launches ended before it
  EXPECT_EQ(log_.forgotten(), 0u);
  EXPECT_EQ(outstanding().size(), LaunchLog::kMaxPerStream - 1);
}

TEST_F(LaunchLogTest, KeepsTheLaunchesOfADestroyedStreamApart) {
  LaunchLog::Added const old = begin(1, kFirst);
  log_.remove_stream(kFirst);
  log_.add_stream(kFirst, false);  // another stream with this handle
  launch(2, kFirst);
  EXPECT_EQ(log_.outstanding()[0].stream, 1u);
  EXPECT_EQ(log_.outstanding()[1].stream, 2u);
  log_.accept(old);
  EXPECT_THAT(ids(log_.complete_stream(kFirst, log_.now())), ElementsAre(2));
  EXPECT_THAT(ids(log_.complete_all(log_.now())), ElementsAre(1));
}

TEST_F(LaunchLogTest, DoesNotMistakeALaunchOfADestroyedStreamForOneOfAnother) {
  LaunchLog::Added const old = launch(1, kFirst);
  log_.complete_all(log_.now());
  log_.remove_stream(kFirst);
  log_.add_stream(kSecond, true);  // takes the place of the destroyed stream
  EXPECT_EQ(begin(2, kSecond).stream, old.stream);
  log_.accept(old);
  EXPECT_EQ(log_.remove(old).id, 0u);
  EXPECT_THAT(ids(log_.complete_all(log_.now())), IsEmpty()) << "its call has not returned";
  EXPECT_EQ(log_.outstanding()[0].stream, 2u);
}

TEST_F(LaunchLogTest, ReturnsOnlyLaunchesWithASpanOnRequest) {
  launch(1, kFirst);
  std::string const text = tracing_test::printed({}, [&] { launch(2, kFirst, TRACE_MAKE_SPAN(info, "two")); });
  launch(3, kFirst);
  EXPECT_THAT(ids(log_.complete_all(log_.now(), LaunchLog::Completed::with_span)), ElementsAre(2));
  EXPECT_THAT(outstanding(), IsEmpty());
}

// Launches move in the ring when it grows, and when a launch ends before an earlier launch.
TEST_F(LaunchLogTest, SpansFollowTheirLaunches) {
  auto const name = [](Launch const& launch) { return launch.span ? launch.span.metadata()->name() : "none"; };
  PrintOptions options{.span_events = SpanEvents::close};
  std::string const text = tracing_test::printed(std::move(options), [&] {
    begin(1, kFirst);
    launch(2, kFirst);
    LaunchLog::Added const third = begin(3, kFirst, TRACE_MAKE_SPAN(info, "three"));
    for (LaunchId id = 4; id < 40; ++id) launch(id, kFirst);
    log_.complete_all(log_.now());
    launch(40, kFirst, TRACE_MAKE_SPAN(info, "forty"));
    std::vector<std::string> names;
    EXPECT_TRUE(log_.try_visit([&](Launch const& launch) { names.emplace_back(name(launch)); }));
    EXPECT_THAT(names, ElementsAre("none", "three", "forty"));
    TRACE_INFO("removed");
    EXPECT_EQ(name(log_.remove(third)), "three");
    TRACE_INFO("completed");
    EXPECT_EQ(name(log_.complete_all(log_.now()).at(0)), "forty");
  });
  EXPECT_THAT(text, testing::ContainsRegex("removed(.|\n)*three: .*close(.|\n)*completed(.|\n)*forty: .*close"));
}

TEST_F(LaunchLogTest, ClosesTheSpanOfALaunchThatIsOnlyCounted) {
  PrintOptions options{.span_events = SpanEvents::close};
  std::string const text = tracing_test::printed(std::move(options), [&] {
    launch(1, kFirst, TRACE_MAKE_SPAN(info, "one"));
    for (LaunchId id = 2; id <= LaunchLog::kMaxPerStream; ++id) launch(id, kFirst);
    TRACE_INFO("full");
    launch(1000, kFirst);
    TRACE_INFO("after");
  });
  EXPECT_THAT(text, testing::ContainsRegex("full(.|\n)*one: .*close(.|\n)*after"));
}

TEST_F(LaunchLogTest, NamesKernelsUntilTheirModuleIsUnloaded) {
  CUfunction const function = handle<CUfunction>(0x1230);
  EXPECT_EQ(log_.name_of(function), "the function at 0x1230");
  log_.add_kernel(function, handle<CUmodule>(1), "saxpy");
  std::string_view const name = log_.name_of(function);
  EXPECT_EQ(name, "saxpy");
  log_.remove_kernels(handle<CUmodule>(2));
  EXPECT_EQ(log_.name_of(function), "saxpy");
  log_.remove_kernels(handle<CUmodule>(1));
  EXPECT_EQ(log_.name_of(function), "the function at 0x1230");
  EXPECT_EQ(name, "saxpy");
}

TEST_F(LaunchLogTest, NamesTheKernelAndTheStreamOfALaunch) {
  log_.add_kernel(handle<CUfunction>(1), nullptr, "saxpy");
  log_.add_kernel(handle<CUfunction>(2), nullptr, "scale");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(log_.names_of(handle<CUfunction>(1), kFirst).kernel, "saxpy");
    EXPECT_EQ(log_.names_of(handle<CUfunction>(2), kSecond).kernel, "scale");
    EXPECT_EQ(log_.names_of(handle<CUfunction>(2), kFirst).stream, log_.number_of(kFirst));
    EXPECT_EQ(log_.names_of(handle<CUfunction>(2), nullptr).stream, 0u);
  }
}

TEST(LaunchLog, NamesOfKernelsOutliveIt) {
  std::vector<Launch> all;
  {
    LaunchLog log;
    log.add_kernel(handle<CUfunction>(1), nullptr, "a kernel whose name is on the heap");
    log.begin(handle<CUfunction>(1), nullptr, {1, {}, {}}, {}, {});
    all = log.outstanding();
  }
  EXPECT_EQ(all.at(0).kernel, "a kernel whose name is on the heap");
}

// Each thread completes its launches, which another thread may have completed before.
TEST(LaunchLog, IsUsedByManyThreads) {
  LaunchLog log;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&log, thread] {
      CUstream const stream = handle<CUstream>(16 * (1 + thread / 2));  // two threads share a stream
      for (LaunchId i = 0; i < 300; ++i) {
        LaunchLog::Added const added =
            log.begin(handle<CUfunction>(thread + 1), stream, {1 + 4 * i + thread, {}, {}}, {}, {});
        log.accept(added);
        if (i % 64 == 0) log.complete_stream(stream, log.now());
        if (i % 7 == 0) log.remove(added);
        (void)log.try_visit([](Launch const& launch) { EXPECT_TRUE(launch.kernel.starts_with("the function at ")); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  log.complete_all(log.now());
  EXPECT_THAT(log.outstanding(), IsEmpty());
  EXPECT_EQ(log.forgotten(), 0u);
}

}}  // namespace tracing::cuda_test
