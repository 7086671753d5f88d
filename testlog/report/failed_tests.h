// FailedTests: collects what failed in a test program, for the lines with which the program ends.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "testlog/capture/attribution.h"
#include "testlog/capture/capture.h"
#include "testlog/summary/run_summary.h"

namespace testing {
class TestPartResult;
class UnitTest;
}  // namespace testing

namespace testlog { inline namespace v1 {

/// Keeps the first failure of each test that failed. Single-thread, except that any thread may fail; GoogleTest lets
/// one thread report after the other.
class FailedTests {
 public:
  explicit FailedTests(Capture const& capture) noexcept : capture_(capture) {}

  /// Called when an assertion failed in the spans `path`. `test` is empty outside any test.
  void note(std::string_view test, testing::TestPartResult const& failure, std::string const& path);
  /// Called at the end of a test that failed. Reads the records of the test.
  void end_test(std::string const& test, TestTag tag);

  /// Returns the lines that sum up the run: nothing if fewer than two tests failed, since the report of a single test
  /// is just above. `recording` is the path of the recording, or empty.
  std::string text(testing::UnitTest const& program, std::string const& recording) const;

 private:
  struct FailedTest {
    summary::TestOutcome outcome;
    std::uint64_t ticks = 0;  // the place of the failure in the recording
  };

  Capture const& capture_;
  std::map<std::string, FailedTest, std::less<>> tests_;
};

}}  // namespace testlog::v1
