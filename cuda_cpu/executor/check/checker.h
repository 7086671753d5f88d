// BlockChecker finds races and reads of memory that was never written, in launches that ask for these checks.
//
// Such a launch runs in a separate loop, run_checked.cc, in which every access to shared and global memory goes through
// Block::resolve(). So the common loop has no branch for the checks.
//
// Two accesses are a race if nothing between them may have ordered them. The checker does not search for the ordering
// operation: it counts two accesses as ordered if, since the first access, both threads, or both blocks, did something
// that can order accesses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda_cpu/executor/check/global_races.h"
#include "cuda_cpu/executor/check/unwritten_registers.h"
#include "cuda_cpu/executor/machine/machine.h"

namespace cuda_cpu {

/// The effects of a form on memory, as far as the checks need them.
struct FormTraits {
  bool reads = false;
  bool writes = false;
  bool copies = false;       // reads global and writes shared memory
  bool copies_back = false;  // reads shared and writes global memory
  bool is_strong = false;    // volatile, relaxed or atomic: does not race with another strong access
  bool is_atomic = false;    // a read-modify-write
  // A fence or an atomic access, which may order the accesses of other threads before and after it.
  bool orders = false;
  bool fences_blocks = false;  // a fence that orders accesses for other blocks
  bool meets = false;          // lanes of a warp meet: bar.warp.sync
  bool loads = false;          // ld
  bool passes_on = false;      // st or mov: passes values on and does not use them

  static FormTraits of(ptx::Form const& form);
};

class BlockChecker {
 public:
  explicit BlockChecker(Block& block);

  /// Checks an access of a lane to memory before it is made. `written` tracks the writes of its global range, or is
  /// null. Returns false, after reporting a fault, if the access is wrong.
  bool access(Warp const& warp, Step const& step, unsigned lane, std::byte* place, std::uint32_t bytes,
              WrittenBytes* written);
  /// Called before and after a step is run. Each returns false, after reporting a fault, if the step is wrong.
  bool before(Warp& warp, Step const& step, Mask lanes);
  bool after() { return pending_.warp == nullptr || finish_pending(); }
  /// Called before the threads that wait at a barrier go on.
  void release(unsigned id);

 private:
  // The times of a thread's last ordering events.
  struct Order {
    Time fence = 0;     // a fence, or another event that may order its accesses for other threads
    Time meeting = 0;   // a meeting with other lanes of its warp
    Time exchange = 0;  // an exchange of values with other lanes of its warp
  };
  // A write that will be compared with the bytes that it replaced.
  struct Pending {
    Warp const* warp = nullptr;  // null: nothing is pending
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
  bool is_written(std::byte const* place, std::uint32_t bytes, WrittenBytes const* written) const;
  void mark_written(Warp const& warp, Step const& step, unsigned lane, std::byte const* place, std::uint32_t bytes,
                    WrittenBytes* written);
  bool check_operands(Warp& warp, Step const& step, Mask lanes);
  void note_order(Warp& warp, Step const& step, Mask lanes);
  bool is_shared(std::byte const* place) const;
  bool check_race(Warp const& warp, unsigned lane, std::byte const* place, std::uint32_t bytes, Access const& now,
                  std::byte const* before);
  Access const* find_conflict(Shadow const& shadow, Access const& now, bool in_shared) const;
  Access const* find_hidden(Shadow const& shadow, Access const& now, bool in_shared) const;
  bool conflict(Access const& now, Access const& other, bool in_shared) const;
  bool may_be_ordered(Access const& earlier, unsigned thread) const;
  void mark_order(Access const& access, bool in_shared);
  void mark_fence(unsigned thread);
  bool finish_pending();
  void check_places(unsigned id);
  std::string race_text(unsigned thread, Access const& now, Access const& other, std::byte const* place,
                        std::uint32_t bytes) const;
  void note_hidden(Warp const& warp, unsigned lane, Access const& now, Access const& other, std::byte const* place,
                   std::uint32_t bytes);
  bool report_race(Warp const& warp, unsigned lane, Access const& now, Access const& other, std::byte const* place,
                   std::uint32_t bytes);
  bool report_unwritten(Warp const& warp, Step const& step, unsigned lane, std::byte const* place, std::uint32_t bytes);
  std::string shared_text(std::uint64_t offset) const;

  Block& block_;
  GlobalRaces* const races_;       // null if the launch is not checked for races
  std::uint32_t number_ = 0;       // number of the block
  Time barrier_ = 0;               // last barrier that all threads of the block passed
  std::vector<Order> orders_;      // by thread
  std::vector<Time> warp_fences_;  // by warp: the last fence of any of its lanes
  // Allocated by calloc(), which does not touch the pages that no thread accesses.
  std::unique_ptr<Shadow[], Free> shadows_;  // by byte of shared memory
  std::unique_ptr<bool[], Free> written_;
  UnwrittenRegisters unwritten_;
  Pending pending_;
};

}  // namespace cuda_cpu
