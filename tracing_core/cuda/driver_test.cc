#include "tracing_core/cuda/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/printed.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace tracing::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the driver below is to answer, and what it was asked.
struct Answers {
  CUresult launch = CUDA_SUCCESS;
  CUresult synchronize = CUDA_SUCCESS;
  CUresult query = CUDA_SUCCESS;
  CUresult alloc = CUDA_SUCCESS;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  std::vector<LaunchId> launched;
  int synchronized = 0;
  std::function<void()> while_synchronizing;
};
Answers answers;

template <class T>
T handle(std::uintptr_t number) {
  return reinterpret_cast<T>(number);
}

// A driver of answers only; what a test does not need is not there.
DriverApi answering() {
  answers = {};
  DriverApi api;
  api.ctx_synchronize = []() {
    if (answers.while_synchronizing) answers.while_synchronizing();
    return answers.synchronize;
  };
  api.launch_host_func = [](CUstream, CUhostFn function, void* data) {
    bool const captured = answers.capture == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    for (int times = captured ? 2 : 1; times > 0; --times) function(data);  // as a graph that is launched twice
    return CUDA_SUCCESS;
  };
  api.stream_destroy = [](CUstream) { return CUDA_SUCCESS; };
  api.module_get_function = [](CUfunction* function, CUmodule, char const* name) {
    *function = handle<CUfunction>(std::string_view(name) == "first" ? 1 : 2);
    return CUDA_SUCCESS;
  };
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**) {
    answers.launched.push_back(current_launch());
    return answers.launch;
  };
  api.mem_alloc = [](CUdeviceptr* pointer, std::size_t) {
    *pointer = 0x1000;
    return answers.alloc;
  };
  api.mem_free_async = [](CUdeviceptr, CUstream) { return CUDA_SUCCESS; };
  api.memset_d8_async = [](CUdeviceptr, unsigned char, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.memset_d32_async = [](CUdeviceptr, unsigned, std::size_t, CUstream) { return CUDA_SUCCESS; };
  api.stream_wait_event = [](CUstream, CUevent, unsigned) { return CUDA_SUCCESS; };
  api.memcpy_htod = [](CUdeviceptr, void const*, std::size_t) { return CUDA_SUCCESS; };
  api.memcpy_dtoh = [](void*, CUdeviceptr, std::size_t) { return CUDA_SUCCESS; };
  api.stream_create = [](CUstream* stream, unsigned) {
    static std::uintptr_t last = 0;
    *stream = handle<CUstream>(++last * 16);
    return CUDA_SUCCESS;
  };
  api.stream_synchronize = [](CUstream) {
    ++answers.synchronized;
    return answers.synchronize;
  };
  api.stream_query = [](CUstream) { return answers.query; };
  api.stream_is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = answers.capture;
    return CUDA_SUCCESS;
  };
  api.event_create = [](CUevent* event, unsigned) {
    *event = handle<CUevent>(1);
    return CUDA_SUCCESS;
  };
  api.event_record = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  api.event_query = [](CUevent) { return answers.query; };
  api.event_synchronize = [](CUevent) { return answers.synchronize; };
  api.get_error_name = [](CUresult, char const** name) {
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  };
  api.get_error_string = api.get_error_name;
  return api;
}

CUfunction function_of(Driver& driver, char const* name) {
  CUfunction function = nullptr;
  driver.module_get_function(&function, nullptr, name);
  return function;
}

// Without times, and with launches counted from 1.
std::string printed_of_driver(std::function<void()> const& emit, SpanEvents span_events = SpanEvents::none) {
  FormatOptions format;
  format.timer = nullptr;
  PrintOptions options{.event_format = make_event_format(format)};
  options.span_events = span_events;
  std::string text = tracing_test::printed(std::move(options), emit);
  text = std::regex_replace(text, std::regex("after_us=[0-9]+"), "after_us=<us>");
  text = std::regex_replace(text, std::regex("duration_us=[0-9.e+-]+ gb_per_s=[0-9.e+-]+"), "duration_us=<us> gb_per_s=<gb>");
  LaunchId const first = answers.launched.empty() ? 0 : answers.launched.front();
  for (LaunchId const id : answers.launched) {
    text = std::regex_replace(text, std::regex("launch([= ])" + std::to_string(id) + "\\b"), "launch$01" + std::string("#") + std::to_string(id - first + 1));
  }
  return std::regex_replace(text, std::regex("launch([= ])1#"), "launch$01#");
}

