// FailureReport: prints captured records of tests that fail.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "testlog/session.h"

namespace testlog::inline v1 {

/// Prints the captured records of the process, each at most once. Without TRACE_SPAN_EVENTS, each span in which nothing
/// was recorded has a line, too, as that variable prints `close`. Single-thread.
class FailureReport {
 public:
  explicit FailureReport(Session& session) noexcept : session_(session) {}

  /// Prints, under `headline`, the records not shown yet: those since the last call of skip() or of this function, and
  /// those of set-up code. If there are none, prints nothing unless `always`, for a headline that is always needed.
  void print_unreported(std::string_view headline, bool always = false);
  /// Prints the records that TRACE_FILTER selected, under the name of the test that passed or, after the last test,
  /// without a headline.
  void print_matching(std::string_view test);
  /// Marks the records of tests so far as reported.
  void skip() noexcept;

 private:
  template <class Select>
  std::string lines_of(tracing::internal::Recording& recording, std::unique_ptr<tracing::Filter> filter,
                       tracing::SpanEvents span_events, Select&& select) const;
  std::string overwritten(std::uint64_t from) const;

  Session& session_;
};

}  // namespace testlog::inline v1
