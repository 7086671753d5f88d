// Launches, host functions, and their capture into a graph.
#define TRACE_TARGET "tracing::cuda_test"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>

#include "tracing_core/cuda/driver/driver_test_support.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/perf/perf_test_support.h"

namespace tracing::cuda_test { namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Driver, RecordsTheObservedEndInTheSpanOfTheLaunch) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  std::string const text = printed_of_driver([&] {
    {
      TRACE_SPAN(info, "caller");
      driver.launch_kernel(function, {4, 2}, {64}, 16, nullptr, nullptr);
    }
    EXPECT_EQ(driver.outstanding_launches().size(), 1u);
    driver.ctx_synchronize();
    EXPECT_TRUE(driver.outstanding_launches().empty());
  });
  EXPECT_EQ(text,
            "TRACE caller:launch{kernel.name=first grid=(4, 2, 1) block=(64, 1, 1) shared_bytes=16 stream=0 device=0 "
            "launch=#1}: tracing::cuda_test: launched\n"
            "TRACE caller:launch{kernel.name=first grid=(4, 2, 1) block=(64, 1, 1) shared_bytes=16 stream=0 device=0 "
            "launch=#1}: tracing::cuda_test: completed launch=#1 observed_by=cuCtxSynchronize after_us=<us>\n");
}

TEST(Driver, PrintsSizesOfAnyNumberOfDigits) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  std::string const text = printed_of_driver([&] {
    driver.launch_kernel(function, {4294967295, 65535, 10}, {0, 9, 100}, 0, nullptr, nullptr);
  });
  EXPECT_THAT(text, HasSubstr(" grid=(4294967295, 65535, 10) block=(0, 9, 100) "));
}

TEST(Driver, RecordsACooperativeLaunchLikeAnyOther) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  std::string const text = printed_of_driver([&] {
    driver.launch_cooperative_kernel(function, {4, 2}, {64}, 16, nullptr, nullptr);
  });
  EXPECT_EQ(text,
            "TRACE launch{kernel.name=first grid=(4, 2, 1) block=(64, 1, 1) shared_bytes=16 stream=0 device=0 "
            "launch=#1}: tracing::cuda_test: launched\n");
  answers.launch = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  EXPECT_THAT(printed_of_driver([&] { driver.launch_cooperative_kernel(function, {}, {}, 0, nullptr, nullptr); }),
              HasSubstr("cuLaunchCooperativeKernel(first, grid (1, 1, 1)"));
}

// ---- as perf spans ----

constexpr std::string_view kMeasured =
    "DEBUG perf{name=\"gpu_execute_program\" grid_size=8 block_size=64}: tracing::cuda_test: performance_span_complete "
    "duration_us=<us> duration_ms=<ms>\n";

// Returns what a launch of 8 blocks prints with perf spans alone, until `observe` is done.
template <class F>
std::string measured(Driver& driver, F const& observe) {
  CUfunction const function = function_of(driver, "first");
  perf_test::Collected collected({}, FormatKind::full, to_filter(EnvFilter::parse_lossy("off")));
  driver.launch_kernel(function, {4, 2}, {64}, 16, nullptr, nullptr);
  EXPECT_EQ(collected.take(), "");
  observe();
  return collected.take_without_durations();
}

TEST(LaunchAsPerfSpan, LastsUntilItsEndIsObserved) {
  Driver driver(answering());
  EXPECT_EQ(measured(driver, [&] { driver.ctx_synchronize(); }), kMeasured);
  EXPECT_EQ(measured(driver, [&] { std::thread([&] { driver.stream_synchronize(nullptr); }).join(); }), kMeasured);
  EXPECT_EQ(measured(driver, [&] { driver.ctx_synchronize(), driver.ctx_synchronize(); }), kMeasured);
}

TEST(LaunchAsPerfSpan, IsInTheSpanOfTheLaunch) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  perf_test::Collected collected;
  driver.launch_kernel(function, {4, 2}, {64}, 16, nullptr, nullptr);
  driver.ctx_synchronize();
  EXPECT_THAT(collected.take(),
              HasSubstr("}:perf{name=\"gpu_execute_program\" grid_size=8 block_size=64}: tracing::cuda_test: "));
}

TEST(LaunchAsPerfSpan, HasNoDurationIfItFailsOrIsRefusedOrCaptured) {
  Driver driver(answering());
  EXPECT_EQ(measured(driver, [&] { answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS, driver.ctx_synchronize(); }), "");
  Driver other(answering());
  answers.launch = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(measured(other, [&] { other.ctx_synchronize(); }), "");
  answers.launch = CUDA_SUCCESS;
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(measured(other, [&] { other.ctx_synchronize(); }), "");
}