TEST(Driver, TellsOfAFailingCallByItsTextNameAndCode) {
  Driver driver(answering());
  answers.alloc = CUDA_ERROR_OUT_OF_MEMORY;
  CUdeviceptr pointer = 0;
  std::string const text = printed_of_driver([&] { EXPECT_EQ(driver.mem_alloc(&pointer, 4096), CUDA_ERROR_OUT_OF_MEMORY); });
  EXPECT_THAT(text, HasSubstr("ERROR mem_alloc{bytes=4096 device=0}: tracing::cuda: cuMemAlloc(4096 bytes) failed: "));
  EXPECT_THAT(text, HasSubstr("error=CUDA_ERROR_OUT_OF_MEMORY code=2\n"));
  EXPECT_FALSE(driver.loss());
}

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
            "TRACE caller:launch{kernel.name=first grid=(4, 2, 1) block=(64, 1, 1) shared_bytes=16 stream=0 device=0 launch=#1}: "
            "tracing::cuda: completed launch=#1 observed_by=cuCtxSynchronize after_us=<us>\n");
}

TEST(Driver, AQueryThatFindsNothingDoneCompletesNothing) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  CUstream stream = nullptr;
  driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
  answers.query = CUDA_ERROR_NOT_READY;
  std::string const silent = printed_of_driver([&] { EXPECT_EQ(driver.stream_query(stream), CUDA_ERROR_NOT_READY); });
  EXPECT_EQ(silent, "");
  EXPECT_EQ(driver.launches().outstanding().size(), 1u);
  answers.query = CUDA_SUCCESS;
  driver.stream_query(stream);
  EXPECT_TRUE(driver.launches().outstanding().empty());
}

TEST(Driver, AnEventCompletesTheLaunchesBeforeIt) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  CUstream stream = nullptr;
  CUevent event = nullptr;
  driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  driver.event_create(&event, 0);
  driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
  driver.event_record(event, stream);
  driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
  driver.event_synchronize(event);
  ASSERT_EQ(driver.launches().outstanding().size(), 1u);
  EXPECT_EQ(driver.launches().outstanding().front().id, answers.launched[1]);
}

TEST(Driver, TheDefaultStreamWaitsForTheOthersButNotForNonBlockingOnes) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  CUstream waiting = nullptr;
  CUstream independent = nullptr;
  driver.stream_create(&waiting, CU_STREAM_DEFAULT);
  driver.stream_create(&independent, CU_STREAM_NON_BLOCKING);
  driver.launch_kernel(function, {}, {}, 0, waiting, nullptr);
  driver.launch_kernel(function, {}, {}, 0, independent, nullptr);
  driver.stream_synchronize(nullptr);
  ASSERT_EQ(driver.launches().outstanding().size(), 1u);
  EXPECT_EQ(driver.launches().outstanding().front().stream, 2u);
}

TEST(Driver, ACopyToTheHostCompletesWhatTheDefaultStreamWaitsFor) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  char byte = 0;
  driver.memcpy_htod(0x1000, &byte, 1);
  driver.memcpy_dtoh(&byte, 0x1000, 0);
  EXPECT_EQ(driver.launches().outstanding().size(), 1u);
  driver.memcpy_dtoh(&byte, 0x1000, 1);
  EXPECT_TRUE(driver.launches().outstanding().empty());
}

