#include "cuda_cpu/executor/machine/loop_spans.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/perf/finish_perf.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu {

using Clock = std::chrono::steady_clock;

LoopTable::LoopTable(DecodedKernel const& kernel) : innermost_(kernel.steps.size(), kNone) {
  std::map<std::uint32_t, std::uint32_t> ends;  // last branch of each loop, by its first step
  for (std::uint32_t at = 0; at < kernel.steps.size(); ++at) {
    Step const& step = kernel.steps[at];
    if (step.kind == StepKind::branch && step.target <= at) ends[step.target] = at;
  }
  std::vector<std::uint32_t> around;  // the loops around the next loop, outermost first
  for (auto const& [begin, last] : ends) {
    while (!around.empty() && loops_[around.back()].last < begin) around.pop_back();
    for (std::uint32_t const outer : around) loops_[outer].last = std::max(loops_[outer].last, last);
    loops_.push_back({begin, last, around.empty() ? kNone : around.back()});
    around.push_back(static_cast<std::uint32_t>(loops_.size() - 1));
  }
  for (std::uint32_t loop = 0; loop < loops_.size(); ++loop)
    std::fill(innermost_.begin() + loops_[loop].begin, innermost_.begin() + loops_[loop].last + 1, loop);
}

struct LoopSpans::OpenLoop {
  std::uint32_t depth = 0;  // depth of calls
  std::uint32_t loop = 0;   // index in the table
  tracing::Span span;
  std::uint64_t iterations = 1;
  bool entered = false;
  Clock::time_point entered_at;
  std::chrono::nanoseconds busy{0};
  std::chrono::nanoseconds children{0};

  void enter() {
    entered = true;
    if (span) tracing::internal::enter(span.open());
    entered_at = Clock::now();
  }
  std::chrono::nanoseconds stop() {
    entered = false;
    auto const took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - entered_at);
    busy += took;
    return took;
  }
  void finish() {
    span.record(tracing::kv("iterations", iterations));
    tracing::finish_perf(std::move(span), busy, std::max(busy - children, std::chrono::nanoseconds(0)));
  }
};

struct LoopSpans::WarpLoops {
  std::vector<OpenLoop> open;  // each loop comes after the loops around it
  bool running = false;        // says that `depth` and `innermost` describe the running group
  std::uint32_t depth = 0;
  std::uint32_t innermost = LoopTable::kNone;

  OpenLoop* find(std::uint32_t its_depth, std::uint32_t loop) {
    auto const found =
        std::ranges::find_if(open, [&](OpenLoop const& its) { return its.depth == its_depth && its.loop == loop; });
    return found == open.end() ? nullptr : &*found;
  }
  // Returns the innermost loop before `end` whose span the thread is in.
  OpenLoop* entered_before(std::size_t end) {
    while (end > 0)
      if (open[--end].entered) return &open[end];
    return nullptr;
  }
  void leave(std::size_t i, bool finishes) {
    auto const took = open[i].stop();
    if (OpenLoop* const outer = entered_before(i)) outer->children += took;
    if (!finishes && open[i].span) tracing::internal::exit(open[i].span.open());
  }
  // Goes through the loops from the innermost on: ends a loop if `is_over` says so, and leaves the span of a loop if
  // `leaves` says so.
  template <class Leaves, class IsOver>
  void leave_all(Leaves const& leaves, IsOver const& is_over) {
    for (std::size_t i = open.size(); i-- > 0;) {
      bool const over = is_over(open[i]);
      if (open[i].entered && (over || leaves(open[i]))) leave(i, over);
      if (!over) continue;
      open[i].finish();
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
};

LoopSpans::LoopSpans(Block const& block) : table_(*block.launch.loops), warps_(block.warps.size()) {}
LoopSpans::~LoopSpans() = default;

// Returns true if a lane of the warp is in the loop or in a function called from the loop: while the loop is open, a
// lane that is deeper in calls than the loop was called from it.
bool LoopSpans::is_inside(Warp const& warp, std::uint32_t step, OpenLoop const& open) const {
  auto const holds = [&](std::uint32_t depth, std::uint32_t at) {
    return depth > open.depth || (depth == open.depth && table_[open.loop].holds(at));
  };
  if (holds(warp.depth, step)) return true;
  for (Mask left = warp.alive & ~warp.ran; left != 0; left &= left - 1) {
    std::uint64_t const key = warp.key[static_cast<unsigned>(std::countr_zero(left))];
    auto const depth = warp.block.launch.kernel->depth - static_cast<std::uint32_t>(key >> 32);
    if (holds(depth, static_cast<std::uint32_t>(key))) return true;
  }
  return false;
}

void LoopSpans::open(WarpLoops& loops, std::uint32_t depth, std::uint32_t loop) {
  if (loop == LoopTable::kNone) return;
  open(loops, depth, table_[loop].parent);
  OpenLoop* its = loops.find(depth, loop);
  if (its == nullptr) {
    its = &loops.open.emplace_back();
    its->depth = depth;
    its->loop = loop;
    its->span = TRACE_MAKE_PERF("cpu_loop", tracing::kv("iterations", tracing::empty), tracing::target("cuda_cpu"));
  }
  if (!its->entered) its->enter();
}

void LoopSpans::before(Warp const& warp, std::uint32_t step) {
  WarpLoops& loops = warps_[warp.index];
  std::uint32_t const innermost = table_.innermost(step);
  if (loops.running && loops.depth == warp.depth && loops.innermost == innermost) return;
  loops.running = true;
  loops.depth = warp.depth;
  loops.innermost = innermost;
  auto const is_groups = [&](OpenLoop const& its) {
    return its.depth < warp.depth || (its.depth == warp.depth && table_[its.loop].holds(step));
  };
  loops.leave_all([&](OpenLoop const& its) { return !is_groups(its); },
                  [&](OpenLoop const& its) { return !is_inside(warp, step, its); });
  for (OpenLoop& its : loops.open)
    if (is_groups(its) && !its.entered) its.enter();
  open(loops, warp.depth, innermost);
}

void LoopSpans::iterate(Warp const& warp, std::uint32_t target) {
  WarpLoops& loops = warps_[warp.index];
  for (std::size_t i = loops.open.size(); i-- > 0;) {
    OpenLoop& its = loops.open[i];
    if (its.depth != warp.depth || table_[its.loop].begin != target) continue;
    ++its.iterations;
    return;
  }
}

void LoopSpans::add_child(Warp const& warp, std::chrono::nanoseconds took) {
  WarpLoops& loops = warps_[warp.index];
  if (OpenLoop* const its = loops.entered_before(loops.open.size())) its->children += took;
}

void LoopSpans::pause(Warp const& warp) {
  WarpLoops& loops = warps_[warp.index];
  loops.running = false;
  loops.leave_all([](OpenLoop const&) { return true; }, [](OpenLoop const&) { return false; });
}

void LoopSpans::finish(Warp const& warp) {
  warps_[warp.index].leave_all([](OpenLoop const&) { return true; }, [](OpenLoop const&) { return true; });
}

}  // namespace cuda_cpu
