// LoopSpans makes the perf spans `cpu_loop`: a span for each loop that a warp runs, with the number of its iterations.
//
// A loop is the part of the kernel's text that a backward branch encloses. A warp enters a loop when a group of the
// warp's lanes runs a step of the loop for the first time, and leaves it when no lane is left there. The span measures
// the time in which a group runs in the loop, without the time in which the warp waits and others run. The spans of the
// steps and loops inside it are nested in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "cuda_cpu/executor/machine/machine.h"

namespace cuda_cpu {

/// The loops of a kernel.
class LoopTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Loop {
    std::uint32_t begin = 0;  // index of its first step
    // Its last backward branch, or the last branch of a loop that begins in it and ends after it.
    std::uint32_t last = 0;
    std::uint32_t parent = kNone;

    bool holds(std::uint32_t step) const noexcept { return step >= begin && step <= last; }
  };

  /// Finds the loops. Loops with the same first step are merged.
  explicit LoopTable(DecodedKernel const& kernel);

  bool empty() const noexcept { return loops_.empty(); }
  Loop const& operator[](std::uint32_t loop) const noexcept { return loops_[loop]; }
  std::uint32_t innermost(std::uint32_t step) const noexcept { return innermost_[step]; }

 private:
  std::vector<Loop> loops_;               // ordered by their first steps
  std::vector<std::uint32_t> innermost_;  // the innermost loop of each step
};

/// The loops that the warps of a block are in.
class LoopSpans {
 public:
  explicit LoopSpans(Block const& block);
  LoopSpans(LoopSpans const&) = delete;
  LoopSpans& operator=(LoopSpans const&) = delete;
  ~LoopSpans();

  /// Called before the running group of the warp runs a step: ends the spans of loops that all lanes have left, and
  /// enters the spans of the loops that the group is in.
  void before(Warp const& warp, std::uint32_t step);
  /// Called when the group took a branch to an earlier step.
  void iterate(Warp const& warp, std::uint32_t target);
  /// Adds the time of a step that has its own perf span to the children of the innermost loop.
  void add_child(Warp const& warp, std::chrono::nanoseconds took);
  /// Called when the turn of the warp is over.
  void pause(Warp const& warp);
  /// Called when the warp will not run again.
  void finish(Warp const& warp);

 private:
  struct OpenLoop;
  struct WarpLoops;

  bool is_inside(Warp const& warp, std::uint32_t step, OpenLoop const& open) const;
  void open(WarpLoops& loops, std::uint32_t depth, std::uint32_t loop);

  LoopTable const& table_;
  std::vector<WarpLoops> warps_;
};

}  // namespace cuda_cpu
