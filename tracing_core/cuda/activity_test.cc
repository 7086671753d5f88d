// Device activity as a driver reports it: the call that it belongs to, and the track, times and fields of its span.
#include "tracing_core/cuda/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/cuda/activity_test_support.h"
#include "tracing_core/cuda/driver/driver_test_support.h"
#include "tracing_core/dispatch/dispatcher.h"

namespace tracing::cuda_test { namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::optional<DeviceCall> asked;

DriverApi asking() {
  DriverApi api = answering();
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                         void**, void**) {
    asked = current_device_call(ActivityKind::kernel);
    answers.launched.push_back(current_launch());
    return CUDA_SUCCESS;
  };
  api.memcpy_dtod_async = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
    asked = current_device_call(ActivityKind::memcpy_dtod);
    return CUDA_SUCCESS;
  };
  return api;
}

TEST(DeviceActivity, IsASpanOfTheStreamThatFollowsFromTheLaunch) {
  Driver driver(asking());
  CUfunction const function = function_of(driver, "first");
  CUstream stream = nullptr;
  driver.stream_create(&stream, 0);
  auto const lines = activity_of([&] {
    driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->launch, answers.launched.front());
    EXPECT_EQ(asked->stream, 1u);
    report_activity(*asked, {.begin = Instant{1000}, .end = Instant{3000}, .kernel = "first"});
    asked.reset();
  });
  EXPECT_THAT(lines, ElementsAre("launch -> kernel", "GPU 0 stream 1: kernel 1000-3000"));
}

TEST(DeviceActivity, GoesToTheSubscriberOfTheCallFromAnyThread) {
  Driver driver(asking());
  auto const lines = activity_of([&] {
    driver.memcpy_dtod_async(0, 0, 64, nullptr);
    ASSERT_TRUE(asked);
    std::thread([] {
      report_activity(*asked, {.kind = ActivityKind::memcpy_dtod, .begin = Instant{5}, .end = Instant{6}, .bytes = 64});
    }).join();
    asked.reset();
  });
  EXPECT_THAT(lines, ElementsAre("memcpy_dtod_async -> memcpy_dtod", "GPU 0 stream 0: memcpy_dtod 5-6"));
}

TEST(DeviceActivity, WithoutACallHasItsDeviceAndStream) {
  auto const lines = activity_of([] {
    report_activity({.device = 2, .stream = 7}, {.begin = Instant{5}, .end = Instant{6}, .kernel = "of a library"});
    report_activity({.stream = 100'000}, {.begin = Instant{5}, .end = Instant{6}});
  });
  EXPECT_THAT(lines, ElementsAre("GPU 2 stream 7: kernel 5-6", "GPU 0 stream 1024+: kernel 5-6"));
}

TEST(DeviceActivity, WithoutItsTimesIsNotRecorded) {
  auto const lines = activity_of([] {
    report_activity({}, {.end = Instant{6}});
    report_activity({}, {.begin = Instant{6}});
  });
  EXPECT_THAT(lines, IsEmpty());
}

TEST(DeviceActivity, HasNoCallOutsideOfCallsAndWhileItIsOff) {
  Driver driver(asking());
  asked.emplace();
  driver.memcpy_dtod_async(0, 0, 64, nullptr);
  EXPECT_FALSE(asked) << "nobody records";
  auto const lines =
      activity_of([] { EXPECT_FALSE(current_device_call(ActivityKind::kernel)) << "outside of a call"; });
  EXPECT_THAT(lines, IsEmpty());
}

TEST(DeviceActivity, HasNoCallForACapturedLaunch) {
  Driver driver(asking());
  CUfunction const function = function_of(driver, "first");
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  activity_of([&] {
    asked.emplace();
    driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
    EXPECT_FALSE(asked) << "a graph runs it, any number of times";
  });
}

TEST(DeviceActivity, HasTheFieldsOfItsKernel) {
  std::string const text = printed_of_driver(
      [] {
        report_activity({.launch = 3, .stream = 7}, {.begin = Instant{5},
                                                     .end = Instant{6},
                                                     .kernel = "saxpy",
                                                     .grid = {2, 1, 1},
                                                     .block = {64, 1, 1},
                                                     .shared_bytes = 16,
                                                     .dynamic_shared_bytes = 4,
                                                     .registers = 12});
        report_activity({}, {.kind = ActivityKind::memset, .begin = Instant{7}, .end = Instant{8}, .bytes = 4});
      },
      SpanEvents::new_span);
  EXPECT_EQ(text,
            "TRACE kernel{kernel.name=saxpy grid=(2, 1, 1) block=(64, 1, 1) shared_bytes=16 dynamic_shared_bytes=4 "
            "registers=12 stream=7 device=0 launch=3}: tracing::cuda::device: new\n"
            "TRACE memset{bytes=4 stream=0 device=0}: tracing::cuda::device: new\n");
}

}}  // namespace tracing::cuda_test
