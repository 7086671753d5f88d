#include "tracing_core/inspect/statistics_sums.h"

#include <algorithm>

namespace tracing { inline namespace v1 { namespace internal {

void DurationSum::add(std::uint64_t ns, std::uint64_t total_ns) noexcept {
  ++calls_;
  sum_ns_ += ns;
  total_ns_ += total_ns;
  min_ns_ = std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  durations_.add(ns);
}

DurationStatistics DurationSum::statistics() const noexcept {
  if (calls_ == 0) return {};
  auto const quantile = [this](double q) { return std::clamp(durations_.quantile(q), min_ns_, max_ns_); };
  return {calls_, total_ns_, sum_ns_ / calls_, min_ns_, quantile(0.5), quantile(0.95), max_ns_};
}

void MemorySum::allocate(std::uint64_t count) noexcept {
  ++allocations;
  bytes += count;
  now_bytes += count;
  peak_bytes = std::max(peak_bytes, now_bytes);
}

void MemorySum::end() noexcept {
  kept_bytes += now_bytes;
  now_bytes = 0;
}

SpanSum& GroupSums::span(Metadata const& metadata) {
  SpanSum*& found = spans_by_site[&metadata];
  if (found == nullptr) found = &spans[std::string(metadata.target()).append("::").append(metadata.name())];
  return *found;
}

void GroupSums::forget_launch(KernelKey const& kernel) {
  auto const row = kernels.find(kernel);
  if (row == kernels.end() || row->second.requests == 0) return;
  if (--row->second.requests == 0 && row->second.time.statistics().calls == 0) kernels.erase(row);
}

GroupSums& StatisticsSums::group(std::string const& name) {
  auto const [place, is_new] = groups.try_emplace(name);
  if (is_new) names.push_back(name);
  return place->second;
}

}}}  // namespace tracing::v1::internal
