// The launches that a query, an event or a synchronisation completes.
#define TRACE_TARGET "tracing::cuda_test"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tracing_core/cuda/driver/driver_test_support.h"
#include "tracing_core/cuda/driver/launch_log.h"

namespace tracing::cuda_test { namespace {

using ::testing::HasSubstr;

TEST(Driver, QueryOfABusyStreamCompletesNothing) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  CUstream stream = nullptr;
  driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
  answers.query = CUDA_ERROR_NOT_READY;
  std::string const silent = printed_of_driver([&] { EXPECT_EQ(driver.stream_query(stream), CUDA_ERROR_NOT_READY); });
  EXPECT_EQ(silent, "");
  EXPECT_EQ(driver.outstanding_launches().size(), 1u);
  answers.query = CUDA_SUCCESS;
  driver.stream_query(stream);
  EXPECT_TRUE(driver.outstanding_launches().empty());
}

TEST(Driver, EventCompletesTheLaunchesBeforeIt) {
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
  ASSERT_EQ(driver.outstanding_launches().size(), 1u);
  EXPECT_EQ(driver.outstanding_launches().front().id, answers.launched[1]);
}

TEST(Driver, DefaultStreamWaitsForBlockingStreamsOnly) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  CUstream waiting = nullptr;
  CUstream independent = nullptr;
  driver.stream_create(&waiting, CU_STREAM_DEFAULT);
  driver.stream_create(&independent, CU_STREAM_NON_BLOCKING);
  driver.launch_kernel(function, {}, {}, 0, waiting, nullptr);
  driver.launch_kernel(function, {}, {}, 0, independent, nullptr);
  driver.stream_synchronize(nullptr);
  ASSERT_EQ(driver.outstanding_launches().size(), 1u);
  EXPECT_EQ(driver.outstanding_launches().front().stream, 2u);
}

TEST(Driver, CopyToTheHostCompletesLaunchesOfTheDefaultStream) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  char byte = 0;
  driver.memcpy_htod(0x1000, &byte, 1);
  driver.memcpy_dtoh(&byte, 0x1000, 0);
  EXPECT_EQ(driver.outstanding_launches().size(), 1u);
  driver.memcpy_dtoh(&byte, 0x1000, 1);
  EXPECT_TRUE(driver.outstanding_launches().empty());
}

TEST(Driver, SynchronisationDoesNotCompleteLaunchesMadeDuringIt) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
  answers.while_synchronizing = [&] { driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr); };
  driver.ctx_synchronize();
  ASSERT_EQ(driver.outstanding_launches().size(), 1u);
  EXPECT_EQ(driver.outstanding_launches().front().id, answers.launched.back());
}

TEST(Driver, LaunchesOfADestroyedStreamStayOutstanding) {
  Driver driver(answering());
  CUstream stream = nullptr;
  driver.stream_create(&stream, CU_STREAM_NON_BLOCKING);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, stream, nullptr);
  driver.stream_destroy(stream);
  EXPECT_EQ(driver.outstanding_launches().size(), 1u);
  driver.stream_synchronize(nullptr);
  EXPECT_EQ(driver.outstanding_launches().size(), 1u);
  driver.ctx_synchronize();
  EXPECT_TRUE(driver.outstanding_launches().empty());
}

TEST(Driver, LegacyStreamIsTheDefaultStream) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  driver.stream_synchronize(CU_STREAM_LEGACY);
  EXPECT_TRUE(driver.outstanding_launches().empty());
}

TEST(Driver, CapturedEventCompletesNoLaunch) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  driver.event_record(handle<CUevent>(1), nullptr);
  driver.event_query(handle<CUevent>(1));
  EXPECT_EQ(driver.outstanding_launches().size(), 1u);
}

TEST(Driver, OnlyCountsTheOldestOfTooManyLaunches) {
  Driver driver(answering());
  CUstream stream = nullptr;
  driver.stream_create(&stream, CU_STREAM_DEFAULT);
  CUfunction const function = function_of(driver, "first");
  for (std::size_t i = 0; i < LaunchLog::kMaxPerStream + 3; ++i)
    driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
  EXPECT_EQ(driver.outstanding_launches().size(), LaunchLog::kMaxPerStream);
  driver.stream_synchronize(nullptr);
  EXPECT_TRUE(driver.outstanding_launches().empty());
  driver.launch_kernel(function, {}, {}, 0, stream, nullptr);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.ctx_synchronize();
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of first, the only one outstanding"));
}

TEST(Driver, ErrorMayComeFromALaunchThatIsOnlyCounted) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  CUevent before = nullptr;
  driver.event_create(&before, 0);
  driver.event_record(before, nullptr);
  for (std::size_t i = 0; i < LaunchLog::kMaxPerStream + 3; ++i)
    driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
  driver.event_synchronize(before);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.ctx_synchronize();
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("caused by one of 259 outstanding launches: "));
}

TEST(Driver, RecordsTheNumbersOfEvents) {
  Driver driver(answering());
  CUevent start = nullptr;
  CUevent end = nullptr;
  float elapsed = 0;
  std::string const text = printed_of_driver(
      [&] {
        driver.event_create(&start, 0);
        driver.event_create(&end, 1);
        driver.event_record(start, nullptr);
        driver.stream_wait_event(nullptr, end, 0);
        driver.event_query(end);
        driver.event_synchronize(end);
        driver.event_elapsed_time(&elapsed, start, end);
        driver.event_destroy(start);
        driver.event_create(&start, 0);
      },
      SpanEvents::exit);
  EXPECT_EQ(elapsed, 1.5f);
  EXPECT_EQ(text,
            "TRACE event_create{flags=0 event=1}: tracing::cuda_test: exit\n"
            "TRACE event_create{flags=1 event=2}: tracing::cuda_test: exit\n"
            "TRACE event_record{event=1 stream=0}: tracing::cuda_test: exit\n"
            "TRACE stream_wait_event{stream=0 event=2}: tracing::cuda_test: exit\n"
            "TRACE event_query{event=2 ready=true}: tracing::cuda_test: exit\n"
            "TRACE event_synchronize{event=2}: tracing::cuda_test: exit\n"
            "TRACE event_elapsed_time{start=1 end=2 elapsed_ms=1.5}: tracing::cuda_test: exit\n"
            "TRACE event_destroy{event=1}: tracing::cuda_test: exit\n"
            "TRACE event_create{flags=0 event=3}: tracing::cuda_test: exit\n");
}

}}  // namespace tracing::cuda_test
