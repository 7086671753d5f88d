// Declares PerfSummary, how long perf spans took so far, a row for each name, and the texts that show it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/perf/duration_sketch.h"

namespace tracing::inline v1 {

/// The perf spans of one name.
struct PerfRow {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  ///< without what perf spans inside of them took
  std::uint64_t min_ns = 0;
  std::uint64_t max_ns = 0;
  double share = 0;  ///< the part that self_ns is of all rows' self_ns: shares add up to 1
  std::shared_ptr<DurationSketch const> durations;

  /// Within DurationSketch::kRelativeError, and between min_ns and max_ns. `q` is 0.5 for the median.
  std::uint64_t quantile_ns(double q) const noexcept;
};

/// How long perf spans took, at one moment. Rows with the longest self times first.
struct PerfSummary {
  /// The row of those whose name came when there was no room for more names: see PerfOptions::most_names. One that is called
  /// so is one of them.
  static constexpr std::string_view kOthers = "(others)";

  std::vector<PerfRow> rows;

  bool empty() const noexcept { return rows.empty(); }
  /// Null where there is none.
  PerfRow const* find(std::string_view name) const noexcept;
  /// What came after `earlier`, which is a summary of the same statistics. Its least and greatest durations are exact where
  /// they are the least and greatest of all, else within DurationSketch::kRelativeError.
  PerfSummary since(PerfSummary const& earlier) const;
};

/// Appends a table for people under a line with the names of its columns. Nothing where there are no rows.
void append_perf_table(TextBuffer& out, PerfSummary const& summary);
/// Appends the text that Prometheus reads (exposition format 0.0.4): for each name a summary `tracing_perf_span_seconds` with
/// the quantiles 0.5, 0.95 and 0.99, and families for self time, least, greatest and share. In a name that is not UTF-8 bytes
/// are `\xff` and backslashes doubled, and a label `encoding="escaped"` says so: different names stay different.
void append_perf_prometheus(TextBuffer& out, PerfSummary const& summary);
/// Appends an object on a line for each row:
/// `{"timestamp":"...","level":"INFO","fields":{"event":"performance_summary","name":"cpu_ldg","count":3,"total_us":4.2,...}}`.
void append_perf_json(TextBuffer& out, PerfSummary const& summary, Instant time);

}  // namespace tracing::inline v1
