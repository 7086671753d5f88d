#include "cuda_cpu/executor/check/unwritten_registers.h"

#include <algorithm>

namespace cuda_cpu {

UnwrittenRegisters::Entry const* UnwrittenRegisters::find(Warp const& warp, Location location,
                                                          Mask lanes) const noexcept {
  auto const& entries = entries_[warp.index];
  auto const found = std::ranges::find_if(entries, [&](Entry const& entry) {
    return entry.frame == warp.frame && entry.location == location && (entry.lanes & lanes) != 0;
  });
  return found == entries.end() ? nullptr : &*found;
}

void UnwrittenRegisters::mark(Warp const& warp, Location location, Mask lanes, Origin const& origin) {
  if (location != kNowhere) entries_[warp.index].push_back({warp.frame, location, lanes, origin});
}

void UnwrittenRegisters::clear(Warp const& warp, Location location, Mask lanes) {
  auto& entries = entries_[warp.index];
  for (auto& entry : entries)
    if (entry.frame == warp.frame && entry.location == location) entry.lanes &= ~lanes;
  std::erase_if(entries, [](Entry const& entry) { return entry.lanes == 0; });
}

}  // namespace cuda_cpu
