#include "tracing_core/inspect/statistics.h"

#include <algorithm>
#include <tuple>

namespace tracing { inline namespace v1 {
namespace {

std::uint64_t key_of(DurationStatistics const& time, std::uint64_t self_ns, StatisticsOrder order) noexcept {
  switch (order) {
    case StatisticsOrder::self: return self_ns;
    case StatisticsOrder::total: return time.total_ns;
    case StatisticsOrder::calls: return time.calls;
    case StatisticsOrder::mean: return time.mean_ns;
    case StatisticsOrder::min: return time.min_ns;
    case StatisticsOrder::p50: return time.p50_ns;
    case StatisticsOrder::p95: return time.p95_ns;
    case StatisticsOrder::max: return time.max_ns;
    case StatisticsOrder::name: break;
  }
  return 0;
}

// Sorts rows by their keys, the greatest first, and rows of equal keys by name.
template <class Row, class Key, class Name>
void sort_rows(std::vector<Row>& rows, Key key, Name name) {
  std::sort(rows.begin(), rows.end(), [&](Row const& a, Row const& b) {
    std::uint64_t const key_a = key(a), key_b = key(b);
    return key_a != key_b ? key_a > key_b : name(a) < name(b);
  });
}

}  // namespace

void sort_statistics(Statistics& statistics, StatisticsOrder order) {
  bool const by_name = order == StatisticsOrder::name;
  bool const by_calls = order == StatisticsOrder::calls;
  for (StatisticsGroup& group : statistics.groups) {
    sort_rows(
        group.spans, [&](SpanStatistics const& row) { return key_of(row.time, row.self_ns, order); },
        [](SpanStatistics const& row) { return std::tie(row.name); });
    sort_rows(
        group.kernels, [&](KernelStatistics const& row) { return key_of(row.time, row.time.total_ns, order); },
        [&](KernelStatistics const& row) {  // kernels without times are sorted by their calls
          return std::tuple(by_name ? 0 : ~row.time.calls, std::tie(row.name, row.grid, row.block, row.shared_bytes));
        });
    sort_rows(
        group.compiles,
        [&](CompileStatistics const& row) { return by_name    ? 0
                                                   : by_calls ? row.misses + row.hits
                                                              : row.total_ns; },
        [](CompileStatistics const& row) { return std::tie(row.name); });
    sort_rows(
        group.memory,
        [&](MemoryStatistics const& row) { return by_name    ? 0
                                                  : by_calls ? row.allocations
                                                             : row.peak_bytes; },
        [](MemoryStatistics const& row) { return std::tie(row.memory, row.span); });
  }
}

}}  // namespace tracing::v1
