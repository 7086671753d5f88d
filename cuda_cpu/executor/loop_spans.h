// The perf spans `cpu_loop`: one for each loop that a warp runs, with the number of its iterations.
//
// A loop is what a backward branch encloses in the text of the kernel. A warp is in it from the first step that a group
// of its lanes runs in it until no lane is left in it; the span measures the time in which a group runs there, so not
// while the warp waits and others run. The spans of the steps and loops inside of it are nested in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "cuda_cpu/executor/machine.h"

namespace cuda_cpu {

/// The loops of a kernel.
class LoopTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Loop {
    std::uint32_t begin = 0;  // its first step
    std::uint32_t last = 0;   // its last backward branch, or that of a loop that begins in it and ends after it
    std::uint32_t parent = kNone;

    bool holds(std::uint32_t step) const noexcept { return step >= begin && step <= last; }
  };

  /// Loops with the same first step are one.
  explicit LoopTable(DecodedKernel const& kernel);

  bool empty() const noexcept { return loops_.empty(); }
  Loop const& operator[](std::uint32_t loop) const noexcept { return loops_[loop]; }
  std::uint32_t innermost(std::uint32_t step) const noexcept { return innermost_[step]; }

 private:
  std::vector<Loop> loops_;                // by their first steps
  std::vector<std::uint32_t> innermost_;  // of each step
};

/// The loops that the warps of a block are in.
class LoopSpans {
 public:
  explicit LoopSpans(Block const& block);
  LoopSpans(LoopSpans const&) = delete;
  LoopSpans& operator=(LoopSpans const&) = delete;
  ~LoopSpans();

  /// The running group of the warp will run a step: ends the spans of loops that no lane is in, and puts the thread in
  /// those of the loops that the group is in.
  void before(Warp const& warp, std::uint32_t step);
  /// The group took a branch to an earlier step.
  void iterate(Warp const& warp, std::uint32_t target);
  /// A step took this time, which its own perf span has measured.
  void add_child(Warp const& warp, std::chrono::nanoseconds took);
  /// The turn of the warp is over.
  void pause(Warp const& warp);
  /// The warp will not run again.
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
