// A program with NVTX calls that knows nothing of testlog.
#include <nvtx3/nvToolsExt.h>

int main() {
  nvtxRangePushA("plain");
  return nvtxRangePop() < 0 ? 0 : 1;  // a receiver would know the range
}
