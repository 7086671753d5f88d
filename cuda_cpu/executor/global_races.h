// GlobalRaces: the accesses to global memory that a launch remembers to find races.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cuda_cpu {

/// The numbers of the events of a launch order them: 1, 2, ...
using Time = std::uint64_t;

constexpr unsigned kTimeBits = 45;
constexpr Time kMaxTime = (Time{1} << kTimeBits) - 1;

/// Many of them are kept, so they are small.
struct Access {
  std::uint64_t time : kTimeBits = 0;  // zero: none
  bool wrote : 1 = false;
  bool is_strong : 1 = false;
  bool is_atomic : 1 = false;
  std::uint64_t thread : 16 = 0;  // in its block
  std::uint32_t block = 0;
  std::uint32_t step = 0;
};
static_assert(sizeof(Access) == 16);

/// The last accesses to the same bytes.
struct Shadow {
  Access write;
  std::array<Access, 2> reads;  // of two different threads, the last one first; also writes that changed nothing
};

/// Single-thread: the blocks of a launch that is checked for races run on one host thread. Its memory is that of a
/// Shadow for each element that the launch accesses: 12 times as much as an array of 4-byte elements, 48 times as much
/// as one of bytes.
class GlobalRaces {
 public:
  Time tick() noexcept { return ++now_; }

  /// A thread of the block made a volatile or atomic access or, with `orders`, an atomic one or a fence.
  void mark_block(std::uint32_t block, bool orders);
  /// Whether both blocks did something since then that may have ordered the earlier access before what `block` does.
  /// For a read a volatile access is enough, since what is stored then may depend on what was read.
  bool may_be_ordered(Access const& earlier, std::uint32_t block) const noexcept;

  /// Calls visit(shadow, offset, count) for pieces of `bytes` of memory, until it is false.
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

  /// Forgets the accesses to memory that malloc() gives.
  void forget(std::uintptr_t address, std::uint64_t bytes);

 private:
  // What any thread of a block did last.
  struct Order {
    Time fence = 0;   // or an atomic access
    Time strong = 0;  // any of these, or a volatile access
  };
  // No larger than the alignment of allocations, so that no two of them share a page.
  static constexpr std::uintptr_t kPageBytes = 256;
  static constexpr unsigned kMaxShift = 4;
  // Each shadow is of 1 << shift bytes, as few as any access so far needs.
  struct Page {
    unsigned shift = 0;
    std::vector<Shadow> shadows;
  };

  // With shadows of at most 1 << shift bytes.
  Page& page_of(std::uintptr_t address, unsigned shift) {
    if (address / kPageBytes != last_number_ || last_->shift > shift) find_page(address / kPageBytes, shift);
    return *last_;
  }
  void find_page(std::uintptr_t number, unsigned shift);

  Time now_ = 0;
  std::vector<Order> orders_;  // by block
  std::unordered_map<std::uintptr_t, Page> pages_;
  std::uintptr_t last_number_ = ~std::uintptr_t{0};
  Page* last_ = nullptr;
};

}  // namespace cuda_cpu
