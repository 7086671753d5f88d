// ReportWalk: visits the records and the failures of a failure report in the order of time.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "testlog/capture/unreported_records.h"
#include "testlog/report/noted_failures.h"
#include "tracing_core/export/print.h"
#include "tracing_core/record/spans.h"

namespace testlog { inline namespace v1 {

/// Finds silent spans: spans that end without an event or another span inside. Leaves out perf spans, which have
/// reports of their own, and spans of devices, since the calls that started them have lines. Most other silent spans
/// only waited, as in threads of a pool, so they count only on a thread that failed or runs the test, and only if they
/// ended before the last failure or an assertion failed in them.
class SilentSpans {
 public:
  /// `failures` must be in the order of time.
  SilentSpans(std::span<NotedFailure const> failures, std::uint64_t test_thread);

  /// Called for each entry. Returns true if a silent span that counts ends here.
  bool follow(tracing::recording::Entry const& entry);

 private:
  bool has_line(std::uint64_t thread, std::uint64_t begin, std::uint64_t end) const noexcept;

  std::span<NotedFailure const> const failures_;
  std::unordered_set<std::uint64_t> threads_;              // the threads that failed, and the thread that runs the test
  std::unordered_map<std::uint64_t, std::uint64_t> open_;  // when spans began that are silent so far
};

/// Visits the same lines in each walk over the same records. Everything passed to it must outlive it.
class ReportWalk {
 public:
  ReportWalk(UnreportedRecords const& unreported, tracing::SpanEvents span_events,
             std::span<NotedFailure const> failures, std::uint64_t test_thread)
      : unreported_(unreported), span_events_(span_events), failures_(failures), silent_(failures, test_thread) {}

  /// Called for each entry. Calls `on_failure(NotedFailure const&)` for the failures before the entry. Returns true if
  /// the report has a line for the entry.
  template <class F>
  bool follow(tracing::recording::Entry const& entry, F&& on_failure) {
    for (; !failures_.empty() && failures_.front().ticks <= entry.ticks; failures_ = failures_.subspan(1))
      on_failure(failures_.front());
    return follow_record(entry);
  }
  /// Calls `on_failure` for the failures after the last entry.
  template <class F>
  void finish(F&& on_failure) {
    for (; !failures_.empty(); failures_ = failures_.subspan(1)) on_failure(failures_.front());
  }

  /// Returns the span of the entry, see Spans.
  tracing::recording::Span const* span() const noexcept { return spans_.current(); }
  /// Returns true if the followed record was printed when it happened, with all spans around it. Silent spans never
  /// were.
  bool was_shown(tracing::recording::Entry const& entry) const noexcept;

  /// Returns the span events that a report prints. Without TRACE_SPAN_EVENTS they are the ends of silent spans.
  static tracing::SpanEvents printed_events(tracing::SpanEvents chosen) noexcept {
    return chosen == tracing::SpanEvents::none ? tracing::SpanEvents::close : chosen;
  }

 private:
  bool follow_record(tracing::recording::Entry const& entry);

  UnreportedRecords const& unreported_;
  tracing::SpanEvents const span_events_;
  std::span<NotedFailure const> failures_;
  tracing::recording::Spans spans_;
  SilentSpans silent_;
};

}}  // namespace testlog::v1
