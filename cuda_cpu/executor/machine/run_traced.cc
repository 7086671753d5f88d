// Runs warps, counts and times their steps, and emits perf spans.
#include <chrono>

#include "cuda_cpu/executor/check/checker.h"
#include "cuda_cpu/executor/machine/loop_spans.h"
#include "cuda_cpu/executor/machine/warp_loop.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu {
namespace {

// Calls `make()` in a perf span of the step's kind.
template <class Make>
bool spanned(Step const& step, Make const& make) {
  unsigned const bytes = step.bytes;
  switch (step.span) {
    case SpanKind::none: break;
    case SpanKind::ldg: {
      TRACE_PERF("cpu_ldg", bytes);
      return make();
    }
    case SpanKind::stg: {
      TRACE_PERF("cpu_stg", bytes);
      return make();
    }
    case SpanKind::lds: {
      TRACE_PERF("cpu_lds", bytes);
      return make();
    }
    case SpanKind::sts: {
      TRACE_PERF("cpu_sts", bytes);
      return make();
    }
    case SpanKind::bra: {
      TRACE_PERF("cpu_bra");
      return make();
    }
    case SpanKind::call: {
      TRACE_PERF("cpu_call");
      return make();
    }
    case SpanKind::ret: {
      TRACE_PERF("cpu_ret");
      return make();
    }
    case SpanKind::exit: {
      TRACE_PERF("cpu_exit");
      return make();
    }
    case SpanKind::barrier_sync: {
      TRACE_PERF("cpu_barrier_sync");
      return make();
    }
    case SpanKind::memory_fence: {
      TRACE_PERF("cpu_memory_fence");
      return make();
    }
  }
  return make();
}

struct Traced {
  static constexpr bool kOn = true;

  template <class Make>
  bool step(Warp& warp, Step const& step, Mask lanes, Make const& make) {
    using Clock = std::chrono::steady_clock;
    LoopSpans* const loops = warp.block.loop_spans.get();
    auto const at = static_cast<std::uint32_t>(&step - warp.block.launch.kernel->steps.data());
    if (loops != nullptr) loops->before(warp, at);
    auto const begin = Clock::now();
    BlockChecker* const checker = warp.block.checker.get();
    bool good = checker == nullptr || checker->before(warp, step, lanes);
    good = good && (warp.block.launch.options->instruction_spans ? spanned(step, make) : make());
    if (checker != nullptr) good = good && checker->after();
    auto const took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    if (loops != nullptr && step.span != SpanKind::none) loops->add_child(warp, took);
    if (loops != nullptr && step.kind == StepKind::branch && step.target <= at) loops->iterate(warp, step.target);
    auto& statistics = (*warp.block.statistics)[step.form_index];
    ++statistics.count;
    statistics.threads += static_cast<std::uint64_t>(std::popcount(lanes));
    statistics.nanoseconds += static_cast<std::uint64_t>(took.count());
    return good;
  }
};

}  // namespace

WarpState run_traced(Warp& warp) {
  Traced policy;
  WarpState const state = WarpLoop<Traced>(warp, policy).run();
  if (LoopSpans* const loops = warp.block.loop_spans.get())
    warp.alive == 0 || state == WarpState::failed ? loops->finish(warp) : loops->pause(warp);
  return state;
}

}  // namespace cuda_cpu
