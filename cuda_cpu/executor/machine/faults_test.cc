// Faults are reported with the kernel, the line, the block and the lanes.
#include <atomic>
#include <thread>

#include "cuda_cpu/executor/reference/body_test.h"

namespace cuda_cpu { namespace {

using Faults = BodyTest;

TEST_F(Faults, AnAccessOutOfBoundsIsReportedWithItsPlace) {
  auto const fault = run_body("st.global.u32 [%rd2], %r1;", {{1}, {64}, 0}, 40 * 4);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::illegal_address);
  EXPECT_EQ(fault->kernel, "k");
  EXPECT_EQ(fault->line, 8);
  EXPECT_EQ(fault->first_thread, 32u);
  EXPECT_EQ(fault->lanes, 1u << 8);
  EXPECT_EQ(fault->address, reinterpret_cast<std::uintptr_t>(data + 40));
  EXPECT_NE(fault->message.find("an access of 4 bytes at 0x"), fault->message.npos);
  EXPECT_NE(fault->message.find(", reaching 4 bytes past the end of 160 bytes (allocation 1): kernel k, PTX line 8 "
                                "(st.global.u32), block (0,0,0), warp 1, lane 8"),
            fault->message.npos)
      << fault->message;
}

// A worker uses the memory of a block for the next one.
TEST_F(Faults, WhatAKernelReadsBeforeItWritesItIsZeroInEachBlock) {
  device.options.checks = {};
  EXPECT_EQ(text_of(run_body("ld.shared.u32 %r3, [ours+60]; ld.local.u32 %r4, [own+12]; or.b32 %r3, %r3, %r4; "
                             "or.b32 %r3, %r3, %r7; atom.global.or.b32 %r4, [%rd1], %r3; atom.global.add.u32 %r4, "
                             "[%rd1+4], 1; st.shared.u32 [ours+60], 1; st.local.u32 [own+12], 2; mov.u32 %r7, 4;",
                             {{500}, {32}, 0})),
            "");
  EXPECT_EQ(data[0], 0u);
  EXPECT_EQ(data[1], 500u * 32);
}

TEST_F(Faults, TheSourceLineIsReportedIfThePtxHasOne) {
  auto const fault = run_body(
      ".loc 1 71 3\n.loc 1 42 5, function_name $f, inlined_at 1 71 3\n@%p1 bra end; trap; end: ret; }\n"
      ".file 1 \"/src/softmax.cu\"\n.section .debug_str { $f: .b8 102, 0 }\n.visible .entry other() {");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message,
            "trap: kernel k, softmax.cu:42, inlined at softmax.cu:71, PTX line 10 (trap), block (0,0,0), warp 0, lanes "
            "16 to 31");
  ASSERT_EQ(fault->source.size(), 2u);
  EXPECT_EQ(fault->source[0].file, "/src/softmax.cu");
  EXPECT_EQ(fault->source[0].function, "f");
}

TEST_F(Faults, EachSpaceHasItsOwnBounds) {
  struct Case {
    char const* body;
    FaultKind kind;
  };
  for (auto const& [body, kind] : std::initializer_list<Case>{
           {"ld.shared.u32 %r2, [ours+64];", FaultKind::out_of_range},
           {"ld.shared.u32 %r2, [ours+62];", FaultKind::misaligned_address},
           {"ld.local.u32 %r2, [own+16];", FaultKind::out_of_range},
           {"atom.shared.add.u32 %r2, [ours+64], 1;", FaultKind::out_of_range},
           {"ld.local.u64 %rd3, [own+12];", FaultKind::misaligned_address},
           {"ld.global.u32 %r2, [%rd1+2];", FaultKind::misaligned_address},
           {"ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd1+8];", FaultKind::misaligned_address},
           {"ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd1+4096];", FaultKind::illegal_address},
           {"ld.u32 %r2, [%rd1+-4];", FaultKind::illegal_address},
           {"mov.u64 %rd3, 0; ld.u32 %r2, [%rd3];", FaultKind::illegal_address},
           {"cvta.shared.u64 %rd3, ours; st.u32 [%rd3+64], %r2;", FaultKind::illegal_address},
           {"atom.global.add.u32 %r2, [%rd1+4096], 1;", FaultKind::illegal_address},
           {"mov.b64 %rd3, p; ld.param.u32 %r2, [%rd3+2];", FaultKind::misaligned_address},
           {"mov.b64 %rd3, p; add.u64 %rd3, %rd3, 8; ld.param.u32 %r2, [%rd3];", FaultKind::illegal_address}}) {
    auto const fault = run_body(body);
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, kind) << body << ": " << fault->message;
  }
}

