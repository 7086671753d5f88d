// WarpLoop runs the groups of lanes of a warp, with a policy that may instrument their steps.
//
// A policy has `static constexpr bool kOn`; if that is true, also step(warp, step, lanes, make), which returns make().
#pragma once

#include <bit>
#include <cstring>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {

struct Group {
  Mask lanes = 0;
  std::uint32_t at = 0;     // index of its next step
  std::uint32_t limit = 0;  // the first later step at which other lanes of this depth wait
};

// Steps that a group runs before the warp's other groups get a turn.
constexpr std::uint64_t kGroupTurn = 512;
// Steps that a warp runs before other warps and blocks get a turn.
constexpr std::uint64_t kWarpTurn = 2048;
// The turn of the block is over after this many iterations of loops that wait for other threads.
constexpr unsigned kMaxPolls = 16;

/// Returns the group to run next, without lanes if none can run. If a lane has waited for longer than a turn, its
/// group is next, the longest waiting first, so that spinning lanes do not starve the lanes that they wait for.
Group pick_group(Warp& warp);
void park(Warp& warp, Mask lanes, std::uint32_t at);
void exit_lanes(Warp& warp, Mask lanes);
/// Call and return: move the lanes to the step at which they continue.
bool enter_call(Warp& warp, Step const& step, Mask lanes, std::uint32_t at);
void leave_call(Warp& warp, Mask lanes);

enum class Arrival : std::uint8_t { passed, waits, failed };
Arrival arrive(Warp& warp, Step const& step, Mask lanes, std::uint32_t at);
/// Runs a collective step for the lanes whose partners have all arrived, and moves them to the next step. The other
/// lanes wait.
bool collect(Warp& warp, Step const& step, Mask lanes, std::uint32_t at);
/// Retries collective steps that wait, after lanes have exited.
bool retry_collectives(Warp& warp);

template <class Policy>
class WarpLoop {
 public:
  WarpLoop(Warp& warp, Policy& policy) : warp_(warp), policy_(policy), steps_(warp.block.launch.kernel->steps.data()) {}

  WarpState run() {
    for (;;) {
      Group group = pick_group(warp_);
      if (group.lanes == 0) {
        if (warp_.alive == 0) return WarpState::finished;
        return WarpState::waiting;
      }
      std::uint64_t const before = made_;
      bool const good = run_group(group);
      warp_.steps += made_ - before;
      warp_.instructions += (made_ - before) * static_cast<std::uint64_t>(std::popcount(group.lanes));
      if (!good) return WarpState::failed;
      if (polls_ == kMaxPolls) {
        warp_.steps += kGroupTurn;  // counts as a turn of the group
        return WarpState::yielded;
      }
      if (made_ >= kWarpTurn) return WarpState::yielded;
    }
  }

 private:
  // Runs the group until its lanes diverge, join others, wait, or have had their turn, and parks them.
  bool run_group(Group const& group) {
    std::uint32_t at = group.at;
    std::uint64_t const turn = made_ + kGroupTurn;
    for (;;) {
      Step const& step = steps_[at];
      Mask lanes = group.lanes;
      if (step.guard != kNowhere) lanes &= warp_.predicate(step.guard) ^ (step.guard_negated ? kAllLanes : 0);
      ++made_;
      if (step.kind == StepKind::plain) [[likely]] {
        if (lanes != 0 && !make(step, lanes)) return false;
        ++at;
      } else if (lanes == 0) {
        ++at;
      } else if (step.kind == StepKind::branch) {
        if constexpr (Policy::kOn) policy_.step(warp_, step, lanes, [] { return true; });
        if (lanes != group.lanes) {
          park(warp_, group.lanes & ~lanes, at + 1);
          park(warp_, lanes, step.target);
          return true;
        }
        bool const back = step.target <= at;
        at = step.target;
        if (back && (made_ >= turn || (step.waits && ++polls_ == kMaxPolls))) {
          park(warp_, group.lanes, at);
          return true;
        }
      } else {
        bool passed = false;
        if (!control(step, group.lanes, lanes, at, passed)) return false;
        if (!passed) return true;
        ++at;
      }
      if (at >= group.limit) {
        park(warp_, group.lanes, at);
        return true;
      }
    }
  }

  [[gnu::always_inline]] bool make(Step const& step, Mask lanes) {
    if constexpr (Policy::kOn)
      return policy_.step(warp_, step, lanes, [&] { return step.handler(warp_, step, lanes); });
    else
      return step.handler(warp_, step, lanes);
  }

  // Runs a step that is neither plain nor a branch. `passed`: all lanes of the group continue with the next step.
  bool control(Step const& step, Mask group, Mask lanes, std::uint32_t at, bool& passed) {
    auto const go = [&] { return control_step(step, group, lanes, at, passed); };
    if constexpr (Policy::kOn)
      return policy_.step(warp_, step, lanes, go);
    else
      return go();
  }

  bool control_step(Step const& step, Mask group, Mask lanes, std::uint32_t at, bool& passed) {
    if (step.kind == StepKind::barrier) {
      Arrival const arrival = arrive(warp_, step, lanes, at);
      passed = arrival == Arrival::passed;
      if (arrival == Arrival::waits) park(warp_, group & ~lanes, at + 1);
      return arrival != Arrival::failed;
    }
    park(warp_, group & ~lanes, at + 1);
    switch (step.kind) {
      case StepKind::collective: return collect(warp_, step, lanes, at);
      case StepKind::call: return enter_call(warp_, step, lanes, at);
      case StepKind::ret:
        if (warp_.depth > 0) {
          leave_call(warp_, lanes);
          return true;
        }
        [[fallthrough]];
      default: exit_lanes(warp_, lanes); return retry_collectives(warp_);
    }
  }

  Warp& warp_;
  Policy& policy_;
  Step const* const steps_;
  std::uint64_t made_ = 0;
  unsigned polls_ = 0;
};

}  // namespace cuda_cpu
