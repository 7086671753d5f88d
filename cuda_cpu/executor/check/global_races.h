// GlobalRaces remembers the accesses to global memory of a launch, in order to find races.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cuda_cpu/executor/executor.h"

namespace cuda_cpu {

/// The number of an event of a launch, in the order of the events: 1, 2, ...
using Time = std::uint64_t;

constexpr unsigned kTimeBits = 45;
constexpr Time kMaxTime = (Time{1} << kTimeBits) - 1;

/// An access to memory. Kept small, because many of them are stored.
struct Access {
  std::uint64_t time : kTimeBits = 0;  // zero: no access
  bool wrote : 1 = false;
  bool is_strong : 1 = false;
  bool is_atomic : 1 = false;
  std::uint64_t thread : 16 = 0;  // index in its block
  std::uint32_t block = 0;
  std::uint32_t step = 0;
};
static_assert(sizeof(Access) == 16);

/// The last accesses to one element of memory.
struct Shadow {
  Access write;
  std::array<Access, 2> reads;  // by two different threads, the last access first; includes writes that changed nothing
};

/// The accesses of a launch to global memory. Single-thread: the blocks of a launch that is checked for races run on
/// one host thread. Stores a Shadow for each element that the launch accesses: 12 times the memory of an array of
/// 4-byte elements, 48 times the memory of an array of bytes.
class GlobalRaces {
 public:
  Time tick() noexcept { return ++now_; }

  /// Says that a thread of the block made a volatile or atomic access or, with `orders`, an atomic access or a fence.
  void mark_block(std::uint32_t block, bool orders);
  /// Returns true if, since the earlier access, both blocks have done something that may have ordered it before the
  /// next access of `block`. After a read, volatile accesses suffice, since the value that is stored next may depend on
  /// the value that was read.
  bool may_be_ordered(Access const& earlier, std::uint32_t block) const noexcept;

  /// Calls visit(shadow, offset, count) for pieces of `bytes` of memory, until it returns false.
  template <class Visit>
  bool each_shadow(std::uintptr_t address, std::uint32_t bytes, Visit const& visit) {
    auto const shift = static_cast<unsigned>(std::countr_zero(address | bytes | std::uintptr_t{1} << kMaxShift));
    for (std::uint32_t at = 0; at < bytes;) {
      Page& page = page_of(address + at, shift);
      std::uint32_t const count = 1u << page.shift;
      if (!visit(page.shadows[(address + at) % kPageBytes >> page.shift], at, count)) return false;
      at += count;
    }
    return true;
  }

  /// Returns the bytes that were accessed, by address. A write that changed nothing counts as a read.
  std::vector<AccessedRange> accessed() const;
  /// Forgets the accesses to memory that malloc() gives to a kernel.
  void forget(std::uintptr_t address, std::uint64_t bytes);

 private:
  // The times of the last ordering events of any thread of a block.
  struct Order {
    Time fence = 0;   // a fence or an atomic access
    Time strong = 0;  // a fence, or a volatile or atomic access
  };
  // Not larger than the alignment of allocations, so that two allocations never share a page.
  static constexpr std::uintptr_t kPageBytes = 256;
  static constexpr unsigned kMaxShift = 4;
  // The shadows of a page. Each covers 1 << shift bytes, the smallest size that an access to the page has needed so
  // far.
  struct Page {
    unsigned shift = 0;
    std::vector<Shadow> shadows;
  };

  // Returns the page, with shadows of at most 1 << shift bytes.
  Page& page_of(std::uintptr_t address, unsigned shift) {
    if (address / kPageBytes != last_number_ || last_->shift > shift) find_page(address / kPageBytes, shift);
    return *last_;
  }
  void find_page(std::uintptr_t number, unsigned shift);

  Time now_ = 0;
  std::vector<Order> orders_;  // index: the block
  std::unordered_map<std::uintptr_t, Page> pages_;
  std::uintptr_t last_number_ = ~std::uintptr_t{0};
  Page* last_ = nullptr;
};

}  // namespace cuda_cpu
