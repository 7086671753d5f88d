// The output of a program whose tests break a device through a driver that tracing::cuda has not opened.
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
  return testlog::testdata::run({DEVICE_CHECK_SCENARIOS, "--gtest_filter=" + filter}, variables);
}

// Removes times, folders and line numbers.
std::string scrubbed(std::string const& text) {
  std::string timeless = std::regex_replace(text, std::regex("\\([0-9]+ ms( total)?\\)"), "(<ms>)");
  timeless = std::regex_replace(timeless, std::regex("=run.rec [^ ]*/"), "=run.rec ");
  return std::regex_replace(timeless, std::regex("[^ \n]*testlog/cuda/testdata/(\\w+\\.cc:)[0-9]+"), "$1<line>");
}

TEST(DeviceCheck, FailsTheTestThatBrokeTheDeviceAndMarksLaterFailures) {
  Outcome const outcome = run({}, "Device.*");
  EXPECT_EQ(outcome.exit_code, 1);
  tracing::testing::expect_approved("device_check.txt",
                                    scrubbed(outcome.out) + "==== standard error ====\n" + scrubbed(outcome.err));
}

TEST(DeviceCheck, StopSkipsTheRemainingTests) {
  Outcome const outcome = run({{"TRACE_CUDA_HEALTH", "stop"}});
  EXPECT_THAT(outcome.out, HasSubstr("The remaining tests are skipped: TRACE_CUDA_HEALTH=stop."));
  EXPECT_THAT(outcome.out, Not(HasSubstr("the device does not answer")));
}

TEST(DeviceCheck, ErrorThatKeepsTheContextFailsOnlyItsTest) {
  Outcome const outcome = run({}, "Device.IsLeft*:Device.WorksAgain");
  EXPECT_THAT(
      outcome.out,
      HasSubstr("The CUDA device reported an error after this test: 900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"));
  EXPECT_THAT(outcome.out, HasSubstr("OK ] Device.WorksAgain"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("TRACE_CUDA_HEALTH")));
}

TEST(DeviceCheck, AcceptsADestroyedContext) {
  Outcome const outcome = run({}, "Context.IsDestroyed");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST(DeviceCheck, OffChecksNothing) {
  Outcome const outcome = run({{"TRACE_CUDA_HEALTH", "off"}}, "Device.IsBroken");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST(DeviceCheck, LaunchesAreUnknownIfNothingIsCaptured) {
  Outcome const outcome = run({{"TRACE_CAPTURE", "off"}}, "Device.IsBroken");
  EXPECT_THAT(outcome.out, HasSubstr("Its launches are unknown: nothing is captured: TRACE_CAPTURE is off."));
}

TEST(DeviceCheck, XmlReportNamesTheTestThatBrokeTheDevice) {
  std::string const path = testing::TempDir() + "device_check.xml";
  testlog::testdata::run({DEVICE_CHECK_SCENARIOS, "--gtest_output=xml:" + path});
  EXPECT_THAT(testlog::testdata::content_of(path),
              HasSubstr("name=\"cuda_device_broken_by\" value=\"Device.IsBroken\""));
}

}  // namespace
