#include "cuda_cpu/executor/check/checker.h"

#include "cuda_cpu/executor/reference/body_test.h"

namespace cuda_cpu { namespace {

class Checker : public BodyTest {
 protected:
  // Returns the message up to the place of the fault; empty without a fault. Thread 0 has %p2, thread 1 %p1, thread 32
  // %p3.
  std::string outcome(std::string const& body, Checks const& checks, std::uint32_t threads = 64) {
    device.options.checks = checks;
    std::string const text = text_of(run_body(
        "setp.eq.u32 %p2, %r1, 0; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p3, %r1, 32;\n" + body, {{1}, {threads}, 0}));
    return text.substr(0, text.find(": kernel"));
  }
  std::string race(std::string const& body, std::uint32_t threads = 64) {
    return outcome(body, {.race = true}, threads);
  }
};

constexpr char kReadAfterWrite[] =
    "a race: thread (32,0,0) reads 4 bytes of shared memory at byte 0 of ours, which thread (0,0,0) wrote at PTX line "
    "9, "
    "without a barrier between";

TEST_F(Checker, FindsRacesOfBothOrdersAndNamesBothPlaces) {
  EXPECT_EQ(race("@%p2 st.shared.u32 [ours], 1;\n@%p3 ld.shared.u32 %r2, [ours];"), kReadAfterWrite);
  EXPECT_EQ(race("@%p2 ld.shared.u32 %r2, [ours+4];\n@%p3 st.shared.u32 [ours+4], 1;"),
            "a race: thread (32,0,0) writes 4 bytes of shared memory at byte 4 of ours, which thread (0,0,0) read at "
            "PTX line "
            "9, without a barrier between");
  EXPECT_EQ(race("@%p2 st.shared.u32 [ours], 1;\n@%p3 st.shared.u32 [ours], 2;"),
            "a race: thread (32,0,0) writes 4 bytes of shared memory at byte 0 of ours, which thread (0,0,0) wrote at "
            "PTX line "
            "9, without a barrier between");
}

// Tests often run on zeros, where a missing barrier changes nothing.
TEST_F(Checker, SaysOnceThatTheValuesHideARace) {
  std::vector<std::string> notes;
  device.options.note = [&](std::string_view text) { notes.emplace_back(text); };
  std::string const hidden = "a race that these values hide, because the value that was written was there already: ";
  auto const noted = [&](std::string const& body) {
    notes.clear();
    EXPECT_EQ(race(body), "") << body;
    return notes.empty() ? "" : notes[0].substr(0, notes[0].find(": kernel"));
  };
  // The warp that arrives last goes on first.
  std::string const zero = "mov.u32 %r3, 0; @%p2 st.shared.u32 [ours], %r3; bar.sync 0;\n";
  EXPECT_EQ(noted(zero + "@%p2 st.shared.u32 [ours], %r3;\n@%p3 ld.shared.u32 %r2, [ours];"),
            hidden +
                "thread (0,0,0) writes 4 bytes of shared memory at byte 0 of ours, which thread (32,0,0) read at "
                "PTX line 11, without a barrier between");
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(": kernel k, PTX line 10, block (0,0,0)"), std::string::npos) << notes[0];
  EXPECT_EQ(text_of(device.run("k", {{1}, {64}, 0}, data)), "");
  EXPECT_EQ(notes.size(), 1u) << "once for each kernel";
  EXPECT_EQ(noted(zero + "@%p2 ld.shared.u32 %r2, [ours];\n@%p3 st.shared.u32 [ours], %r3;"),
            hidden +
                "thread (0,0,0) reads 4 bytes of shared memory at byte 0 of ours, which thread (32,0,0) wrote at "
                "PTX line 11, without a barrier between");
  EXPECT_EQ(noted(zero + "@%p2 st.shared.u32 [ours], %r3;\nbar.sync 0; @%p3 ld.shared.u32 %r2, [ours];"), "");
  EXPECT_EQ(noted("mov.u32 %r3, 1; st.shared.u32 [ours], %r3; bar.sync 0; ld.shared.u32 %r2, [ours];"), "")
      << "a flag that several threads set";
}

TEST_F(Checker, FindsRacesThroughGenericAddressesAndInTheTracedLoop) {
  EXPECT_EQ(race("cvta.shared.u64 %rd3, ours; @%p2 st.u32 [%rd3], 1; @%p3 ld.shared.u32 %r2, [ours];"),
            kReadAfterWrite);
  device.options.opcode_statistics = true;
  EXPECT_EQ(race("@%p2 st.shared.u32 [ours], 1;\n@%p3 ld.shared.u32 %r2, [ours];"), kReadAfterWrite);
}

TEST_F(Checker, NamesPartsOfSharedVariablesThatTheCompilerSplit) {
  EXPECT_EQ(race(".shared .align 4 .u32 _ZZ4sortPiE6counts_$_1; @%p2 st.shared.u32 [_ZZ4sortPiE6counts_$_1], 1;\n"
                 "@%p3 ld.shared.u32 %r2, [_ZZ4sortPiE6counts_$_1];"),
            "a race: thread (32,0,0) reads 4 bytes of shared memory at byte 0 of counts, part 1, which thread (0,0,0) "
            "wrote at PTX line 9, without a barrier between");
  EXPECT_EQ(race(".shared .u32 heads_$_1_$_0; @%p2 st.shared.u32 [heads_$_1_$_0], 1;\n"
                 "@%p3 ld.shared.u32 %r2, [heads_$_1_$_0];"),
            "a race: thread (32,0,0) reads 4 bytes of shared memory at byte 0 of heads, part 1.0, which thread (0,0,0) "
            "wrote at PTX line 9, without a barrier between");
}

TEST_F(Checker, FindsNoRaceWithoutBeingAskedTo) {
  Checks const others{.init = true, .init_shared = true, .sync = true};
  EXPECT_EQ(outcome("@%p2 st.shared.u32 [ours], 1; @%p3 ld.shared.u32 %r2, [ours];", others), "");
}

TEST_F(Checker, AccessesOfDifferentBytesOrWithoutAChangeAreNoRace) {
  EXPECT_EQ(race("cvt.u64.u32 %rd3, %r1; mov.u64 %rd4, ours; add.u64 %rd3, %rd3, %rd4; st.shared.u8 [%rd3], 1; "
                 "ld.shared.u8 %r2, [%rd3];"),
            "");
  EXPECT_EQ(race("@%p2 st.shared.u32 [ours], 1; @%p3 st.shared.u32 [ours], 1;"), "");
  EXPECT_EQ(
      race("@%p2 st.shared.u32 [ours], 1; @%p3 st.shared.u32 [ours], 1;\n@%p3 st.shared.u32 [ours], 2;"),
      "a race: thread (32,0,0) writes 4 bytes of shared memory at byte 0 of ours, which thread (0,0,0) wrote at PTX "
      "line 9, without a barrier between")
      << "the write that changed nothing is not what thread 32 raced with";
  EXPECT_EQ(race("st.shared.u32 [ours], %r1;", 32), "") << "lanes of one instruction: any of them wins";
}

TEST_F(Checker, BarriersOrderAccesses) {
  EXPECT_EQ(race("@%p2 st.shared.u32 [ours], 1; bar.sync 0; @%p3 ld.shared.u32 %r2, [ours];"), "");
  EXPECT_EQ(race("setp.lt.u32 %p1, %r1, 64; @%p2 st.shared.u32 [ours], 1; @%p1 bar.sync 1, 64; @%p3 ld.shared.u32 %r2, "
                 "[ours];",
                 96),
            "");
  EXPECT_EQ(race("setp.lt.u32 %p1, %r1, 32; @%p2 st.shared.u32 [ours], 1; @%p1 bar.arrive 1, 64; @!%p1 bar.sync 1, 64; "
                 "@%p3 ld.shared.u32 %r2, [ours];"),
            "");
}

TEST_F(Checker, ABarrierOfSomeWarpsDoesNotOrderOthers) {
  EXPECT_EQ(race("setp.ge.u32 %p1, %r1, 32; @%p2 st.shared.u32 [ours], 1; @%p1 bar.sync 1, 64; @%p3 ld.shared.u32 %r2, "
                 "[ours];",
                 96),
            kReadAfterWrite);
}

TEST_F(Checker, AWarpBarrierOrdersAccessesOfItsWarpOnly) {
  EXPECT_EQ(race("@%p2 st.shared.u32 [ours], 1; bar.warp.sync -1; @%p1 ld.shared.u32 %r2, [ours];"), "");
  EXPECT_NE(
      race("@%p2 st.shared.u32 [ours], 1; shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; @%p1 ld.shared.u32 %r2, [ours];"), "");
  EXPECT_EQ(race("mov.u32 %r3, 1; @%p2 st.shared.u32 [ours], 1; bar.warp.sync -1; @%p3 ld.shared.u32 %r2, [ours];"),
            kReadAfterWrite);
}

TEST_F(Checker, FencesAndAtomicsMayOrderAccesses) {
  std::string const wait = "@%p3 ld.volatile.shared.u32 %r3, [ours+4]; @%p3 setp.eq.u32 %p1, %r3, 0; @%p1 bra wait;";
  std::string const flag = "mov.pred %p1, %p3; and.pred %p1, %p1, %p2; @%p2 st.shared.u32 [ours], 1;";
  EXPECT_EQ(race(flag + "membar.cta; @%p2 st.volatile.shared.u32 [ours+4], 1; wait: " + wait +
                 "membar.cta; @%p3 ld.shared.u32 %r2, [ours];"),
            "");
  EXPECT_EQ(race(flag + "@%p2 st.volatile.shared.u32 [ours+4], 1; wait: " + wait + "@%p3 ld.shared.u32 %r2, [ours];"),
            kReadAfterWrite);
  EXPECT_EQ(
      race("@%p2 st.shared.u32 [ours], 1; @%p2 atom.shared.add.u32 %r2, [ours+8], 1; @%p3 atom.shared.add.u32 %r2, "
           "[ours+8], 1; @%p3 ld.shared.u32 %r2, [ours];"),
      "");
}

TEST_F(Checker, AFenceOfOneLaneCountsForThoseThatItMeets) {
  EXPECT_EQ(race("setp.eq.u32 %p0, %r1, 31;\n@%p2 st.shared.u32 [ours], 1; bar.warp.sync -1; @%p0 membar.cta; "
                 "@%p0 atom.shared.add.u32 %r2, [ours+8], 1; setp.eq.u32 %p0, %r1, 63; @%p0 atom.shared.add.u32 %r2, "
                 "[ours+8], "
                 "1; bar.warp.sync -1; @%p3 ld.shared.u32 %r2, [ours];"),
            "");
}

TEST_F(Checker, StrongAccessesDoNotRaceWithEachOther) {
  EXPECT_EQ(race("@%p2 st.volatile.shared.u32 [ours], 1; @%p3 ld.volatile.shared.u32 %r2, [ours];"), "");
  EXPECT_EQ(race("atom.shared.add.u32 %r2, [ours], 1;"), "");
  EXPECT_EQ(race("mov.u32 %r3, 1; @%p2 atom.shared.add.u32 %r2, [ours], 1; @%p3 ld.shared.u32 %r2, [ours];"),
            kReadAfterWrite);
}

TEST_F(Checker, FindsReadsOfSharedMemoryOfWhichNoByteWasWritten) {
  Checks const checks{.init_shared = true};
  EXPECT_EQ(
      outcome(
          "@%p2 st.shared.u32 [ours], 1; @%p2 ld.shared.v2.u32 {%r2, %r3}, [ours]; @%p2 ld.shared.u32 %r2, [ours+4];",
          checks),
      "a read of 4 bytes that were never written, shared memory at byte 4 of ours");
  EXPECT_EQ(outcome("atom.shared.add.u32 %r2, [ours], 1;", checks),
            "a read of 4 bytes that were never written, shared memory at byte 0 of ours");
  EXPECT_EQ(outcome("atom.shared.exch.b32 %r2, [ours], 1; ld.shared.u32 %r2, [ours];", checks), "")
      << "an exchange only writes: programs initialize with it, too";
  EXPECT_EQ(outcome("ld.shared.u32 %r2, [ours];", {.race = true, .init = true, .sync = true}), "");
}

TEST_F(Checker, FindsReadsOfTrackedGlobalMemoryThatWasNotWritten) {
  Checks const checks{.init = true};
  EXPECT_EQ(outcome("ld.global.u32 %r2, [%rd2];", checks), "") << "not tracked";
  device.memory.track_writes(reinterpret_cast<std::uintptr_t>(data));
  auto const again = [&] { return text_of(device.run("k", {{1}, {32}, 0}, data)); };
  EXPECT_EQ(again().find("a read of 4 bytes that were never written, at byte 0 of 4096 bytes (allocation "), 0u);
  device.memory.mark_written(reinterpret_cast<std::uintptr_t>(data), 128);
  EXPECT_EQ(again(), "");
}

// Bytes of padding and of empty members are copied with the object.
TEST_F(Checker, CopiesOfUnwrittenBytesAreReportedWhenTheyAreUsed) {
  Checks const checks{.init = true, .init_shared = true};
  std::string const load = ".reg .b16 %s<3>; @%p2 ld.shared.v2.u8 {%s1, %s2}, [ours];\n";
  std::string const found = "a read of 1 byte that were never written, shared memory at byte 1 of ours";
  EXPECT_EQ(outcome(load + "@%p2 st.shared.v2.u8 [ours+8], {%s1, %s2};", checks), "");
  EXPECT_EQ(outcome(load + "mov.u16 %s1, %s2; mov.u16 %s1, 0; mov.u16 %s2, 0; add.u16 %s1, %s1, %s2;", checks), "");
  EXPECT_EQ(outcome(load + "mov.u16 %s1, 0; @%p2 add.u16 %s1, %s1, %s2;", checks), found);
  EXPECT_EQ(outcome(load + "mov.u16 %s1, %s2; mov.u16 %s2, 0; @%p2 add.u16 %s1, %s1, 1;", checks), found);
  EXPECT_EQ(outcome(load + "@!%p2 add.u16 %s1, %s1, %s2;", checks), "") << "other lanes";
  EXPECT_EQ(outcome(load + "@%p2 st.shared.v2.u8 [ours+8], {%s1, %s2};\n@%p2 ld.shared.u8 %s1, [ours+9];\n"
                           "@%p2 cvt.u32.u16 %r2, %s1;",
                    checks),
            "a read of 1 byte that were never written, shared memory at byte 9 of ours")
      << "a copy is as unwritten as its source";
  EXPECT_EQ(outcome("@%p2 ld.shared.u16 %r2, [ours];", checks),
            "a read of 2 bytes that were never written, shared memory at byte 0 of ours");
}

TEST_F(Checker, KernelsWriteTrackedMemoryForLaterOnes) {
  auto const address = device.memory.allocate(64);
  device.memory.track_writes(address);
  device.options.checks = {.init = true};
  for (char const* const instruction : {"st.global.u32 [%rd1+8], 1;", "ld.global.u32 %r1, [%rd1+8];"}) {
    device.load(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 "
        "%r<2>;\nld.param.u64 %rd1, [p]; " +
        std::string(instruction) + " ret; }");
    EXPECT_EQ(text_of(device.run("k", {{1}, {1}, 0}, address)), "") << instruction;
  }
}

TEST_F(Checker, ABarrierReachedAtDifferentPlacesIsFoundOnRequest) {
  std::string const body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra low;\nbar.sync 0; bra end;\nlow: bar.sync 0; end:";
  EXPECT_EQ(outcome(body, {.race = true, .init = true}), "");
  EXPECT_EQ(
      outcome(body, {.sync = true}),
      "a barrier that threads of a block reach at different places (warp 0 waits at barrier 0 (64 of 64 threads), PTX "
      "line 11; warp 1 waits at barrier 0 (64 of 64 threads), PTX line 10)");
  // Threads may reach barriers other than barrier 0, and barrier.sync, at different places.
  EXPECT_EQ(
      outcome("setp.lt.u32 %p1, %r1, 32; @%p1 bra low; bar.sync 1; bra end; low: bar.sync 1; end:", {.sync = true}),
      "");
  EXPECT_EQ(outcome("setp.lt.u32 %p1, %r1, 32; @%p1 bra low; barrier.sync 0; bra end; low: barrier.sync 0; end:",
                    {.sync = true}),
            "");
}

TEST_F(Checker, AWarpBarrierWithoutALaneOfItsMaskIsFoundOnRequest) {
  std::string const body = "setp.ge.u32 %p1, %r1, 16; @%p1 exit;\nbar.warp.sync -1;";
  EXPECT_EQ(outcome(body, {.race = true, .init = true}, 32), "");
  EXPECT_EQ(outcome(body, {.sync = true}, 32),
            "a __syncwarp() for lanes 16 to 31, which did not arrive and have exited");
  EXPECT_EQ(outcome("@%p2 exit; bar.warp.sync -1;", {.sync = true}, 32),
            "a __syncwarp() for lane 0, which did not arrive and has exited");
  EXPECT_EQ(outcome("setp.ge.u32 %p1, %r1, 16; @%p1 exit;\nbar.warp.sync 0xffff;", {.sync = true}, 32), "");
  EXPECT_EQ(outcome("bar.warp.sync -1;", {.sync = true}, 48), "") << "the last warp has 16 threads";
  EXPECT_EQ(outcome("setp.ge.u32 %p1, %r1, 16; @%p1 bra high; bar.warp.sync -1; bra end; high: bar.warp.sync -1; end:",
                    {.sync = true}, 32),
            "")
      << "lanes may meet at different places";
}

TEST_F(Checker, AShuffleFromALaneThatHasExitedIsFoundOnRequest) {
  std::string const body = "setp.ge.u32 %p1, %r1, 16; @%p1 exit;\nshfl.sync.down.b32 %r3, %r1, 8, 31, -1;";
  EXPECT_EQ(outcome(body, {.race = true, .init = true}, 32), "");
  EXPECT_EQ(outcome(body, {.sync = true}, 32), "a shuffle that reads lane 16, which has exited");
  EXPECT_EQ(outcome("shfl.sync.down.b32 %r3, %r1, 8, 31, -1;", {.sync = true}, 48), "");
  device.options.stale_shuffle = StaleShuffle::zero;
  EXPECT_EQ(outcome(body, {.sync = true}, 32), "") << "zero is asked for";
}

}}  // namespace cuda_cpu
