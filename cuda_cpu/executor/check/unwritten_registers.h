// UnwrittenRegisters remembers registers that hold bytes loaded from memory that was never written.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda_cpu/executor/machine/machine.h"

namespace cuda_cpu {

/// The registers of a block that hold unwritten bytes. A copy of an object also copies its padding and its empty
/// members, so such a load is a mistake only if an instruction uses the value.
class UnwrittenRegisters {
 public:
  /// The load of a register.
  struct Origin {
    std::uint32_t step = 0;
    std::byte const* place = nullptr;
  };
  struct Entry {
    std::byte const* frame = nullptr;
    Location location = kNowhere;
    Mask lanes = 0;
    Origin origin;
  };

  explicit UnwrittenRegisters(std::size_t warps) : entries_(warps) {}

  bool empty(Warp const& warp) const noexcept { return entries_[warp.index].empty(); }
  /// Finds a register of the running group in which any of the lanes is unwritten; returns null if there is none.
  Entry const* find(Warp const& warp, Location location, Mask lanes) const noexcept;
  void mark(Warp const& warp, Location location, Mask lanes, Origin const& origin);
  /// Says that the lanes of a register were written.
  void clear(Warp const& warp, Location location, Mask lanes);

 private:
  std::vector<std::vector<Entry>> entries_;  // index: the warp
};

}  // namespace cuda_cpu
