// Declares the listener that looks at the devices after each test.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "testlog/cuda/process_driver.h"
#include "testlog/session.h"
#include "tracing_core/cuda/driver.h"

namespace testlog::inline v1 {

/// Waits for the devices when a test ends: what fails then is told as the test's failure, with the launches that may have
/// caused it, and tests that fail later in the process as its consequences.
class CudaHealthListener final : public testing::EmptyTestEventListener {
 public:
  explicit CudaHealthListener(Session& session) : session_(session) {}

  void OnTestEnd(testing::TestInfo const& test) override;

 private:
  void check(tracing::cuda::Driver& driver, testing::TestInfo const& test);
  // `for_good`: the context is lost, and nothing works any more.
  void fail(testing::TestInfo const& test, std::string const& what, bool for_good);
  void mark_consequence(testing::TestInfo const& test);
  // Of a program that calls the runtime API: the spans named launch.
  std::string launches_of_test() const;
  std::string candidates_of(tracing::cuda::Loss const& loss) const;

  Session& session_;
  ProcessDriver process_driver_;
  std::string broken_by_;  // the test; empty while all is well
};

}  // namespace testlog::inline v1

/// Named by an object in every program that links testlog::cuda, so that this library, which nothing else may name, stays.
extern "C" int const testlog_cuda_keep_linked;
