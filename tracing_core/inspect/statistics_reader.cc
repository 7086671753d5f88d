#include "tracing_core/inspect/statistics_reader.h"

#include <set>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/inspect/statistics_layer.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/record/replay/steady_times.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

void add_spans(StatisticsGroup& to, internal::GroupSums const& sums) {
  std::uint64_t all_ns = 0;
  for (auto const& [name, sum] : sums.spans) all_ns += sum.self_ns;
  for (auto const& [name, sum] : sums.spans) {
    DurationStatistics const time = sum.time.statistics();
    if (time.calls == 0) continue;
    double const share = all_ns == 0 ? 0 : static_cast<double>(sum.self_ns) / static_cast<double>(all_ns);
    to.spans.push_back({name, time, sum.self_ns, share, sum.open, sum.cut});
  }
}

void add_memory(StatisticsGroup& to, internal::GroupSums const& sums) {
  for (auto const& [key, sum] : sums.memory)
    to.memory.push_back({key.first, key.second, sum.allocations, sum.bytes, sum.peak_bytes, sum.kept_bytes});
}

}  // namespace

void StatisticsReader::add(StatisticsSource source) {
  Instant last{};
  SteadyTimes steady;
  source.recording.for_each([&](Entry const& entry) { last = steady.of(entry); });
  Entry now;
  auto made = std::make_unique<internal::StatisticsLayer>(sums_, source.test_of, now, last);
  internal::StatisticsLayer& layer = *made;
  auto const registry = RegistryBuilder().with(std::move(made), std::move(source.filter)).build();
  auto const each = [&](Entry const& entry) {
    now = entry;
    if (source.each != nullptr) source.each(entry);
    return true;
  };
  replay(source.recording, *registry, each, LostEntries::shown, ReplayTimes::steady);
  layer.finish();
}

Statistics StatisticsReader::finish() {
  // If the device reported a kernel or copy, the host's requests for it are not counted, too. The device names a copy
  // of rows and slices by its direction, which the host's call does not say; so any copy that the device reported
  // stands for such calls.
  constexpr std::string_view kCopy = "memcpy_", kCopyOfRows = "memcpy_3d";
  std::set<std::string> timed;
  for (auto const& [name, sums] : sums_.groups) {
    for (auto const& [key, sum] : sums.kernels) {
      if (sum.time.statistics().calls == 0) continue;
      timed.insert(key.name);
      if (key.grid.empty() && key.name.starts_with(kCopy)) timed.emplace(kCopyOfRows);
    }
  }
  auto const add_kernels = [&](StatisticsGroup& to, internal::GroupSums const& sums) {
    for (auto const& [key, sum] : sums.kernels) {
      KernelStatistics row{key.name, key.grid, key.block, key.shared_bytes, sum.registers};
      row.time = sum.time.statistics();
      row.is_timed = row.time.calls > 0;
      row.bytes = row.is_timed ? sum.moved_bytes : sum.requested_bytes;
      if (!row.is_timed && timed.contains(key.name)) continue;
      auto const facts = key.grid.empty() ? sums_.kernel_facts.end() : sums_.kernel_facts.find(key.name);
      if (facts != sums_.kernel_facts.end() && !row.registers) row.registers = facts->second.registers;
      if (!row.is_timed) {
        row.time.calls = sum.requests;
        if (facts != sums_.kernel_facts.end() && row.shared_bytes) *row.shared_bytes += facts->second.shared_bytes;
      }
      to.kernels.push_back(std::move(row));
    }
  };
  Statistics statistics{sums_.by};
  for (std::string const& name : sums_.names) {
    internal::GroupSums const& sums = sums_.groups.at(name);
    StatisticsGroup group{name};
    add_spans(group, sums);
    add_kernels(group, sums);
    for (auto const& [kernel, sum] : sums.compiles) {
      group.compiles.push_back(sum);
      group.compiles.back().name = kernel;
    }
    add_memory(group, sums);
    if (!group.empty()) statistics.groups.push_back(std::move(group));
  }
  sort_statistics(statistics, StatisticsOrder::self);
  return statistics;
}

}}}  // namespace tracing::v1::recording
