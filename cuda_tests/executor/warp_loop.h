// Declares run_warp(), the loop that runs a warp's groups of lanes, for any policy of what is told about its steps.
//
// A policy says `static constexpr bool kOn`, and where it is on has step(warp, step, lanes, make), which calls make() for what
// it returns.
#pragma once

#include <bit>
#include <cstring>

#include "cuda_tests/executor/map.h"

namespace cuda_tests {

struct Group {
  Mask lanes = 0;
  std::uint32_t at = 0;     // a step
  std::uint32_t limit = 0;  // where other lanes of this depth wait to be joined
};

// How many steps of a warp make a turn, after which other lanes, and then other warps and blocks have theirs.
constexpr std::uint64_t kGroupTurn = 512;
constexpr std::uint64_t kWarpTurn = 2048;
// How often lanes look in vain for what other threads write until that makes a turn, for their block, too.
constexpr unsigned kLooks = 16;

/// The group to run next; no lanes where none can run. Once lanes have waited for a turn of others it is the group that has
/// waited longest, so that lanes which spin do not keep those from running that they wait for, however they spin.
Group pick_group(Warp& warp);
void park(Warp& warp, Mask lanes, std::uint32_t at);
void exit_lanes(Warp& warp, Mask lanes);
/// For a call and a return: the lanes' keys are those of the place where they go on.
bool enter_call(Warp& warp, Step const& step, Mask lanes, std::uint32_t at);
void leave_call(Warp& warp, Mask lanes);

enum class Arrival : std::uint8_t { passed, waits, failed };
Arrival arrive(Warp& warp, Step const& step, Mask lanes, std::uint32_t at);
/// Makes a collective step for those lanes whose partners are all there, which then are at the step behind it; the others
/// wait. Joins those of this step that wait already.
bool collect(Warp& warp, Step const& step, Mask lanes, std::uint32_t at);
/// Lanes that wait for others try again, as some have exited.
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
      if (looks_ == kLooks) {
        warp_.steps += kGroupTurn;  // as if they had made them
        return WarpState::yielded;
      }
      if (made_ >= kWarpTurn) return WarpState::yielded;
    }
  }

 private:
  // Until its lanes part, join others, wait, or have had their turn. They are parked then.
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
        if (back && (made_ >= turn || (step.waits && ++looks_ == kLooks))) {
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
    if constexpr (Policy::kOn) return policy_.step(warp_, step, lanes, [&] { return step.handler(warp_, step, lanes); });
    else return step.handler(warp_, step, lanes);
  }

  // What is neither plain nor a branch. `passed`: all lanes of the group go on with the next step.
  bool control(Step const& step, Mask group, Mask lanes, std::uint32_t at, bool& passed) {
    auto const go = [&] { return control_step(step, group, lanes, at, passed); };
    if constexpr (Policy::kOn) return policy_.step(warp_, step, lanes, go);
    else return go();
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
  unsigned looks_ = 0;
};

}  // namespace cuda_tests
