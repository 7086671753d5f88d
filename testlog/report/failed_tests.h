// FailedTests: collects what failed in a test program, for the lines with which the program ends.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "testlog/capture/attribution.h"
#include "testlog/capture/capture.h"
#include "testlog/framework.h"
#include "testlog/summary/run_summary.h"

namespace testlog { inline namespace v1 {

/// Keeps the first failure of each test that failed. Single-thread, except that any thread may fail, one after the
/// other.
class FailedTests {
 public:
  explicit FailedTests(Capture const& capture) noexcept : capture_(capture) {}

  /// Called when an assertion failed in the spans `path`. `test` is empty outside any test.
  void note(std::string_view test, framework::Part const& failure, std::string const& path);
  /// Called at the end of a test that failed. Reads the records of the test.
  void end_test(std::string const& test, TestTag tag);

  /// Returns the lines that sum up the run: nothing if fewer than two tests failed, since the report of a single test
  /// is just above. `recording` is the path of the recording, or empty.
  std::string text(int tests, std::string const& recording) const;

  /// Returns what a test prints for CDash, which ctest takes out of its output: how many tests failed, the spans around
  /// a failure, and the recording as a file. `recording` is its path, or empty.
  std::string cdash_text(std::string const& recording) const;

 private:
  struct FailedTest {
    summary::TestOutcome outcome;
    std::uint64_t ticks = 0;  // the place of the failure in the recording
  };

  Capture const& capture_;
  std::map<std::string, FailedTest, std::less<>> tests_;
};

}}  // namespace testlog::v1
