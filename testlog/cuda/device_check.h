// DeviceCheckListener: checks the CUDA devices after each test.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "testlog/cuda/process_driver.h"
#include "testlog/session.h"
#include "tracing_core/cuda/driver.h"

namespace testlog { inline namespace v1 {

/// Waits for the devices when a test ends. An error is a failure of that test, reported with the launches that may have
/// caused it. Later failures in the process are marked as possible consequences.
class DeviceCheckListener final : public testing::EmptyTestEventListener {
 public:
  explicit DeviceCheckListener(Session& session) : session_(session) {}

  /// Begins to record device times if TRACE_CUDA_DEVICE_TIMES=on, for programs that use the runtime API.
  void OnTestProgramStart(testing::UnitTest const& program) override;
  void OnTestEnd(testing::TestInfo const& test) override;

 private:
  void check_devices(testing::TestInfo const& test);
  void check(tracing::cuda::Driver& driver, testing::TestInfo const& test);
  // `lost`: the context is lost, so nothing works until the process ends.
  void fail(testing::TestInfo const& test, std::string const& error, bool lost);
  void mark_consequence(testing::TestInfo const& test);
  // The spans named `launch` that the test recorded, for programs that call the runtime API.
  std::string launches_of_test() const;
  std::string candidates_of(tracing::cuda::Loss const& loss) const;

  Session& session_;
  ProcessDriver process_driver_;
  std::string broken_by_;  // the full name of the test that broke a device
};

}}  // namespace testlog::v1

/// Referenced by an object in every program that links testlog::cuda, so that the linker keeps this library.
extern "C" int const testlog_cuda_keep_linked;