TEST(Driver, NamesTheOneLaunchThatAnErrorCanComeFrom) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  std::string const text = printed_of_driver([&] {
    {
      TRACE_SPAN(info, "caller");
      driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
    }
    answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
    EXPECT_EQ(driver.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(driver.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  });
  EXPECT_THAT(text, HasSubstr("ERROR ctx_synchronize{device=0}: tracing::cuda: cuCtxSynchronize() failed, and the context is lost: "));
  EXPECT_THAT(text, HasSubstr("ERROR caller:launch{"));
  EXPECT_THAT(text, HasSubstr("launch #1 of first caused it: no other was outstanding error=CUDA_ERROR_ILLEGAL_ADDRESS\n"));
  EXPECT_THAT(text, HasSubstr(" WARN ctx_synchronize{device=0}: tracing::cuda: cuCtxSynchronize() failed: the context is lost since "
                              "cuCtxSynchronize() error=CUDA_ERROR_ILLEGAL_ADDRESS code=700\n"));
  ASSERT_TRUE(driver.loss());
  EXPECT_FALSE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700) from cuCtxSynchronize(): "));
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of first, the only one outstanding, did it"));
}

TEST(Driver, NamesAllLaunchesThatAnErrorMayComeFrom) {
  Driver driver(answering());
  CUfunction const first = function_of(driver, "first");
  CUfunction const second = function_of(driver, "second");
  std::string const text = printed_of_driver([&] {
    driver.launch_kernel(first, {}, {}, 0, nullptr, nullptr);
    driver.launch_kernel(second, {}, {}, 0, nullptr, nullptr);
    answers.synchronize = CUDA_ERROR_LAUNCH_FAILED;
    driver.ctx_synchronize();
  });
  EXPECT_THAT(text, HasSubstr("launch #1 of first is one of 2 that may have caused it"));
  EXPECT_THAT(text, HasSubstr("launch #2 of second is one of 2 that may have caused it"));
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("one of 2 launches that were outstanding did it: "));
}

TEST(Driver, IsExactWhereTheDriverCanTell) {
  DriverOptions options;
  options.failed_launch = [] { return DriverOptions::Failed{answers.launched.at(1), "line 12, block 3"}; };
  Driver driver(answering(), options);
  CUfunction const first = function_of(driver, "first");
  CUfunction const second = function_of(driver, "second");
  driver.launch_kernel(first, {}, {}, 0, nullptr, nullptr);
  driver.launch_kernel(second, {}, {}, 0, nullptr, nullptr);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.ctx_synchronize();
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of second did it (line 12, block 3)"));
}

TEST(Driver, IsExactWhereLaunchesBlock) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  CUfunction const function = function_of(driver, "first");
  std::string const text = printed_of_driver([&] { EXPECT_EQ(driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr), CUDA_SUCCESS); });
  EXPECT_EQ(answers.synchronized, 1);
  EXPECT_THAT(text, HasSubstr("launch=#1 blocking=true}: tracing::cuda: completed launch=#1 observed_by=CUDA_LAUNCH_BLOCKING"));
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of first did it"));
}

TEST(Driver, IsExactWhereTheDriverItselfWaitsForLaunches) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  answers.launch = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of first did it"));
  EXPECT_TRUE(driver.launches().outstanding().empty());
}

TEST(Driver, BlamesNobodyForALaunchThatItDoesNotKnow) {
  DriverOptions options;
  options.failed_launch = [] { return DriverOptions::Failed{987654, "line 12"}; };
  Driver driver(answering(), options);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_THAT(printed_of_driver([&] { driver.ctx_synchronize(); }), HasSubstr("code=700 detail=\"line 12\"\n"));
  ASSERT_TRUE(driver.loss());
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("launch 987654 did it, of which no more is known here (line 12)"));
}

TEST(Driver, WhatIsLaunchedDuringASynchronisationIsNotEndedByIt) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
  answers.while_synchronizing = [&] { driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr); };
  driver.ctx_synchronize();
  ASSERT_EQ(driver.launches().outstanding().size(), 1u);
  EXPECT_EQ(driver.launches().outstanding().front().id, answers.launched.back());
}