TEST_F(Faults, AnAccessBeyondItsSpaceIsReportedWithTheSize) {
  struct Case {
    char const* body;
    char const* what;
  };
  for (auto const& [body, what] : std::initializer_list<Case>{
           {"ld.shared.u32 %r2, [ours+64];", "an access of 4 bytes at byte 64 of shared memory, which has 64 bytes: "},
           {"ld.shared.u32 %r2, [ours+-4];", "an access of 4 bytes at byte -4 of shared memory, which has 64 bytes: "},
           {"cvta.shared.u64 %rd3, ours; st.u32 [%rd3+72], %r2;",
            "an access of 4 bytes at byte 72 of shared memory, which has 64 bytes: "},
           {"ld.local.u32 %r2, [own+16];",
            "an access of 4 bytes at byte 16 of the local memory of a thread, which has 16 bytes: "}}) {
    auto const fault = run_body(body);
    ASSERT_TRUE(fault) << body;
    EXPECT_TRUE(fault->message.starts_with(what)) << body << ": " << fault->message;
  }
  auto const misaligned = run_body("ld.global.u32 %r2, [%rd1+2];");
  ASSERT_TRUE(misaligned);
  EXPECT_NE(misaligned->message.find(", at byte 2 of 4096 bytes (allocation "), misaligned->message.npos)
      << misaligned->message;
}

TEST_F(Faults, DynamicSharedMemoryHasTheSizeOfTheLaunch) {
  EXPECT_EQ(text_of(run_body("mov.u64 %rd3, rest; st.shared.u32 [%rd3+124], %r1;", {{1}, {32}, 128}, 64,
                             ".extern .shared .align 4 .b8 rest[];")),
            "");
  EXPECT_TRUE(run_body("mov.u64 %rd3, rest; st.shared.u32 [%rd3+128], %r1;", {{1}, {32}, 128}, 64,
                       ".extern .shared .align 4 .b8 rest[];"));
}

TEST_F(Faults, ConstantMemoryIsReadOnlyAndSeparateFromGlobalMemory) {
  for (auto const* const body :
       {"cvta.const.u64 %rd3, fixed; st.u32 [%rd3], 1;", "mov.u64 %rd3, fixed; st.global.u32 [%rd3], 1;",
        "mov.u64 %rd3, fixed; ld.global.u32 %r2, [%rd3];", "cvta.const.u64 %rd3, fixed; atom.add.u32 %r2, [%rd3], 1;",
        "ld.const.u32 %r2, [%rd1];"}) {
    auto const fault = run_body(body, {{1}, {32}, 0}, 64, ".const .u32 fixed[4] = {5, 6};");
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::illegal_address) << body;
  }
}

TEST_F(Faults, TrapIsAFaultOfItsOwn) {
  auto const fault = run_body("@%p1 bra end; trap; end:");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::trap);
  EXPECT_EQ(fault->lanes, 0xffff0000u);
}

TEST_F(Faults, WaitingAtDifferentBarriersIsReportedAsDivergent) {
  auto const fault = run_body("@%p1 bra other; bar.sync 0; bra end; other: bar.sync 0; end:");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::barrier);
  EXPECT_NE(fault->message.find("a divergent barrier: other lanes of the warp wait at line 8"), fault->message.npos)
      << fault->message;
}

