#include "cuda_cpu/executor/check/global_races.h"

#include <regex>

#include "cuda_cpu/executor/reference/body_test.h"

namespace cuda_cpu { namespace {

// Runs bodies in two blocks of 64 threads. Thread 0 of block 0 has %p2, its thread 32 %p1, and thread 0 of block 1 %p3.
class RacesInGlobalMemory : public BodyTest {
 protected:
  // Returns the message up to the place of the fault; empty without a fault.
  std::string outcome(std::string const& body, Checks const& checks, std::string const& declarations = "") {
    device.options.checks = checks;
    std::string const text =
        text_of(run_body("mov.u32 %r7, %ctaid.x; mad.lo.u32 %r6, %r7, 64, %r1; setp.eq.u32 %p2, %r6, 0; "
                         "setp.eq.u32 %p3, %r6, 64; setp.eq.u32 %p1, %r6, 32;\n" +
                             body,
                         {{2}, {64}, 0}, 4096, declarations));
    return std::regex_replace(text.substr(0, text.find(": kernel")), std::regex(" \\(allocation \\d+\\)"), "");
  }
  std::string race(std::string const& body) { return outcome(body, {.race = true}); }
  bool is_race(std::string const& body) { return race(body).starts_with("a race: "); }
};

std::string between_blocks(std::string const& access, std::string const& other) {
  return "a race: thread (0,0,0) of block (1,0,0) " + access +
         " 4 bytes at byte 0 of 4096 bytes, which thread (0,0,0) of block (0,0,0) " + other +
         " at PTX line 9, without fences or atomic accesses between";
}

TEST_F(RacesInGlobalMemory, AreFoundBetweenBlocksInAllOrders) {
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 1;\n@%p3 ld.global.u32 %r2, [%rd1];"), between_blocks("reads", "wrote"));
  EXPECT_EQ(race("@%p2 ld.global.u32 %r2, [%rd1];\n@%p3 st.global.u32 [%rd1], 1;"), between_blocks("writes", "read"));
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 1;\n@%p3 st.u32 [%rd1], 2;"), between_blocks("writes", "wrote"));
  EXPECT_TRUE(is_race("@%p2 st.global.u32 [%rd1], 1; bar.sync 0; @%p3 ld.global.u32 %r2, [%rd1];"))
      << "a barrier orders the threads of one block";
}

TEST_F(RacesInGlobalMemory, AreFoundBetweenThreadsOfABlock) {
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 1;\n@%p1 ld.global.u32 %r2, [%rd1];"),
            "a race: thread (32,0,0) reads 4 bytes at byte 0 of 4096 bytes, which thread (0,0,0) wrote at PTX line 9, "
            "without a barrier between");
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 1; bar.sync 0; @%p1 ld.global.u32 %r2, [%rd1];"), "");
}

TEST_F(RacesInGlobalMemory, AreNotLookedForByOtherChecks) {
  EXPECT_EQ(outcome("@%p2 st.global.u32 [%rd1], 1; @%p3 st.global.u32 [%rd1], 2;",
                    {.init = true, .init_shared = true, .sync = true}),
            "");
}

TEST_F(RacesInGlobalMemory, AccessesOfDifferentBytesOrWithoutAChangeAreNone) {
  EXPECT_EQ(race("cvt.u64.u32 %rd3, %r6; add.u64 %rd3, %rd3, %rd1; st.global.u8 [%rd3], 1; ld.global.u8 %r2, [%rd3];"),
            "");
  EXPECT_EQ(race("st.global.u32 [%rd1], 1;"), "") << "all write the same";
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 0; @%p3 ld.global.u32 %r2, [%rd1];"), "") << "as before";
  EXPECT_TRUE(is_race("@%p2 st.global.u32 [%rd1], 0; @%p3 st.global.u32 [%rd1], 1;"))
      << "which of two values remains depends on their order";
  EXPECT_EQ(race("setp.lt.u32 %p1, %r6, 32; @%p1 st.global.u32 [%rd1], %r1;"), "") << "lanes of one instruction";
}

TEST_F(RacesInGlobalMemory, AreFoundByByteForAccessesOfDifferentSizes) {
  std::string const write = "mov.u32 %r5, -1; @%p2 st.global.v4.u32 [%rd1], {%r5, %r5, %r5, %r5}; @%p3 ";
  EXPECT_EQ(race(write + "st.global.u8 [%rd1+16], 1; @%p3 ld.global.u16 %r2, [%rd1+18];"), "");
  EXPECT_EQ(race(write + "ld.global.u8 %r2, [%rd1+15];").substr(0, 75),
            "a race: thread (0,0,0) of block (1,0,0) reads 1 byte at byte 15 of 4096 byt");
  EXPECT_TRUE(is_race("@%p2 st.global.u8 [%rd1+7], 1; @%p3 ld.global.v2.u64 {%rd3, %rd4}, [%rd1];"));
  // Changes a byte of the word, but not the byte that the other block wrote.
  EXPECT_EQ(race("@%p2 st.global.u8 [%rd1+1], 1; @%p3 st.global.u32 [%rd1], 0x0107;"), "");
  EXPECT_TRUE(is_race("@%p2 st.global.u8 [%rd1+1], 1; @%p3 st.global.u32 [%rd1], 0x0200;"));
}

TEST_F(RacesInGlobalMemory, FencesOfBothBlocksMayOrderThem) {
  std::string const write = "@%p2 st.global.u32 [%rd1], 1;", read = "@%p3 ld.global.u32 %r2, [%rd1];";
  std::string const fence = "@%p2 membar.gl;", flag = "@%p2 st.volatile.global.u32 [%rd1+8], 1;";
  std::string const wait =
      "wait: @%p3 ld.volatile.global.u32 %r3, [%rd1+8]; setp.eq.u32 %p0, %r3, 0; "
      "and.pred %p0, %p0, %p3; @%p0 bra wait;";
  EXPECT_EQ(race(write + fence + flag + wait + read), "");
  EXPECT_EQ(race(write + "fence.acq_rel.gpu;" + flag + wait + "fence.acq_rel.gpu;" + read), "");
  EXPECT_TRUE(is_race(write + flag + wait + read)) << "no fence";
  EXPECT_TRUE(is_race(write + "membar.cta;" + flag + wait + read)) << "a fence for the threads of the block";
  EXPECT_TRUE(is_race(write + fence + flag + read)) << "nobody waits";
  EXPECT_TRUE(is_race(fence + flag + write + wait + read)) << "the flag is set too early";
}

TEST_F(RacesInGlobalMemory, AccessesThroughTheCacheOfAllBlocksMayWait) {
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 1; @%p2 membar.gl; @%p2 st.global.cg.u32 [%rd1+8], 1; "
                 "wait: @%p3 ld.global.cg.u32 %r3, [%rd1+8]; setp.eq.u32 %p0, %r3, 0; and.pred %p0, %p0, %p3; "
                 "@%p0 bra wait; @%p3 ld.global.u32 %r2, [%rd1];"),
            "");
}

