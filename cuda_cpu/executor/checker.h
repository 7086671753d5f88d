// BlockChecker: finds races and reads of memory that was never written, in launches that ask for it.
//
// Such a launch runs in a loop of its own, run_checked.cc, in which every access to shared and global memory goes
// through Block::resolve(). So the common loop has no branch for it.
//
// Two accesses are a race if nothing between them may have ordered them. What did order them is not looked for: where
// each of two threads, or of two blocks, did something that can order accesses, they count as ordered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda_cpu/executor/global_races.h"
#include "cuda_cpu/executor/machine.h"

namespace cuda_cpu {

/// What a form does to memory, as far as checks need to know.
struct FormTraits {
  bool reads = false;
  bool writes = false;
  bool copies = false;       // reads global and writes shared memory
  bool copies_back = false;  // reads shared and writes global memory
  bool is_strong = false;    // volatile, relaxed or atomic: no race with another strong access
  bool is_atomic = false;    // a read-modify-write
  bool orders = false;       // a fence, or an atomic access: may order what other threads do before and after it
  bool fences_blocks = false;  // a fence that orders accesses for other blocks
  bool meets = false;          // bar.warp.sync

  static FormTraits of(ptx::Form const& form);
};

class BlockChecker {
 public:
  explicit BlockChecker(Block& block);

  /// A lane is about to access memory; `written` is that of a global range, or null. False, after reporting a fault, if
  /// the access is wrong.
  bool access(Warp const& warp, Step const& step, unsigned lane, std::byte* place, std::uint32_t bytes,
              WrittenBytes* written);
  /// Before a step is run, and after it: false, after reporting a fault, if it was wrong.
  void before(Warp& warp, Step const& step, Mask lanes);
  bool after() { return pending_.warp == nullptr || finish_pending(); }
  /// Before threads that wait at a barrier go on.
  void release(unsigned id);

 private:
  // What a thread did last.
  struct Order {
    Time fence = 0;     // or another event that may order its accesses for other threads
    Time meeting = 0;   // with others of its warp
    Time exchange = 0;  // of values with others of its warp
  };
  // A write that is compared with what was there before.
  struct Pending {
    Warp const* warp = nullptr;  // null: none
    unsigned lane = 0;
    std::byte const* place = nullptr;
    std::uint32_t bytes = 0;
    Access access;
    std::array<std::byte, 16> before{};
  };
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };

  FormTraits const& traits(Step const& step) const;
  bool is_shared(std::byte const* place) const;
  bool check_race(Warp const& warp, unsigned lane, std::byte const* place, std::uint32_t bytes, Access const& now,
                  std::byte const* before);
  Access const* find_conflict(Shadow const& shadow, Access const& now, bool in_shared) const;
  bool may_be_ordered(Access const& earlier, unsigned thread) const;
  void mark_order(Access const& access, bool in_shared);
  void mark_fence(unsigned thread);
  bool finish_pending();
  void check_places(unsigned id);
  bool report_race(Warp const& warp, unsigned lane, Access const& now, Access const& other, std::byte const* place,
                   std::uint32_t bytes);
  bool report_unwritten(Warp const& warp, Step const& step, unsigned lane, std::string const& where,
                        std::uintptr_t address, std::uint32_t bytes);
  std::string shared_text(std::uint64_t offset) const;

  Block& block_;
  GlobalRaces* const races_;       // null: not checked for races
  std::uint32_t number_ = 0;       // of the block
  Time barrier_ = 0;               // that all threads of the block passed
  std::vector<Order> orders_;      // by thread
  std::vector<Time> warp_fences_;  // by warp: the last fence of any of its lanes
  // From calloc(), which leaves pages that no thread accesses alone.
  std::unique_ptr<Shadow[], Free> shadows_;  // by byte of shared memory
  std::unique_ptr<bool[], Free> written_;
  Pending pending_;
};

}  // namespace cuda_cpu
