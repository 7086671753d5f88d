#include <algorithm>

#include "cuda_cpu/executor/machine/machine.h"
#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu { namespace {

struct Case {
  char const* what;
  char const* body;
  bool waits;
};

bool has_loop_that_waits(char const* body) {
  TestDevice device;
  device.load(std::string(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                          ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n") +
              body + "\nret;\n}\n");
  return std::ranges::any_of(device.program->find_kernel("k")->steps, &Step::waits);
}

TEST(SpinLoops, AreLoopsThatContinueDependingOnMemoryOfOtherThreads) {
  for (auto const& [what, body, waits] : std::initializer_list<Case>{
           {"a volatile read",
            "again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; "
            "@%p1 bra again;",
            true},
           {"an acquiring one, and a way out in the middle",
            "again: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra out; bra again; "
            "out:",
            true},
           {"an atomic, of whose result a part matters",
            "again: atom.global.add.u64 %rd2, [%rd1], 0; and.b64 %rd3, %rd2, -4294967296; setp.ne.s64 %p1, %rd3, 0; "
            "@%p1 bra again;",
            true},
           {"a lock", "again: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;", true},
           {"an atomic in a loop that counts",
            "again: atom.global.add.u32 %r1, [%rd1], 1; add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; "
            "@%p1 bra again;",
            false},
           {"a plain read", "again: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;", false},
           {"no loop", "ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra out; out:", false},
           {"threads that wait together",
            "again: ld.volatile.global.u32 %r1, [%rd1]; bar.sync 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;",
            false}}) {
    EXPECT_EQ(has_loop_that_waits(body), waits) << what;
  }
}

}}  // namespace cuda_cpu
