// What a Driver says of failures: which call, which launch, and what it knows of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "tracing_core/cuda/driver_test_support.h"

namespace tracing::cuda_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(Driver, TellsOfAFailingCallByItsTextNameAndCode) {
  Driver driver(answering());
  answers.alloc = CUDA_ERROR_OUT_OF_MEMORY;
  CUdeviceptr pointer = 0;
  std::string const text = printed_of_driver([&] { EXPECT_EQ(driver.mem_alloc(&pointer, 4096), CUDA_ERROR_OUT_OF_MEMORY); });
  EXPECT_THAT(text, HasSubstr("ERROR mem_alloc{bytes=4096 device=0}: tracing::cuda: cuMemAlloc(4096 bytes) failed: "));
  EXPECT_THAT(text, HasSubstr("error=CUDA_ERROR_OUT_OF_MEMORY code=2\n"));
  EXPECT_FALSE(driver.loss());
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
  EXPECT_THAT(text, HasSubstr("ERROR ctx_synchronize{device=0}: tracing::cuda: cuCtxSynchronize() failed, and the context is "
                              "lost: "));
  EXPECT_THAT(text, HasSubstr("ERROR caller:launch{"));
  EXPECT_THAT(text, HasSubstr("launch #1 of first caused it: no other was outstanding error=CUDA_ERROR_ILLEGAL_ADDRESS\n"));
  EXPECT_THAT(text, HasSubstr(" WARN ctx_synchronize{device=0}: tracing::cuda: cuCtxSynchronize() failed: the context is lost "
                              "since cuCtxSynchronize() error=CUDA_ERROR_ILLEGAL_ADDRESS code=700\n"));
  ASSERT_TRUE(driver.loss());
  EXPECT_FALSE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700) from cuCtxSynchronize(): "));
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of first, the only one outstanding, did it"));
}

TEST(Driver, NamesAllLaunchesThatAnErrorMayComeFromWithTheirStreams) {
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
  EXPECT_THAT(text, HasSubstr("launch #1 of first on the default stream is one of 2 that may have caused it"));
  EXPECT_THAT(text, HasSubstr("launch #2 of second on stream 1 is one of 2 that may have caused it"));
  std::string const loss = driver.loss()->to_string();
  EXPECT_THAT(loss, ContainsRegex("one of 2 launches that were outstanding did it: launch [0-9]+ of first on the default "
                                  "stream, launch [0-9]+ of second on stream 1$"));
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
  std::string const text =
      printed_of_driver([&] { EXPECT_EQ(driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr), CUDA_SUCCESS); });
  EXPECT_EQ(answers.synchronized, 1);
  EXPECT_THAT(text, HasSubstr("launch=#1 blocking=true}: tracing::cuda: completed launch=#1 "
                              "observed_by=DriverOptions::launch_blocking"));
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_TRUE(driver.loss());
  EXPECT_TRUE(driver.loss()->exact);
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr(" of first did it"));
}

TEST(Driver, SaysWhoAskedThatLaunchesBlock) {
  DriverOptions options;
  options.launch_blocking = true;
  EXPECT_EQ(printed_of_driver([&] { Driver const driver(answering(), options); }),
            " INFO tracing::cuda: Each launch waits for its end: DriverOptions::launch_blocking=true\n");
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EQ(printed_of_driver([&] { Driver const driver(answering()); }),
            " INFO tracing::cuda: Each launch waits for its end: CUDA_LAUNCH_BLOCKING=1\n");
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

TEST(Driver, AContextThatSomebodyDestroyedIsNotLostByALaunch) {
  Driver driver(answering());
  driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, nullptr, nullptr);
  answers.synchronize = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  std::string const text = printed_of_driver([&] { driver.ctx_synchronize(); });
  EXPECT_THAT(text, HasSubstr("cuCtxSynchronize() failed: the current context was destroyed"));
  EXPECT_FALSE(driver.loss());
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

TEST(Driver, CanBeDestroyedAfterAVisitThatThrew) {
  auto driver = std::make_unique<Driver>(answering());
  EXPECT_THROW(for_each_driver([](Driver&) { throw std::runtime_error("visited"); }), std::runtime_error);
  driver.reset();  // would wait for the visit to end
  int visits = 0;
  for_each_driver([&](Driver&) { ++visits; });
  EXPECT_EQ(visits, 0);
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
  EXPECT_THAT(text, HasSubstr("cuLaunchKernel(first, grid (1, 1, 1), block (2048, 1, 1), 0 bytes shared, the default stream) "
                              "failed: "));
  EXPECT_TRUE(driver.launches().outstanding().empty());
}

}  // namespace
}  // namespace tracing::cuda_test
