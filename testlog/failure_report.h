// FailureReport: prints captured records of tests that fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/noted_failures.h"
#include "testlog/session.h"

namespace testlog::inline v1 {

/// Prints the captured records of the process, each in at most one report. Without TRACE_SPAN_EVENTS, each span in which
/// nothing was recorded has a line, too, as that variable prints `close`. Single-thread, but for note().
class FailureReport {
 public:
  explicit FailureReport(Session& session) noexcept : session_(session) {}

  /// An assertion failed now in the spans `path` of the calling thread. Thread-safe.
  void note(testing::TestPartResult const& failure, std::string_view path);
  /// Prints, under `headline`, the records and failures since the last call of skip() or of this function, and the
  /// records of set-up code; at most TRACE_REPORT_LINES. If all records were shown as they happened, prints nothing or,
  /// with `always`, only the headline.
  void print_unreported(std::string_view headline, bool always = false);
  /// Prints the records that TRACE_FILTER selected, under the name of the test that passed or, after the last test,
  /// without a headline.
  void print_matching(std::string_view test);
  /// Marks the records of tests so far as reported.
  void skip() noexcept;

 private:
  void print(std::string_view headline, bool always, std::vector<NotedFailure> const& failures);
  std::string overwritten(std::uint64_t from) const;

  Session& session_;
  NotedFailures failures_;
};

}  // namespace testlog::inline v1
