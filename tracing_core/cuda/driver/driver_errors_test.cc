// Tests of how a Driver reports errors: the failed call, and the launch that caused the failure.
#define TRACE_TARGET "tracing::cuda_test"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tracing_core/cuda/driver/driver_test_support.h"

namespace tracing::cuda_test { namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(Driver, ReportsAFailedCallWithItsTextNameAndCode) {
  Driver driver(answering());
  answers.alloc = CUDA_ERROR_OUT_OF_MEMORY;
  CUdeviceptr pointer = 0;
  std::string const text =
      printed_of_driver([&] { EXPECT_EQ(driver.mem_alloc(&pointer, 4096), CUDA_ERROR_OUT_OF_MEMORY); });
  EXPECT_THAT(text,
              HasSubstr("ERROR mem_alloc{bytes=4096 device=0}: tracing::cuda_test: cuMemAlloc(4096 bytes) failed: "));
  EXPECT_THAT(text, HasSubstr("error=CUDA_ERROR_OUT_OF_MEMORY code=2\n"));
  EXPECT_FALSE(driver.loss());
}

TEST(Driver, PassesFailedCallsThatLoseNothing) {
  std::string passed;
  DriverOptions options;
  options.last_message = [] { return "8 bytes free"; };
  options.failed_call = [&](std::string_view call, std::string_view detail) {
    passed.append(call).append(": ").append(detail).append("\n");
  };
  Driver driver(answering(), options);
  CUdeviceptr pointer = 0;
  driver.mem_alloc(&pointer, 64);
  answers.alloc = CUDA_ERROR_OUT_OF_MEMORY;
  driver.mem_alloc(&pointer, 4096);
  driver.check(CUDA_ERROR_NOT_READY, "cuStreamQuery()");
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.ctx_synchronize();
  EXPECT_EQ(passed, "cuMemAlloc(4096 bytes): 8 bytes free\n");
}

TEST(Driver, NamesTheOnlyOutstandingLaunchAsTheCause) {
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
  EXPECT_THAT(
      text,
      HasSubstr("ERROR ctx_synchronize{device=0}: tracing::cuda_test: cuCtxSynchronize() failed and the context is "
                "lost: "));
  EXPECT_THAT(text, HasSubstr("ERROR caller:launch{"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "launch #1 of first caused the failure: no other launch was outstanding error=CUDA_ERROR_ILLEGAL_ADDRESS\n"));
  EXPECT_THAT(
      text,
      HasSubstr(" WARN ctx_synchronize{device=0}: tracing::cuda_test: cuCtxSynchronize() failed: the context has been "
                "lost since cuCtxSynchronize() error=CUDA_ERROR_ILLEGAL_ADDRESS code=700\n"));
  ASSERT_TRUE(driver.loss());
  EXPECT_FALSE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700) from cuCtxSynchronize(): "));
  EXPECT_THAT(driver.loss()->to_string(),
              ContainsRegex("; caused by launch [0-9]+ of first, the only one outstanding$"));
}

TEST(Driver, NamesAllOutstandingLaunchesAsCandidates) {
  Driver driver(answering());
  CUstream stream = nullptr;
  driver.stream_create(&stream, 0);
  CUfunction const first = function_of(driver, "first");
  CUfunction const second = function_of(driver, "second");
  std::string const text = printed_of_driver([&] {
    driver.launch_kernel(first, {}, {}, 0, nullptr, nullptr);
    driver.launch_kernel(second, {}, {}, 0, stream, nullptr);
    answers.synchronize = CUDA_ERROR_LAUNCH_FAILED;
    driver.ctx_synchronize();
  });
  EXPECT_THAT(text, HasSubstr("launch #1 of first on the default stream is one of 2 that may have caused the failure"));
  EXPECT_THAT(text, HasSubstr("launch #2 of second on stream 1 is one of 2 that may have caused the failure"));
  std::string const loss = driver.loss()->to_string();
  EXPECT_THAT(loss,
              ContainsRegex("caused by one of 2 outstanding launches: launch [0-9]+ of first on the default stream, "
                            "launch [0-9]+ of second on stream 1$"));
}

TEST(Driver, IsExactIfTheDriverKnowsTheFailedLaunch) {
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
  EXPECT_THAT(
      driver.loss()->to_string(),
      ContainsRegex("^line 12, block 3; caused by launch [0-9]+ of second; CUDA_ERROR_[A-Z_]+ \\([0-9]+\\) from "));
}

