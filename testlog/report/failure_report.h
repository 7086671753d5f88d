// FailureReport: prints captured records of tests that fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/report/noted_failures.h"
#include "testlog/report/report_parts.h"
#include "testlog/why/baseline.h"

namespace testlog { inline namespace v1 {

/// Prints the captured records of the process, each in at most one report. Without TRACE_SPAN_EVENTS, a span in which
/// nothing was recorded also has a line, as TRACE_SPAN_EVENTS=close prints it; see SilentSpans. Single-thread, except
/// note().
class FailureReport {
 public:
  explicit FailureReport(ReportParts const& parts) noexcept : parts_(parts) {}

  /// Called when an assertion failed in the spans `path` of the calling thread. `owner` is the test whose work failed.
  /// Thread-safe.
  void note(framework::Part const& failure, std::string_view path, Owner owner);
  /// Prints, under `headline`, the records and failures since the last call of skip() or of this function, and the
  /// records of set-up code; at most TRACE_REPORT_LINES lines. If all records were shown as they happened, prints
  /// nothing or, with `always`, only the headline. Returns the first 16 KiB of the report; empty if it has no record.
  /// The framework's file of results gets it even if it is not printed.
  std::string print_unreported(std::string_view headline, bool always = false);
  /// Prints the first lines of `testlog why` about the running test, which has failed, if the last recordings of the
  /// test that passed are there. Says nothing if they cannot be read or nothing differs. Reads nothing once the process
  /// has read why::kMaxCompared entries for this.
  void print_why(std::string const& test) noexcept;
  /// Prints the records that TRACE_FILTER selected, under the name of the test that passed or, after the last test,
  /// without a headline. Returns true if there were any.
  bool print_matching(std::string_view test);
  /// Returns how many spans of the running test the filter selected, or 0 if it also selected an event.
  std::uint64_t spans_without_events() const;
  /// Marks the records of tests so far as reported.
  void skip() noexcept;

 private:
  std::string print(std::string_view headline, bool always, std::vector<NotedFailure> const& failures);
  std::string overwritten(std::uint64_t from) const;

  ReportParts const& parts_;
  NotedFailures failures_;
  std::uint64_t entries_left_ = why::kMaxCompared;  // that print_why() may read
};

}}  // namespace testlog::v1
