// Statistics: sums over the spans, kernels, compilations and allocations of recordings, as tables and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// The number and the durations of calls.
struct DurationStatistics {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t mean_ns = 0;
  std::uint64_t min_ns = 0;
  std::uint64_t p50_ns = 0;  ///< quantiles are exact to 1/64, as DurationSketch computes them
  std::uint64_t p95_ns = 0;
  std::uint64_t max_ns = 0;
};

/// The spans of one name. A call begins when a track enters such a span, and ends when it leaves the span: a held span
/// that is entered several times counts as several calls.
struct SpanStatistics {
  std::string name;  ///< `target::name`
  /// The total counts time in several nested calls once; the mean is over all calls.
  DurationStatistics time{};
  std::uint64_t self_ns = 0;  ///< without the time in spans below
  double share = 0;           ///< self_ns divided by the sum of self_ns in the group
  std::uint64_t open = 0;     ///< calls that had not ended; they count until the last record
  std::uint64_t cut = 0;      ///< calls whose beginning was overwritten; they count from the first record left
};

/// The launches of a kernel with one configuration, or the copies of one kind: `memcpy_htod`, `memset`.
struct KernelStatistics {
  std::string name;
  std::string grid{};  ///< `(4, 64, 1)`; empty for copies
  std::string block{};
  std::optional<std::uint64_t> shared_bytes{};
  std::optional<std::uint64_t> registers{};  ///< per thread
  /// True if the recording has the device's own times. If false, `time` has only the number of calls.
  bool is_timed = false;
  DurationStatistics time{};
  std::uint64_t bytes = 0;  ///< moved by all calls, where known

  /// Returns zero if the time or the bytes are not known.
  double gb_per_s() const noexcept {
    return time.total_ns == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(time.total_ns);
  }
};

/// The compilations of one kernel.
struct CompileStatistics {
  std::string name;
  std::uint64_t misses = 0;  ///< times that it was compiled
  std::uint64_t hits = 0;    ///< times that it was found in a cache
  std::uint64_t total_ns = 0;
};

/// The allocations that spans of one name made. If there are several processes, the peak is the highest of any process.
struct MemoryStatistics {
  std::string memory;  ///< `GPU 0`, or `host` for memory that the device can read there
  std::string span;    ///< the innermost span that is not of tracing::cuda; empty for all together
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;       ///< of all allocations
  std::uint64_t peak_bytes = 0;  ///< the most at one time
  std::uint64_t kept_bytes = 0;  ///< not freed before the recording ended
};

struct StatisticsGroup {
  std::string name;  ///< of the thread, test or target; empty if there is only one group
  std::vector<SpanStatistics> spans{};
  std::vector<KernelStatistics> kernels{};
  std::vector<CompileStatistics> compiles{};
  std::vector<MemoryStatistics> memory{};

  bool empty() const noexcept { return spans.empty() && kernels.empty() && compiles.empty() && memory.empty(); }
};

/// Selects what makes a group.
enum class StatisticsBy : std::uint8_t { all, thread, test, target };

struct Statistics {
  StatisticsBy by = StatisticsBy::all;
  std::vector<StatisticsGroup> groups{};  ///< in the order of their first record; empty groups are left out

  bool empty() const noexcept { return groups.empty(); }
};

enum class StatisticsOrder : std::uint8_t { self, total, calls, mean, min, p50, p95, max, name };

/// Sorts the rows of each table, by numbers from the greatest down, or by names from A. Kernels have no self time, so
/// `self` sorts them by their total. Orders other than `calls` and `name` sort compilations by their total and memory
/// by its peak.
void sort_statistics(Statistics& statistics, StatisticsOrder order);

struct StatisticsTableOptions {
  std::size_t max_rows = 0;  ///< of each table; zero: all
  bool ansi = false;         ///< titles are bold
};

/// Appends tables for people, with a blank line between them. Leaves out tables without rows.
void append_statistics_table(TextBuffer& out, Statistics const& statistics, StatisticsTableOptions const& options = {});

/// Appends a JSON object and a line end:
/// `{"by":"all","groups":[{"name":"","spans":[{"name":"numbers::multiply","calls":2,
/// "total_ns":2273000,...}],"kernels":[...],"compiles":[...],"memory":[...]}]}`. Each row is on its own line.
void append_statistics_json(TextBuffer& out, Statistics const& statistics);

}}  // namespace tracing::v1
