#include <gtest/gtest.h>

#include <chrono>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_support.h"

namespace cuda_cpu { namespace {

using std::chrono::milliseconds;

TEST_F(CpuDriver, EventIsReadyWhenItsStreamHasReachedIt) {
  auto const stream = make_stream();
  auto const event = make_event();
  EXPECT_EQ(api.event_query(event), CUDA_SUCCESS) << "never recorded";
  EXPECT_EQ(api.event_synchronize(event), CUDA_SUCCESS);
  HeldUp held(api, stream);
  EXPECT_EQ(api.event_record(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.event_query(event), CUDA_ERROR_NOT_READY);
  HeldUp later(api, stream);
  held.release_after(milliseconds(20));
  EXPECT_EQ(api.event_synchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(api.event_query(event), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_NOT_READY) << "later work of the stream is still pending";
}

TEST_F(CpuDriver, LatestRecordingOfAnEventCounts) {
  auto const stream = make_stream();
  auto const event = make_event();
  EXPECT_EQ(api.event_record(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.event_query(event), CUDA_SUCCESS);
  HeldUp held(api, stream);
  EXPECT_EQ(api.event_record(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.event_query(event), CUDA_ERROR_NOT_READY);
}

TEST_F(CpuDriver, StreamWaitsForAnEventOfAnother) {
  auto const first = make_stream(CU_STREAM_NON_BLOCKING);
  auto const second = make_stream(CU_STREAM_NON_BLOCKING);
  auto const event = make_event();
  Order order;
  HeldUp held(api, first);
  order.add(api, first, 1);
  EXPECT_EQ(api.event_record(event, first), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_wait_event(second, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.event_destroy(event), CUDA_SUCCESS) << "the other stream still waits";
  order.add(api, second, 2);
  EXPECT_EQ(api.stream_query(second), CUDA_ERROR_NOT_READY);
  held.release();
  EXPECT_EQ(api.stream_synchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(order.numbers, (std::vector{1, 2}));
}

TEST_F(CpuDriver, StreamThatOnlyWaitsForAnEventIsNotReady) {
  auto const first = make_stream(CU_STREAM_NON_BLOCKING);
  auto const second = make_stream(CU_STREAM_NON_BLOCKING);
  auto const event = make_event();
  HeldUp held(api, first);
  EXPECT_EQ(api.event_record(event, first), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_wait_event(second, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(second), CUDA_ERROR_NOT_READY);
  held.release_after(milliseconds(20));
  EXPECT_EQ(api.stream_synchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(api.event_query(event), CUDA_SUCCESS);
}

TEST_F(CpuDriver, WaitingForAnUnrecordedEventReturnsAtOnce) {
  EXPECT_EQ(api.stream_wait_event(nullptr, make_event(), 0), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_wait_event(nullptr, make_event(), 7), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuDriver, EventsMeasureTheTimeBetweenThem) {
  auto const stream = make_stream();
  auto const start = make_event();
  auto const end = make_event();
  float time = -1;
  EXPECT_EQ(api.event_elapsed_time(&time, start, end), CUDA_ERROR_INVALID_HANDLE) << "not recorded";
  EXPECT_EQ(api.event_record(start, stream), CUDA_SUCCESS);
  HeldUp held(api, stream);
  EXPECT_EQ(api.event_record(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.event_elapsed_time(&time, start, end), CUDA_ERROR_NOT_READY);
  held.release_after(milliseconds(20));
  EXPECT_EQ(api.event_synchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(api.event_elapsed_time(&time, start, end), CUDA_SUCCESS);
  EXPECT_GE(time, 19);
  EXPECT_LT(time, 60000);
}

TEST_F(CpuDriver, EventWithoutTimingHasNoTime) {
  auto const event = make_event(CU_EVENT_DISABLE_TIMING);
  EXPECT_EQ(api.event_record(event, nullptr), CUDA_SUCCESS);
  float time = -1;
  EXPECT_EQ(api.event_elapsed_time(&time, event, event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(time, -1);
}

TEST_F(CpuDriver, DestroyedEventIsAnInvalidHandle) {
  auto const event = make_event();
  EXPECT_EQ(api.event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(api.event_destroy(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.event_query(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.event_record(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUevent other = nullptr;
  EXPECT_EQ(api.event_create(&other, 0x100), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.event_create(&other, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_ERROR_NOT_SUPPORTED);
}

}}  // namespace cuda_cpu
