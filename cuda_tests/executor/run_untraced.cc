// The loop without a callsite: nothing in this file knows tracing, which a test reads in its object code.
#include "cuda_tests/executor/warp_loop.h"

namespace cuda_tests {
namespace {

struct Untraced {
  static constexpr bool kOn = false;
};

}  // namespace

WarpState run_untraced(Warp& warp) {
  Untraced policy;
  return WarpLoop<Untraced>(warp, policy).run();
}

}  // namespace cuda_tests
