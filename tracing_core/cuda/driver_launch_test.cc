// Launches, host functions, and what is captured into a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tracing_core/cuda/driver_test_support.h"

namespace tracing::cuda_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Driver, SaysInTheSpanOfALaunchThatItsEndWasObserved) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  std::string const text = printed_of_driver([&] {
    {
      TRACE_SPAN(info, "caller");
      driver.launch_kernel(function, {4, 2}, {64}, 16, nullptr, nullptr);
    }
    EXPECT_EQ(driver.launches().outstanding().size(), 1u);
    driver.ctx_synchronize();
    EXPECT_TRUE(driver.launches().outstanding().empty());
  });
  EXPECT_EQ(text,
            "TRACE caller:launch{kernel.name=first grid=(4, 2, 1) block=(64, 1, 1) shared_bytes=16 stream=0 device=0 "
            "launch=#1}: tracing::cuda: completed launch=#1 observed_by=cuCtxSynchronize after_us=<us>\n");
}

TEST(Driver, CallsAHostFunctionInTheSpanOfItsCall) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] {
    TRACE_SPAN(info, "caller");
    int seven = 7;
    driver.launch_host_func(nullptr, [](void* data) { TRACE_INFO("called with {}", *static_cast<int*>(data)); }, &seven);
  });
  EXPECT_THAT(text, HasSubstr("INFO caller:launch_host_func{stream=0}: "));
  EXPECT_THAT(text, HasSubstr(": called with 7\n"));
}

TEST(Driver, SaysThatAStreamIsBeingCaptured) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  std::string const text = printed_of_driver([&] {
    driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
    answers.capture = CU_STREAM_CAPTURE_STATUS_NONE;
    driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
  }, SpanEvents::exit);
  EXPECT_THAT(text, HasSubstr("launch=#1 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("launch=#2}"));
}

TEST(Driver, SaysOfEveryCallOnAStreamThatItIsBeingCaptured) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  std::string const text = printed_of_driver([&] {
    driver.mem_free_async(0x1000, nullptr);
    driver.memset_d8_async(0x1000, 1, 4, nullptr);
    driver.memset_d32_async(0x1000, 1, 4, nullptr);
    driver.stream_wait_event(nullptr, nullptr, 0);
    driver.event_record(handle<CUevent>(1), nullptr);
    driver.launch_host_func(nullptr, [](void*) {}, nullptr);
  }, SpanEvents::exit);
  EXPECT_THAT(text, HasSubstr("mem_free_async{pointer=0x1000 device=0 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("memset_d8_async{value=1 count=4 device=0 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("memset_d32_async{value=1 count=4 device=0 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("stream_wait_event{stream=0 event=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("event_record{event=1 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("launch_host_func{stream=0 capture=\"active\"}"));
}

TEST(Driver, ACapturedHostFunctionMayBeCalledMoreThanOnce) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  int calls = 0;
  driver.launch_host_func(nullptr, [](void* count) { ++*static_cast<int*>(count); }, &calls);
  EXPECT_EQ(calls, 2);
}

TEST(Driver, WhatIsCapturedIsNeitherOutstandingNorWaitedFor) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  EXPECT_TRUE(driver.launches().outstanding().empty());
  EXPECT_EQ(answers.synchronized, 0);
}

TEST(Driver, TellsTheEndOfABlockingLaunchOnce) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  CUfunction const function = function_of(driver, "first");
  answers.while_stream_synchronizing = [&] { driver.ctx_synchronize(); };  // as another thread may
  std::string const text = printed_of_driver([&] { driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr); });
  EXPECT_THAT(text, HasSubstr("completed launch=#1 observed_by=cuCtxSynchronize"));
  EXPECT_EQ(text.find("completed"), text.rfind("completed")) << "known already: " << text;
}

TEST(Driver, AHostFunctionThatIsNeverCalledLeavesNoSpanOpen) {
  Driver driver(answering());
  answers.keeps_host_functions = true;
  int calls = 0;
  auto const count = [](void* counter) {
    ++*static_cast<int*>(counter);
    TRACE_INFO("called");
  };
  std::string const text = printed_of_driver([&] {
    driver.launch_host_func(nullptr, count, &calls);
    TRACE_INFO("pending");
    answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
    driver.ctx_synchronize();
    TRACE_INFO("lost");
    ASSERT_EQ(answers.host_functions.size(), 1u);
    auto const [function, data] = answers.host_functions.front();
    function(data);  // had begun before the context was lost
  }, SpanEvents::close);
  auto const closed = text.find("launch_host_func{stream=0}: tracing::cuda: close");
  ASSERT_NE(closed, text.npos) << text;
  EXPECT_GT(closed, text.find(": pending\n"));
  EXPECT_LT(closed, text.find(": lost\n"));
  EXPECT_EQ(calls, 1);
}

TEST(Driver, AHostFunctionThatIsRefusedIsNotKept) {
  DriverApi api = answering();
  api.launch_host_func = [](CUstream, CUhostFn function, void*) {
    return function == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  };
  Driver driver(api);
  EXPECT_EQ(driver.launch_host_func(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE) << "as the driver says";
  std::string const text = printed_of_driver(
      [&] { EXPECT_EQ(driver.launch_host_func(nullptr, [](void*) {}, nullptr), CUDA_ERROR_NOT_SUPPORTED); }, SpanEvents::close);
  EXPECT_THAT(text, HasSubstr("launch_host_func{stream=0}: tracing::cuda: close"));
}

TEST(Driver, KnowsTheLaunchThatItsThreadIsMaking) {
  Driver driver(answering());
  EXPECT_EQ(current_launch(), 0u);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  ASSERT_EQ(answers.launched.size(), 1u);
  EXPECT_NE(answers.launched.front(), 0u);
  EXPECT_EQ(current_launch(), 0u);
}

}  // namespace
}  // namespace tracing::cuda_test