TEST(Driver, IsExactIfLaunchesBlock) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  CUfunction const function = function_of(driver, "first");
  std::string const text =
      printed_of_driver([&] { EXPECT_EQ(driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr), CUDA_SUCCESS); });
  EXPECT_EQ(answers.synchronized, 1);
  EXPECT_THAT(text, HasSubstr("launch=#1 blocking=true}: tracing::cuda_test: completed launch=#1 "
                              "observed_by=cuStreamSynchronize"));
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), ContainsRegex("; caused by launch [0-9]+ of first$"));
}

TEST(Driver, ReportsWhyLaunchesBlock) {
  DriverOptions options;
  options.launch_blocking = true;
  EXPECT_EQ(printed_of_driver([&] { Driver const driver(answering(), options); }),
            " INFO tracing::cuda: Each launch waits for its kernel to end: DriverOptions::launch_blocking\n");
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EQ(printed_of_driver([&] { Driver const driver(answering()); }),
            " INFO tracing::cuda: Each launch waits for its kernel to end: CUDA_LAUNCH_BLOCKING=1\n");
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

TEST(Driver, DestroyedContextIsNotALoss) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.synchronize = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  std::string const text = printed_of_driver([&] { driver.ctx_synchronize(); });
  EXPECT_THAT(text, HasSubstr("cuCtxSynchronize() failed: the current context was destroyed"));
  EXPECT_FALSE(driver.loss());
}

TEST(Driver, IsExactIfTheLaunchCallReturnsTheErrorOfItsKernel) {
  DriverOptions options;
  options.launch_blocking = true;
  Driver driver(answering(), options);
  answers.launch = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), ContainsRegex("; caused by launch [0-9]+ of first$"));
  EXPECT_TRUE(driver.outstanding_launches().empty());
}

TEST(Driver, NamesNoCandidateIfTheFailedLaunchIsUnknown) {
  DriverOptions options;
  options.failed_launch = [] { return DriverOptions::Failed{987654, "line 12"}; };
  Driver driver(answering(), options);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_THAT(printed_of_driver([&] { driver.ctx_synchronize(); }), HasSubstr("code=700 detail=\"line 12\"\n"));
  ASSERT_TRUE(driver.loss());
  EXPECT_THAT(driver.loss()->to_string(),
              HasSubstr("line 12; caused by launch 987654, which this Driver did not make; CUDA_ERROR_"));
}

TEST(Driver, NamesWhatFailedIfItWasNoLaunch) {
  DriverOptions options;
  options.failed_launch = [] { return DriverOptions::Failed{0, "B is too short", "cublasSgemm()"}; };
  Driver driver(answering(), options);
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_THAT(printed_of_driver([&] { driver.ctx_synchronize(); }), HasSubstr("code=700 detail=\"B is too short\"\n"));
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->candidates.empty());
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("B is too short; caused by cublasSgemm(); CUDA_ERROR_"));
}

TEST(Driver, KeepsTheLossOfADestroyedDriver) {
  take_losses_of_destroyed_drivers();
  {
    Driver driver(answering());
    driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
    answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
    driver.ctx_synchronize();
    EXPECT_TRUE(take_losses_of_destroyed_drivers().empty());
  }
  EXPECT_EQ(take_losses_of_destroyed_drivers().size(), 1u);
  EXPECT_TRUE(take_losses_of_destroyed_drivers().empty());
}

TEST(Driver, MakeCurrentFailsBeforeOpenDevice) {
  Driver driver(answering());
  EXPECT_FALSE(driver.has_device());
  EXPECT_EQ(driver.make_current(), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(Driver, RefusedLaunchIsNotOutstanding) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  answers.launch = CUDA_ERROR_INVALID_VALUE;
  std::string const text = printed_of_driver([&] { driver.launch_kernel(function, {}, {2048}, 0, nullptr, nullptr); });
  EXPECT_THAT(text,
              HasSubstr("cuLaunchKernel(first, grid (1, 1, 1), block (2048, 1, 1), 0 bytes shared, the default stream) "
                        "failed: "));
  EXPECT_TRUE(driver.outstanding_launches().empty());
}

}}  // namespace tracing::cuda_test
