#include "testlog/cli/timeline/ctest_slots.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace testlog::cli {
namespace {

// Puts a process into the first slot that is free when it begins.
void add_to_slot(CtestRun& run, std::size_t index, std::vector<TimelineProcess> const& processes) {
  TimelineProcess const& process = processes[index];
  auto const is_free = [&](CtestRun::Slot const& slot) { return processes[slot.back()].end <= process.begin; };
  auto const free = std::find_if(run.slots.begin(), run.slots.end(), is_free);
  free == run.slots.end() ? run.slots.push_back({index}) : free->push_back(index);
  run.end = std::max(run.end, process.end);
}

}  // namespace

std::size_t CtestRun::test_count() const noexcept {
  std::size_t count = 0;
  for (Slot const& slot : slots) count += slot.size();
  return count;
}

std::vector<CtestRun> ctests_of(std::vector<TimelineProcess> const& processes, std::vector<ProcessLink> const& links,
                                MachineNames const& machines) {
  std::set<std::size_t> inner;  // processes that their own run started
  for (ProcessLink const& link : links)
    if (processes[link.parent].run == processes[link.child].run) inner.insert(link.child);
  std::map<std::pair<std::string, std::string>, CtestRun> by_id;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    TimelineProcess const& process = processes[i];
    if (process.run.empty() || inner.contains(i)) continue;
    auto const [at, is_new] = by_id.try_emplace({process.run, machines.name_of(process)});
    if (is_new) at->second = {.run = process.run, .machine = at->first.second, .begin = process.begin};
    add_to_slot(at->second, i, processes);
  }
  std::vector<CtestRun> runs;
  for (auto& [id, run] : by_id) runs.push_back(std::move(run));
  std::stable_sort(runs.begin(), runs.end(), [](CtestRun const& a, CtestRun const& b) { return a.end > b.end; });
  return runs;
}

std::vector<std::size_t> critical_chain(CtestRun const& run, std::vector<TimelineProcess> const& processes) {
  std::vector<std::size_t> by_end;
  for (CtestRun::Slot const& slot : run.slots) by_end.insert(by_end.end(), slot.begin(), slot.end());
  std::sort(by_end.begin(), by_end.end(), [&processes](std::size_t a, std::size_t b) {
    return std::tuple(processes[a].end, a) < std::tuple(processes[b].end, b);
  });
  std::vector<std::size_t> chain;
  for (auto end = by_end.end(); end != by_end.begin();) {
    chain.push_back(*--end);
    Instant const begin = processes[chain.back()].begin;
    end = std::upper_bound(by_end.begin(), end, begin,
                           [&processes](Instant time, std::size_t index) { return time < processes[index].end; });
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::int64_t idle_ns(CtestRun const& run, CtestRun::Slot const& slot, std::vector<TimelineProcess> const& processes) {
  std::int64_t idle = run.duration_ns();
  for (std::size_t const index : slot) idle -= processes[index].duration_ns();
  return idle;
}

}  // namespace testlog::cli