TEST_F(Faults, LanesThatDisagreeAboutABarrierAreReported) {
  struct Case {
    char const* body;
    char const* why;
  };
  for (auto const& [body, why] : std::initializer_list<Case>{
           {"and.b32 %r2, %r1, 1; bar.sync %r2;", "a barrier whose number differs between lanes"},
           {"and.b32 %r2, %r1, 32; bar.sync 0, %r2;", "a barrier of 0 threads"},
           {"mad.lo.u32 %r2, %r1, 32, 32; bar.sync 0, %r2;", "a barrier whose number of threads differs between lanes"},
           {"mov.u32 %r2, 33; bar.sync 0, %r2;", "a barrier of 33 threads"},
           {"setp.lt.u32 %p2, %r1, 32; @%p2 bar.sync 1, 64; @!%p2 bar.sync 1, 96;",
            "a barrier of 96 threads, where other threads arrived at one of 64"},
           {"setp.lt.u32 %p2, %r1, 32; @%p2 bar.sync 1; @!%p2 bar.red.popc.u32 %r2, 1, %p1;",
            "a barrier with another reduction than that of other threads"},
           {"setp.lt.u32 %p2, %r1, 32; @%p2 bar.red.and.pred %p3, 1, %p1; @!%p2 bar.red.or.pred %p3, 1, %p1;",
            "a barrier with another reduction"},
           {"@%p1 bra deep; call f; bra end; deep: call g; end:", "a divergent barrier"}}) {
    auto const fault = run_body(body, {{1}, {96}, 0}, 64,
                                ".func f { .reg .pred %q; setp.eq.u32 %q, 0, 1; bar.red.or.pred %q, 0, %q; ret; "
                                "}\n.func g { call f; ret; }");
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::barrier) << body;
    EXPECT_NE(fault->message.find(why), fault->message.npos) << fault->message;
  }
}

TEST_F(Faults, WarpsThatWaitAtDifferentBarriersAreADeadlock) {
  auto const fault = run_body("setp.lt.u32 %p2, %r1, 32;\n@%p2 bar.sync 1, 64;\n@!%p2 bar.sync 2, 64;", {{1}, {64}, 0});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::barrier);
  EXPECT_EQ(fault->line, 9);
  EXPECT_NE(fault->message.find("a deadlock"), fault->message.npos);
  EXPECT_NE(fault->message.find("lanes 0 to 31"), fault->message.npos);
}

TEST_F(Faults, ACollectiveWhosePartnersNeverArriveIsADeadlock) {
  auto const fault = run_body("@%p1 bra end;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nend: @%p1 bar.sync 0;");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::barrier);
  EXPECT_EQ(fault->line, 9);
  EXPECT_EQ(fault->lanes, 0xffff0000u);
}

TEST_F(Faults, AShuffleFromALaneThatTakesNoPartIsReported) {
  struct Case {
    char const* body;
    std::uint32_t threads;
    char const* why;
  };
  for (auto const& [body, threads, why] : std::initializer_list<Case>{
           {"@!%p1 exit; shfl.sync.idx.b32 %r2, %r1, 20, 31, -1;", 32, "lane 20, which has exited"},
           {"@%p1 shfl.sync.idx.b32 %r2, %r1, 17, 31, 0xffff;", 32, "lane 17, which is not in the member mask 0xffff"},
           {"shfl.sync.idx.b32 %r2, %r1, 8, 31, -1;", 40, "lane 8, which does not exist: the block has 40 threads"}}) {
    auto const fault = run_body(body, {{1}, {threads}, 0});
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::shuffle) << body;
    EXPECT_EQ(fault->lanes, 1u) << body;
    EXPECT_EQ(fault->message.find(std::string("a shuffle that reads ") + why), 0u) << fault->message;
  }
}

TEST_F(Faults, LanesAtTheEndOfAReductionMayReadOthersUnlessThatIsChecked) {
  char const* const body = "@%p1 shfl.sync.down.b32 %r2, %r1, 4, 31, 0xffff; st.global.u32 [%rd2], %r2;";
  EXPECT_EQ(text_of(run_body(body)), "");
  EXPECT_EQ(data[11], 15u);
  EXPECT_EQ(data[12], 0u);
  device.options.stale_shuffle = StaleShuffle::fault;
  auto const fault = run_body(body);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->lanes, 1u << 12);
  EXPECT_EQ(fault->message.find("a shuffle that reads lane 16, which is not in"), 0u) << fault->message;
}

