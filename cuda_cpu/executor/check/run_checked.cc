// Runs the warps of launches with RunOptions::checks.
#include "cuda_cpu/executor/check/checker.h"
#include "cuda_cpu/executor/machine/warp_loop.h"

namespace cuda_cpu {
namespace {

struct Checked {
  static constexpr bool kOn = true;

  template <class Make>
  bool step(Warp& warp, Step const& step, Mask lanes, Make const& make) {
    BlockChecker& checker = *warp.block.checker;
    return checker.before(warp, step, lanes) && make() && checker.after();
  }
};

}  // namespace

WarpState run_checked(Warp& warp) {
  Checked policy;
  return WarpLoop<Checked>(warp, policy).run();
}

}  // namespace cuda_cpu
