#include "cuda_cpu/executor/check/global_races.h"

#include <map>
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

std::vector<AccessedRange> GlobalRaces::accessed() const {
  std::map<std::uintptr_t, Page const*> sorted;
  for (auto const& [number, page] : pages_) sorted.emplace(number, &page);
  std::vector<AccessedRange> ranges;
  for (auto const& [number, page] : sorted) {
    std::uintptr_t begin = number * kPageBytes;
    for (Shadow const& shadow : page->shadows) {
      std::uintptr_t const end = begin + (std::uintptr_t{1} << page->shift);
      bool const wrote = shadow.write.time != 0;
      Access const& access = wrote ? shadow.write : shadow.reads[0];
      AccessedRange const range{begin, end, wrote, access.is_strong};
      begin = end;
      if (access.time == 0) continue;
      bool const continues = !ranges.empty() && ranges.back().end == range.begin && ranges.back().wrote == wrote &&
                             ranges.back().is_strong == range.is_strong;
      continues ? void(ranges.back().end = end) : ranges.push_back(range);
    }
  }
  return ranges;
}

void GlobalRaces::forget(std::uintptr_t address, std::uint64_t bytes) {
  last_number_ = ~std::uintptr_t{0};
  for (std::uintptr_t number = address / kPageBytes; number * kPageBytes < address + bytes; ++number)
    pages_.erase(number);
}

}  // namespace cuda_cpu
