#include "cuda_cpu/executor/check/global_races.h"

#include <utility>

#include "cuda_cpu/executor/device_memory.h"

namespace cuda_cpu {

void GlobalRaces::mark_block(std::uint32_t block, bool orders) {
  if (block >= orders_.size()) orders_.resize(std::size_t{block} + 1);
  orders_[block].strong = tick();
  if (orders) orders_[block].fence = now_;
}

bool GlobalRaces::may_be_ordered(Access const& earlier, std::uint32_t block) const noexcept {
  if (earlier.block >= orders_.size() || block >= orders_.size()) return false;
  Order const& theirs = orders_[earlier.block];
  return (earlier.wrote ? theirs.fence : theirs.strong) > earlier.time && orders_[block].strong > earlier.time;
}

void GlobalRaces::find_page(std::uintptr_t number, unsigned shift) {
  static_assert(kPageBytes <= DeviceMemory::kAlignment);
  Page& page = pages_[number];
  if (page.shadows.empty()) {
    page.shift = shift;
    page.shadows.resize(kPageBytes >> shift);
  } else if (page.shift > shift) {
    std::vector<Shadow> finer(kPageBytes >> shift);
    for (std::size_t i = 0; i < finer.size(); ++i) finer[i] = page.shadows[i >> (page.shift - shift)];
    page.shift = shift;
    page.shadows = std::move(finer);
  }
  last_number_ = number;
  last_ = &page;
}

void GlobalRaces::forget(std::uintptr_t address, std::uint64_t bytes) {
  last_number_ = ~std::uintptr_t{0};
  for (std::uintptr_t number = address / kPageBytes; number * kPageBytes < address + bytes; ++number)
    pages_.erase(number);
}

}  // namespace cuda_cpu
