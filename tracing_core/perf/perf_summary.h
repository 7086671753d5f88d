// PerfSummary: the durations of perf spans with a row for each name, and its output formats; PerfStatistics makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/perf/duration_sketch.h"

namespace tracing { inline namespace v1 {

/// The perf spans of one name.
struct PerfRow {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  ///< total_ns without the time of perf spans inside of them
  std::uint64_t min_ns = 0;
  std::uint64_t max_ns = 0;
  double share = 0;  ///< self_ns divided by the sum of all rows' self_ns
  std::shared_ptr<DurationSketch const> durations;

  /// Returns the quantile `q`, 0.5 for the median, within DurationSketch::kRelativeError and between min_ns and max_ns.
  std::uint64_t quantile_ns(double q) const noexcept;
};

/// The durations of perf spans at one moment. Rows with the longest self times come first.
struct PerfSummary {
  std::vector<PerfRow> rows;

  bool empty() const noexcept { return rows.empty(); }
  /// Returns the row of this name, or null.
  PerfRow const* find(std::string_view name) const noexcept;
  /// Returns the difference to `earlier`, a summary of the same statistics. The minimum and maximum of the difference
  /// are exact if they are also the minimum and maximum of this summary; otherwise they are within
  /// DurationSketch::kRelativeError.
  PerfSummary since(PerfSummary const& earlier) const;
};

/// The durations of perf spans so far. Thread-safe; reading takes a lock that other threads take only when they meet a
/// callsite for the first time.
class PerfStatistics {
 public:
  PerfStatistics() = default;
  PerfStatistics(PerfStatistics const&) = delete;
  PerfStatistics& operator=(PerfStatistics const&) = delete;
  virtual ~PerfStatistics() = default;

  /// Returns the sums of all spans that ended so far.
  virtual PerfSummary summary() const = 0;
};

/// Appends a table for people with a header line, or nothing if the summary is empty.
void append_perf_table(TextBuffer& out, PerfSummary const& summary);
/// Appends Prometheus text (exposition format 0.0.4): for each name a summary `tracing_perf_span_seconds` with the
/// quantiles 0.5, 0.95 and 0.99, and families for self time, minimum, maximum and share. Names must be UTF-8.
void append_perf_prometheus(TextBuffer& out, PerfSummary const& summary);
/// Appends a JSON object per line for each row:
/// `{"timestamp":"...","level":"INFO","fields":{"event":"performance_summary","name":"cpu_ldg","count":3,"total_us":4.2,...}}`.
void append_perf_json(TextBuffer& out, PerfSummary const& summary, Instant time);

namespace internal {

// Sorts the rows by self time and sets their shares.
void sort_and_set_shares(PerfSummary& summary);

}  // namespace internal
}}  // namespace tracing::v1
