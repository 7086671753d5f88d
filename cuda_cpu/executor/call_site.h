// CallSite: where the program made a call, kept as return addresses that get names only if a message needs them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tracing_core/support/cxx20.h"

namespace cuda_cpu {

struct CallSite {
  static constexpr std::size_t kMax = 8;
  std::array<std::uintptr_t, kMax> frames{};  // return addresses, innermost first; zero after the last

  bool empty() const noexcept { return frames[0] == 0; }
  /// Returns `pool.cc:88 (from solver.cc:41, main.cc:7)`; `libpool.so+0x1a2b` if no frame has a line, because
  /// there is no debug information or no addr2line. Frames without a line, and those in headers of CUDA and of the C++
  /// library, are left out if there are others. Empty for an empty site. Runs addr2line once for each file and waits
  /// for its answer.
  std::string text() const;
};

/// Finds the names of all sites, so that text() finds them fast.
void find_names(std::span<CallSite const> sites);

/// Returns the first `count` frames, at most CallSite::kMax, of the callers of a function. `frame` is
/// __builtin_frame_address(0) of that function. On x86-64 it takes some 10 ns once the thread has called from the same
/// places; elsewhere, and the first time, half a microsecond.
CallSite callers_of(void const* frame, std::size_t count) noexcept;

}  // namespace cuda_cpu
