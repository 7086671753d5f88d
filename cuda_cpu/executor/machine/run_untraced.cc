// Runs warps without instrumentation: check_untraced.sh verifies that its object code does not use tracing.
#include "cuda_cpu/executor/machine/warp_loop.h"

namespace cuda_cpu {
namespace {

struct Untraced {
  static constexpr bool kOn = false;
};

}  // namespace

WarpState run_untraced(Warp& warp) {
  Untraced policy;
  return WarpLoop<Untraced>(warp, policy).run();
}

}  // namespace cuda_cpu