TEST_F(Faults, AShuffleGivesZeroInPlaceOfAFaultIfAskedTo) {
  device.options.stale_shuffle = StaleShuffle::zero;
  EXPECT_EQ(text_of(run_body("@!%p1 exit; shfl.sync.idx.b32 %r2, %r1, 20, 31, -1; st.global.u32 [%rd2+4], %r2;")), "");
  EXPECT_EQ(data[9], 0u);
}

TEST_F(Faults, ExitedThreadsCountAsArrivedAtBarriers) {
  EXPECT_EQ(text_of(run_body("@%p1 exit; bar.sync 0;", {{1}, {100}, 0})), "");
  EXPECT_EQ(text_of(run_body("setp.lt.u32 %p2, %r1, 40; @%p2 exit; bar.sync 0; "
                             "st.global.u32 [%rd2], %r1;",
                             {{1}, {100}, 0})),
            "");
  EXPECT_EQ(data[99], 99u);
  EXPECT_EQ(data[39], 0u);
}

TEST_F(Faults, LanesThatSpinLetOthersOfTheirWarpRun) {
  // Lane 31 sets, at a later line of the text, the flag for which all other lanes spin.
  EXPECT_EQ(text_of(run_body("setp.eq.u32 %p2, %r1, 31; @%p2 bra set; wait: ld.volatile.global.u32 %r2, [%rd1]; "
                             "setp.eq.u32 %p3, %r2, 0; @%p3 bra wait; bra end;"
                             "set: st.volatile.global.u32 [%rd1], 1; end:")),
            "");
}

TEST_F(Faults, LanesThatSpinWithCollectivesBranchesOrCallsLetOthersRun) {
  std::string const set =
      "setp.eq.u32 %p2, %r1, 31; @%p2 bra set; wait: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p3, %r2, 0;";
  std::string const end = "@%p3 bra wait; bra end; set: st.volatile.global.u32 [%rd1], 1; end:";
  EXPECT_EQ(text_of(run_body(set + "vote.sync.any.pred %p3, %p3, 0x7fffffff;" + end)), "");
  EXPECT_EQ(text_of(run_body(set + "@%p1 bra low; add.u32 %r3, %r3, 1; low:" + end)), "");
  EXPECT_EQ(text_of(run_body(set + "call nothing;" + end, {{1}, {32}, 0}, 64, ".func nothing { ret; }")), "");
}

TEST_F(Faults, BlocksThatSpinOverBarriersLetOtherBlocksRun) {
  device.executor = std::make_unique<Executor>(Executor::Options{1, 4});
  EXPECT_EQ(
      text_of(run_body("mov.u32 %r3, %ctaid.x; setp.eq.u32 %p2, %r3, 1; @%p2 st.volatile.global.u32 [%rd1], 1; "
                       "setp.eq.u32 %p1, %r1, 0;"
                       "wait: @%p1 ld.volatile.global.u32 %r2, [%rd1]; @%p1 st.shared.u32 [ours], %r2; bar.sync 0; "
                       "ld.shared.u32 %r2, [ours]; bar.sync 0;"
                       "setp.eq.u32 %p3, %r2, 0; @%p3 bra wait;",
                       {{2}, {64}, 0})),
      "");
}

TEST_F(Faults, BlocksThatWaitForLaterBlocksProgressOnOneWorker) {
  device.executor = std::make_unique<Executor>(Executor::Options{1, 4});
  // Block 0 waits for block 2.
  EXPECT_EQ(text_of(run_body("mov.u32 %r3, %ctaid.x; setp.eq.u32 %p2, %r3, 2; @%p2 st.volatile.global.u32 [%rd1], 1;"
                             "wait: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p3, %r2, 0; @%p3 bra wait;",
                             {{3}, {32}, 0})),
            "");
}

