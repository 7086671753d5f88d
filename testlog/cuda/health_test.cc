// What a program prints whose tests break a device, of which it is known only that the process has it loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "testlog/testdata/run.h"
#include "tests/approval.h"

namespace {

using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

Outcome run(Variables variables = {}, std::string const& filter = "*") {
  variables.emplace_back("TRACE_TIME", "none");
  return testlog::testdata::run({CUDA_HEALTH_SCENARIOS, "--gtest_filter=" + filter}, variables);
}

// Without times, and with places in the source as from the root of the tree.
std::string scrubbed(std::string const& text) {
  std::string const timeless = std::regex_replace(text, std::regex("\\([0-9]+ ms( total)?\\)"), "(<ms>)");
  return std::regex_replace(timeless, std::regex("[^ \n]*testlog/cuda/testdata/(\\w+\\.cc:)[0-9]+"), "$1<line>");
}

TEST(CudaHealth, TheFirstTestThatBreaksTheDeviceFailsAndLaterOnesAreItsConsequences) {
  Outcome const outcome = run({}, "Device.*");
  EXPECT_EQ(outcome.exit_code, 1);
  tracing::testing::expect_approved("health.txt", scrubbed(outcome.out) + "==== standard error ====\n" + outcome.err);
}

TEST(CudaHealth, NoTestRunsAfterwardsWhereThatIsAskedFor) {
  Outcome const outcome = run({{"TRACE_CUDA_HEALTH", "stop"}});
  EXPECT_THAT(outcome.out, HasSubstr("No further test runs: TRACE_CUDA_HEALTH=stop."));
  EXPECT_THAT(outcome.out, Not(HasSubstr("the device does not answer")));
}

TEST(CudaHealth, WhatEndsWithItsTestIsToldAndNoConsequenceSought) {
  Outcome const outcome = run({}, "Device.IsLeft*:Device.IsWellAgain");
  EXPECT_THAT(outcome.out, HasSubstr("The CUDA device is not well after this test: 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"));
  EXPECT_THAT(outcome.out, HasSubstr("OK ] Device.IsWellAgain"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("TRACE_CUDA_HEALTH")));
}

TEST(CudaHealth, ATestMayDestroyItsContext) {
  Outcome const outcome = run({}, "Context.IsDestroyed");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST(CudaHealth, IsNotLookedAtWhereThatIsAskedFor) {
  Outcome const outcome = run({{"TRACE_CUDA_HEALTH", "off"}}, "Device.IsBroken");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST(CudaHealth, LaunchesAreNotKnownWhereNothingIsCaptured) {
  Outcome const outcome = run({{"TRACE_CAPTURE", "off"}}, "Device.IsBroken");
  EXPECT_THAT(outcome.out, HasSubstr("Its launches are not known: nothing is captured: TRACE_CAPTURE is off."));
}

TEST(CudaHealth, TheReportNamesTheTestThatBrokeTheDevice) {
  std::string const path = testing::TempDir() + "cuda_health.xml";
  testlog::testdata::run({CUDA_HEALTH_SCENARIOS, "--gtest_output=xml:" + path});
  EXPECT_THAT(testlog::testdata::content_of(path), HasSubstr("name=\"cuda_device_broken_by\" value=\"Device.IsBroken\""));
}

}  // namespace