TEST_F(RacesInGlobalMemory, AFlagThatIsSetWithoutAFenceOrdersReads) {
  std::string const flag =
      "@%p2 st.volatile.global.u32 [%rd1+8], 1; wait: @%p3 ld.volatile.global.u32 %r3, [%rd1+8]; "
      "setp.eq.u32 %p0, %r3, 0; and.pred %p0, %p0, %p3; @%p0 bra wait;";
  EXPECT_EQ(race("@%p2 ld.global.u32 %r2, [%rd1];" + flag + "@%p3 st.global.u32 [%rd1], 1;"), "");
  EXPECT_TRUE(is_race("@%p2 ld.global.u32 %r2, [%rd1]; @%p3 st.global.u32 [%rd1], 1;" + flag));
}

TEST_F(RacesInGlobalMemory, AThreadMayFenceForThoseThatItMeetsAtABarrier) {
  std::string const other =
      "setp.eq.u32 %p0, %r1, 32; bar.sync 0; @%p0 membar.gl; @%p0 atom.global.add.u32 %r3, "
      "[%rd1+8], 1; bar.sync 0;";
  EXPECT_EQ(race("@%p2 st.global.u32 [%rd1], 1;" + other + "@%p3 ld.global.u32 %r2, [%rd1];"), "");
}