TEST(Driver, WhatRunsOnADestroyedStreamIsStillOutstanding) {
  Driver driver(answering());
  CUstream stream = nullptr;
  driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, stream, nullptr);
  driver.stream_destroy(stream);
  EXPECT_EQ(driver.launches().outstanding().size(), 1u);
  driver.stream_synchronize(nullptr);
  EXPECT_EQ(driver.launches().outstanding().size(), 1u);
  driver.ctx_synchronize();
  EXPECT_TRUE(driver.launches().outstanding().empty());
}

TEST(Driver, TheDefaultStreamHasTwoNames) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  driver.stream_synchronize(CU_STREAM_LEGACY);
  EXPECT_TRUE(driver.launches().outstanding().empty());
}

TEST(Driver, CallsAHostFunctionInTheSpanOfItsCall) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] {
    TRACE_SPAN(info, "caller");
    driver.launch_host_func(nullptr, [](void* data) { TRACE_INFO("called with {}", *static_cast<int*>(data)); }, std::vector<int>{7}.data());
  });
  EXPECT_THAT(text, HasSubstr("INFO caller:launch_host_func{stream=0}: "));
  EXPECT_THAT(text, HasSubstr(": called with 7\n"));
}

TEST(Driver, LeavesBehindHowItsContextWasLost) {
  take_losses_of_gone_drivers();
  {
    Driver driver(answering());
    driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
    answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
    driver.ctx_synchronize();
    EXPECT_TRUE(take_losses_of_gone_drivers().empty());
  }
  EXPECT_EQ(take_losses_of_gone_drivers().size(), 1u);
  EXPECT_TRUE(take_losses_of_gone_drivers().empty());
}

TEST(Driver, HasNothingToMakeCurrentBeforeADeviceIsOpen) {
  Driver driver(answering());
  EXPECT_FALSE(driver.has_device());
  EXPECT_EQ(driver.make_current(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(Driver, ARejectedLaunchIsNoCandidate) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  answers.launch = CUDA_ERROR_INVALID_VALUE;
  std::string const text = printed_of_driver([&] { driver.launch_kernel(function, {}, {2048}, 0, nullptr, nullptr); });
  EXPECT_THAT(text, HasSubstr("cuLaunchKernel(first, grid (1, 1, 1), block (2048, 1, 1), 0 bytes shared, the default stream) failed: "));
  EXPECT_TRUE(driver.launches().outstanding().empty());
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
    driver.event_record(nullptr, nullptr);
    driver.launch_host_func(nullptr, [](void*) {}, nullptr);
  }, SpanEvents::exit);
  EXPECT_THAT(text, HasSubstr("mem_free_async{pointer=0x1000 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("memset_d8_async{value=1 count=4 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("memset_d32_async{value=1 count=4 stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("stream_wait_event{stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("event_record{stream=0 capture=\"active\"}"));
  EXPECT_THAT(text, HasSubstr("launch_host_func{stream=0 capture=\"active\"}"));
}

TEST(Driver, ACapturedHostFunctionMayBeCalledMoreThanOnce) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  int calls = 0;
  driver.launch_host_func(nullptr, [](void* count) { ++*static_cast<int*>(count); }, &calls);
  EXPECT_EQ(calls, 2);
}

TEST(Driver, AnEventOfAGraphObservesNoLaunch) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  driver.event_record(handle<CUevent>(1), nullptr);
  driver.event_query(handle<CUevent>(1));
  EXPECT_EQ(driver.launches().outstanding().size(), 1u);
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

TEST(Driver, MeasuresACopyThatItWaitsFor) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] { driver.memcpy_htod(0x1000, "abcd", 4); }, SpanEvents::exit);
  EXPECT_THAT(text, HasSubstr("memcpy_htod{bytes=4 device=0 duration_us=<us> gb_per_s=<gb>}"));
}

TEST(Driver, ForgetsTheOldestOfManyLaunchesAndCountsThem) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  for (std::size_t i = 0; i < LaunchLog::kMostPerStream + 3; ++i) driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
  EXPECT_EQ(driver.launches().outstanding().size(), LaunchLog::kMostPerStream);
  EXPECT_EQ(driver.launches().forgotten(), 3u);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.ctx_synchronize();
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("one of 259 launches that were outstanding did it: "));
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
}  // namespace tracing::cuda
