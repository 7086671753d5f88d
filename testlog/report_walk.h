// ReportWalk: meets what a failure report is about, in the order of time.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>

#include "testlog/noted_failures.h"
#include "testlog/unreported_records.h"
#include "tracing_core/export/print.h"
#include "tracing_core/record/recorded_spans.h"

namespace testlog::inline v1 {

/// Notices spans that end without an event or another span inside. Not perf spans, which report themselves, nor what a
/// device did: the calls that made it do so have lines.
class SilentSpans {
 public:
  /// To be called for each entry. Whether such a span ends here.
  bool follow(tracing::internal::RecordEntry const& entry);

 private:
  std::unordered_set<std::uint64_t> open_;
};

/// Two walks over the same records meet the same lines. Everything passed to it must outlive it.
class ReportWalk {
 public:
  ReportWalk(UnreportedRecords const& unreported, tracing::SpanEvents span_events,
             std::span<NotedFailure const> failures) noexcept
      : unreported_(unreported), span_events_(span_events), failures_(failures) {}

  /// To be called for each entry. Calls `on_failure(NotedFailure const&)` for the failures before it. Whether the report
  /// has a line for the entry.
  template <class F>
  bool follow(tracing::internal::RecordEntry const& entry, F&& on_failure) {
    for (; !failures_.empty() && failures_.front().ticks <= entry.ticks; failures_ = failures_.subspan(1))
      on_failure(failures_.front());
    return follow_record(entry);
  }
  /// The same for the failures after the last entry.
  template <class F>
  void finish(F&& on_failure) {
    for (; !failures_.empty(); failures_ = failures_.subspan(1)) on_failure(failures_.front());
  }

  /// See RecordedSpans.
  tracing::internal::RecordedSpan const* span() const noexcept { return spans_.current(); }
  /// Whether the followed record was printed when it happened, with all spans around it. Silent spans never are.
  bool was_shown(tracing::internal::RecordEntry const& entry) const noexcept;

  /// What is printed of a span: without TRACE_SPAN_EVENTS, the end of those that are silent.
  static tracing::SpanEvents printed_events(tracing::SpanEvents chosen) noexcept {
    return chosen == tracing::SpanEvents::none ? tracing::SpanEvents::close : chosen;
  }

 private:
  bool follow_record(tracing::internal::RecordEntry const& entry);

  UnreportedRecords const& unreported_;
  tracing::SpanEvents const span_events_;
  std::span<NotedFailure const> failures_;
  tracing::internal::RecordedSpans spans_;
  SilentSpans silent_;
};

}  // namespace testlog::inline v1