TEST_F(Faults, AFailedAssertionIsReportedWithItsText) {
  auto const fault = run_body(
      "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; mov.u64 %rd3, message; "
      "st.param.b64 [a], %rd3; mov.u64 %rd3, file;"
      "st.param.b64 [b], %rd3; st.param.b32 [c], 12; st.param.b64 [d], %rd3; st.param.b64 [e], 1; "
      "call.uni __assertfail, (a, b, c, d, e); }",
      {{1}, {32}, 0}, 64,
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
      ".global .b8 message[4] = {97, 62, 48}; .global .b8 file[2] = {102};");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::assertion);
  EXPECT_NE(fault->message.find("f:12: f: Assertion `a>0` failed: kernel k, PTX line "), fault->message.npos)
      << fault->message;
}

TEST_F(Faults, TooManyNestedCallsAreAStackOverflow) {
  auto const fault = run_body("call again;", {{1}, {32}, 0}, 64, ".func again { call again; ret; }");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::stack_overflow);
}

TEST_F(Faults, AStopEndsAKernelThatSpins) {
  for (auto const* const body : {"wait: bra wait;", "wait: bar.sync 0; bra wait;"}) {
    std::stop_source source;
    device.options.stop = source.get_token();
    std::jthread const stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      source.request_stop();
    });
    auto const fault = run_body(body, {{4}, {64}, 0});
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, FaultKind::stopped);
  }
}

TEST_F(Faults, AStopEndsARunThatHasNotBegun) {
  device.executor = std::make_unique<Executor>(Executor::Options{1, 1});
  std::stop_source first;
  device.options.stop = first.get_token();
  std::optional<Fault> spins;
  device.load(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [p]; st.volatile.global.u32 [%rd1], 1; wait: bra wait; }");
  auto* const runs = device.allocate<std::uint32_t>(1);
  std::jthread spinning([&] { spins = device.run("k", {{1}, {1}, 0}, runs); });
  while (std::atomic_ref(*runs).load() == 0) std::this_thread::yield();
  TestDevice other;
  other.load(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }");
  std::stop_source second;
  RunOptions options;
  options.stop = second.get_token();
  std::jthread const stopper([&] { second.request_stop(); });
  auto const fault = device.executor->run(*other.program->find_kernel("k"), {{1}, {32}, 0}, {}, other.memory, options);
  EXPECT_TRUE(fault && fault->kind == FaultKind::stopped);
  first.request_stop();
  spinning.join();
  EXPECT_TRUE(spins && spins->kind == FaultKind::stopped);
}

TEST_F(Faults, AStopMayBeRequestedByThePrintCallback) {
  std::stop_source source;
  device.options.stop = source.get_token();
  device.options.print = [&](std::string_view) { source.request_stop(); };
  auto const fault = run_body(
      "wait: { .param .b64 f; .param .b64 v; .param .b32 n; mov.u64 %rd2, text; st.param.b64 [f], %rd2; "
      "st.param.b64 [v], %rd2; call (n), vprintf, (f, v); } bra wait;",
      {{1}, {32}, 0}, 64,
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.global .b8 text[2] = {97, 0};");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::stopped);
}

TEST_F(Faults, TooMuchLocalMemoryIsAFaultOfTheKernel) {
  EXPECT_EQ(text_of(run_body(".local .b8 much[500000];", {{1}, {32}, 0})), "");
  auto const fault = run_body(".local .b8 much[500000];", {{1}, {1024}, 0});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::stack_overflow);
  EXPECT_EQ(fault->message, "kernel k: the threads of a block need more than 256 MiB of local memory");
}

TEST_F(Faults, TheExecutorRunsOtherKernelsAfterAFault) {
  EXPECT_TRUE(run_body("trap;", {{50}, {64}, 0}));
  EXPECT_EQ(text_of(run_body("st.global.u32 [%rd2], %r1;")), "");
  EXPECT_EQ(data[31], 31u);
}

}}  // namespace cuda_cpu
