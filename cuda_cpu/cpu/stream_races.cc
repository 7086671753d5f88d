#include "cuda_cpu/cpu/stream_races.h"

#include <algorithm>
#include <utility>

namespace cuda_cpu::cpu {
namespace {

using tracing::support::MutexLock;

bool is_before(WorkOrder const& first, WorkOrder const& second) {
  auto const known = second.before.find(first.stream);
  return known != second.before.end() && known->second >= first.number;
}

// Atomic and volatile accesses of both do not race.
bool conflict(AccessedRange const& a, AccessedRange const& b) noexcept {
  return (a.wrote || b.wrote) && !(a.is_strong && b.is_strong);
}

}  // namespace

void merge(StreamClock& clock, StreamClock const& other) {
  for (auto const& [stream, count] : other) {
    auto& known = clock[stream];
    known = std::max(known, count);
  }
}

std::optional<StreamRaces::Found> StreamRaces::find(WorkOrder const& order,
                                                    std::vector<AccessedRange> const& ranges) const {
  MutexLock const lock(mutex_);
  for (Kept const& other : kept_) {
    if (is_before(other.order, order) || is_before(order, other.order)) continue;
    auto at = other.ranges.begin();
    for (AccessedRange const& mine : ranges) {
      while (at != other.ranges.end() && at->end <= mine.begin) ++at;
      for (auto its = at; its != other.ranges.end() && its->begin < mine.end; ++its) {
        if (!conflict(mine, *its)) continue;
        std::uintptr_t const begin = std::max(mine.begin, its->begin);
        return Found{begin, std::min(mine.end, its->end) - begin, other.name, its->wrote};
      }
    }
  }
  return std::nullopt;
}

void StreamRaces::keep(WorkOrder const& order, std::string name, std::vector<AccessedRange> ranges) {
  if (ranges.empty()) return;
  MutexLock const lock(mutex_);
  // Any stream may race with the oldest work, so only the number of kept pieces has a limit.
  if (kept_.size() == kMaxKept) kept_.erase(kept_.begin());
  kept_.push_back({order, std::move(name), std::move(ranges)});
}

void StreamRaces::forget(std::uintptr_t address, std::uint64_t bytes) {
  MutexLock const lock(mutex_);
  for (Kept& one : kept_)
    std::erase_if(one.ranges,
                  [&](AccessedRange const& range) { return range.begin < address + bytes && address < range.end; });
}

}  // namespace cuda_cpu::cpu