TEST(LaunchAsPerfSpan, IsLeftToADriverThatMeasuresLaunches) {
  DriverOptions options;
  options.measures_launches = true;
  Driver driver(answering(), options);
  EXPECT_EQ(measured(driver, [&] { driver.ctx_synchronize(); }), "");
}

TEST(Driver, CallsAHostFunctionInItsSpan) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] {
    TRACE_SPAN(info, "caller");
    int seven = 7;
    driver.launch_host_func(
        nullptr, [](void* data) { TRACE_INFO("called with {}", *static_cast<int*>(data)); }, &seven);
  });
  EXPECT_THAT(text, HasSubstr("INFO caller:launch_host_func{stream=0}: "));
  EXPECT_THAT(text, HasSubstr(": called with 7\n"));
}

TEST(Driver, RecordsThatALaunchIsCaptured) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  std::string const text = printed_of_driver(
      [&] {
        driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
        answers.capture = CU_STREAM_CAPTURE_STATUS_NONE;
        driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
      },
      SpanEvents::exit);
  EXPECT_THAT(text, HasSubstr("launch=#1 capture=\"active\"}: tracing::cuda_test: captured\n"));
  EXPECT_THAT(text, HasSubstr("launch=#2}: tracing::cuda_test: launched\n"));
}

TEST(Driver, CapturedHostFunctionMayBeCalledMoreThanOnce) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  int calls = 0;
  driver.launch_host_func(
      nullptr, [](void* count) { ++*static_cast<int*>(count); }, &calls);
  EXPECT_EQ(calls, 2);
}

TEST(Driver, CapturedLaunchIsNeitherOutstandingNorWaitedFor) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  EXPECT_TRUE(driver.outstanding_launches().empty());
  EXPECT_EQ(answers.synchronized, 0);
}

TEST(Driver, RecordsTheEndOfABlockingLaunchOnce) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  CUfunction const function = function_of(driver, "first");
  answers.while_stream_synchronizing = [&] { driver.ctx_synchronize(); };  // another thread may do this
  std::string const text = printed_of_driver([&] { driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr); });
  EXPECT_THAT(text, HasSubstr("completed launch=#1 observed_by=cuCtxSynchronize"));
  EXPECT_EQ(text.find("completed"), text.rfind("completed")) << text;
}

TEST(Driver, ClosesTheSpanOfAHostFunctionThatIsNeverCalledSinceTheContextIsLost) {
  DriverApi api = answering();
  static CUhostFn given = nullptr;
  static void* its_data = nullptr;
  api.launch_host_func = [](CUstream, CUhostFn function, void* data) {
    given = function;
    its_data = data;
    return CUDA_SUCCESS;
  };
  Driver driver(api);
  std::string const text = printed_of_driver(
      [&] {
        driver.launch_host_func(
            nullptr, [](void*) { ADD_FAILURE() << "called"; }, nullptr);
        answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
        driver.stream_synchronize(nullptr);
        TRACE_TRACE("lost");
        given(its_data);  // a driver that called it all the same would find nothing
      },
      SpanEvents::close);
  std::size_t const closed = text.find("launch_host_func{stream=0}: tracing::cuda_test: close");
  EXPECT_NE(closed, text.npos) << text;
  EXPECT_LT(closed, text.find("lost\n")) << text;
}

TEST(Driver, ClosesTheSpanOfARefusedHostFunction) {
  DriverApi api = answering();
  api.launch_host_func = [](CUstream, CUhostFn function, void*) {
    return function == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  };
  Driver driver(api);
  EXPECT_EQ(driver.launch_host_func(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  std::string const text = printed_of_driver(
      [&] {
        EXPECT_EQ(driver.launch_host_func(
                      nullptr, [](void*) {}, nullptr),
                  CUDA_ERROR_NOT_SUPPORTED);
      },
      SpanEvents::close);
  EXPECT_THAT(text, HasSubstr("launch_host_func{stream=0}: tracing::cuda_test: close"));
}

TEST(Driver, CurrentLaunchIsSetDuringTheCall) {
  Driver driver(answering());
  EXPECT_EQ(current_launch(), 0u);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  ASSERT_EQ(answers.launched.size(), 1u);
  EXPECT_NE(answers.launched.front(), 0u);
  EXPECT_EQ(current_launch(), 0u);
}

}}  // namespace tracing::cuda_test
