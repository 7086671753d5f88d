// Kernels that do not end: deadlocks, which are found at once, and launches that run for too long.
#include "cuda_cpu/executor/reference/body_test.h"

namespace cuda_cpu { namespace {

using Hangs = BodyTest;
using namespace std::chrono_literals;

TEST_F(Hangs, ADeadlockNamesTheBarrierOfEachWarp) {
  EXPECT_EQ(
      text_of(run_body("setp.lt.u32 %p2, %r1, 64;\n@%p2 bar.sync 1, 128;\n@!%p2 bar.sync 2, 128;", {{1}, {128}, 0})),
      "a deadlock (warps 0-1 wait at barrier 1 (64 of 128 threads), PTX line 9; warps 2-3 wait at barrier 2 (64 of "
      "128 threads), PTX line 10): kernel k, PTX line 9 (bar.sync), block (0,0,0), warp 0, lanes 0 to 31");
}

TEST_F(Hangs, ADeadlockNamesTheLanesThatACollectiveWaitsFor) {
  EXPECT_EQ(
      text_of(run_body("@%p1 bra end;\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nend: @%p1 bar.sync 0;")),
      "a deadlock (lanes 0 to 15 of warp 0 wait at barrier 0 (16 of 32 threads), PTX line 10; lanes 16 to 31 of warp 0 "
      "wait in shfl.sync.bfly.b32 for lanes 0 to 15, PTX line 9): kernel k, PTX line 9 (shfl.sync.bfly.b32), block "
      "(0,0,0), warp 0, lanes 16 to 31");
  EXPECT_EQ(
      text_of(run_body("@%p1 bra first;\nvote.sync.any.pred %p2, %p1, -1; bra end;\n"
                       "first: vote.sync.any.pred %p2, %p1, -1; end:")),
      "a deadlock (lanes 0 to 15 of warp 0 wait in vote.sync.any.pred for lanes 16 to 31, PTX line 10; lanes 16 to 31 "
      "of warp 0 wait in vote.sync.any.pred for lanes 0 to 15, PTX line 9): kernel k, PTX line 10 "
      "(vote.sync.any.pred), block (0,0,0), warp 0, lanes 0 to 15");
}

TEST_F(Hangs, ALaunchThatRunsTooLongNamesThePlaceOfEachWarp) {
  device.options.timeout = 50ms;
  auto const fault =
      run_body("setp.lt.u32 %p2, %r1, 32;\n@!%p2 bar.sync 0;\n@!%p2 bra end;\nwait: bra wait;\nend:", {{1}, {96}, 0});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::timeout);
  EXPECT_EQ(
      fault->message,
      "kernel k ran longer than 0.05 s. Block (0,0,0): warp 0 loops at PTX line 11; warps 1-2 wait at barrier 0 (64 of "
      "96 threads), PTX line 9");
  EXPECT_EQ(fault->line, 11);
}

TEST_F(Hangs, BlocksAtTheSamePlacesAreNamedTogether) {
  device.executor = std::make_unique<Executor>(Executor::Options{2, 8});
  device.options.timeout = 500ms;  // long enough for all blocks to have a turn, also with a sanitizer
  auto const fault =
      run_body("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 0; @%p2 exit;\nwait: bra wait;", {{20, 2}, {32}, 0});
  ASSERT_TRUE(fault);
  std::string const begin = "kernel k ran longer than 0.5 s. Blocks (1,0,0), (2,0,0), (3,0,0), (4,0,0) and ";
  EXPECT_EQ(fault->message.substr(0, begin.size()), begin);
  EXPECT_NE(fault->message.find(" others: warp 0 loops at PTX line 9. Of 40 blocks 1 have finished and "),
            std::string::npos)
      << fault->message;
}

TEST_F(Hangs, AnEndlessLoopOverABarrierTimesOut) {
  device.options.timeout = 50ms;
  auto const fault = run_body("wait: bar.sync 0;\nbra wait;", {{1}, {64}, 0});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::timeout);
}

TEST_F(Hangs, ALaunchWithinItsTimeEnds) {
  device.options.timeout = 1h;
  EXPECT_EQ(text_of(run_body("st.global.u32 [%rd2], %r1;")), "");
}

}}  // namespace cuda_cpu