TEST_F(RacesInGlobalMemory, AreFoundBetweenAtomicAccessesAndPlainWrites) {
  EXPECT_EQ(race("atom.global.add.u32 %r2, [%rd1], 1;"), "");
  EXPECT_EQ(race("red.global.add.u32 [%rd1], 1; ld.volatile.global.u32 %r2, [%rd1];"), "");
  EXPECT_TRUE(is_race("@%p2 st.global.u32 [%rd1], 5; @%p3 atom.global.add.u32 %r2, [%rd1], 1;"));
  EXPECT_TRUE(is_race("@%p2 atom.global.add.u32 %r2, [%rd1], 1; @%p3 st.global.u32 [%rd1], 5;"));
  EXPECT_TRUE(
      is_race("@%p2 st.global.u32 [%rd1], 5; atom.shared.add.u32 %r2, [ours], 1; bar.sync 0; "
              "@%p3 st.global.u32 [%rd1], 6;"))
      << "atomic accesses of shared memory order nothing for other blocks";
}

TEST_F(RacesInGlobalMemory, ALoopOfCompareAndSwapMayBeginWithAPlainRead) {
  EXPECT_EQ(race("ld.global.u32 %r2, [%rd1];\nagain: add.u32 %r3, %r2, 1; atom.global.cas.b32 %r4, [%rd1], %r2, %r3; "
                 "setp.ne.u32 %p0, %r4, %r2; mov.u32 %r2, %r4; @%p0 bra again;"),
            "");
  EXPECT_EQ(data[0], 128u);
}

TEST_F(RacesInGlobalMemory, AShuffleOrdersReadsBeforeWritesOfItsWarp) {
  std::string const places =
      "mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd1, %rd2; xor.b32 %r5, %r6, 1; "
      "mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd1, %rd3;";
  std::string const read = "ld.global.u32 %r2, [%rd2];", write = "st.global.u32 [%rd3], %r6;";
  std::string const shuffle = "shfl.sync.bfly.b32 %r2, %r2, 2, 31, -1;";
  EXPECT_EQ(race(places + read + shuffle + write), "");
  EXPECT_TRUE(is_race(places + read + write));
  EXPECT_TRUE(is_race(places + write + shuffle + read)) << "but not writes before reads";
}

TEST_F(RacesInGlobalMemory, AreFoundInBulkCopies) {
  std::string const begin =
      "setp.eq.u32 %p0, %r1, 0; cvt.u64.u32 %rd3, %r6; @%p0 st.shared.u64 [ours], %rd3; bar.sync 0; ";
  std::string const copy = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [ours], 16;";
  EXPECT_EQ(race(begin + "@%p3 " + copy), "");
  EXPECT_EQ(race(begin + "@%p0 " + copy),
            "a race: thread (0,0,0) of block (1,0,0) writes 16 bytes at byte 0 of 4096 "
            "bytes, which thread (0,0,0) of block (0,0,0) wrote at PTX line 9, without "
            "fences or atomic accesses between");
}

// Each block waits for all others.
TEST_F(RacesInGlobalMemory, AsManyBlocksRunTogetherAsWithoutTheCheck) {
  device.options.checks = {.race = true};
  EXPECT_EQ(text_of(run_body("mov.u32 %r7, %nctaid.x; atom.global.add.u32 %r3, [%rd1], 1;\n"
                             "wait: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, %r7; @%p1 bra wait;",
                             {{2 * 16}, {1}, 0})),
            "");
}

// The memory that a thread has freed may be given to another thread.
TEST_F(RacesInGlobalMemory, NewMemoryHasNoAccesses) {
  std::string const megabytes = std::to_string(5 << 20);  // too large to be remembered for messages
  std::string const use = "{ .param .b64 a; .param .b64 r; st.param.b64 [a], " + megabytes +
                          "; call (r), malloc, (a); ld.param.b64 %rd3, [r]; }\nst.global.u32 [%rd3], %r6;\n"
                          "{ .param .b64 a; st.param.b64 [a], %rd3; call free, (a); }\n";
  std::string all = "setp.ne.u32 %p0, %r1, 0; @%p0 exit;\nadd.u32 %r6, %r6, 1;\n";
  for (int i = 0; i < 32; ++i) all += use;
  EXPECT_EQ(outcome(all, {.race = true},
                    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n"),
            "");
}

}}  // namespace cuda_cpu
