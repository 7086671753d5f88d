// cp.async and mbarrier, by hand: each test compares a few instructions with the PTX manual.
#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu { namespace {

// Runs a body for each thread of a block. %rd1 is the address of an array of 64 words, %r1 the index of the thread, and
// the value that it leaves in %r9 is its result. `ours` is in shared memory, and so is the mbarrier `bar`.
class Async : public testing::Test {
 protected:
  std::optional<Fault> run(std::string const& body, unsigned threads) {
    device.load(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 a) {\n"
        ".reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .b64 %st<4>; "
        ".shared .align 16 .b8 ours[512]; .shared .align 8 .b64 bar;\n"
        "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r9, 0; setp.eq.u32 %p1, %r1, 0;\n" +
        body + "\nld.param.u64 %rd8, [p]; mad.wide.u32 %rd8, %r1, 4, %rd8; st.global.u32 [%rd8], %r9;\nret;\n}\n");
    out = device.allocate<std::uint32_t>(threads);
    std::vector<std::uint32_t> array(64);
    for (unsigned i = 0; i < 64; ++i) array[i] = 0x01010101 * (i + 1);
    in = device.upload(array);
    return device.run("k", {{1}, {threads}, 0}, out, in);
  }
  std::uint32_t one(std::string const& body) {
    EXPECT_EQ(text_of(run(body, 1)), "") << body;
    return out[0];
  }
  std::vector<std::uint32_t> all(std::string const& body, unsigned threads) {
    EXPECT_EQ(text_of(run(body, threads)), "") << body;
    return {out, out + threads};
  }

  TestDevice device;
  std::uint32_t* out = nullptr;
  std::uint32_t* in = nullptr;
};

TEST_F(Async, CopiesFillWhatTheSourceLacksWithZeros) {
  std::string const fill =
      "mov.u64 %rd2, -1; st.shared.u64 [ours], %rd2; st.shared.u64 [ours+8], %rd2; "
      "st.shared.u64 [ours+16], %rd2;";
  auto const word = [&](std::string const& copy, unsigned at) {
    return one(fill + copy + "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r9, [ours+" +
               std::to_string(at) + "];");
  };
  checks_forms({"cp.async.ca.shared.global", "cp.async.cg.shared.global", "cp.async.commit_group",
                "cp.async.wait_group", "cp.async.wait_all"});
  for (unsigned const size : {4u, 8u, 16u}) {
    std::string const copy = "cp.async.ca.shared.global [ours], [%rd1+16], " + std::to_string(size);
    for (unsigned at = 0; at < 20; at += 4)
      EXPECT_EQ(word(copy + ";", at), at < size ? 0x05050505 + at / 4 * 0x01010101 : 0xffffffff) << size << ' ' << at;
    for (unsigned given = 0; given <= size; ++given) {
      // A source of zero bytes may have any address.
      std::string const from = given == 0 ? "mov.u64 %rd1, 16; " : "";
      std::string const partial = from + "mov.u32 %r2, " + std::to_string(given) + ";" + copy + ", %r2;";
      for (unsigned at = 0; at < 20; at += 4) {
        std::uint32_t expected = at < size ? 0 : 0xffffffff;
        for (unsigned byte = at; byte < std::min(given, at + 4); ++byte) expected |= (5u + at / 4) << (byte - at) * 8;
        EXPECT_EQ(word(partial, at), expected) << size << ' ' << given << ' ' << at;
      }
    }
  }
  EXPECT_EQ(word("cp.async.cg.shared.global.L2::128B [ours+16], [%rd1], 16, 8; cp.async.wait_all;", 20), 0x02020202u);
  EXPECT_EQ(word("createpolicy.fractional.L2::evict_first.b64 %rd3, 0.5; "
                 "cp.async.cg.shared::cta.global.L2::cache_hint [ours], [%rd1+32], 16, %rd3;",
                 12),
            0x0c0c0c0cu);
}

struct FaultCase {
  std::string body;
  FaultKind kind;
  char const* what;
};

TEST_F(Async, ReportsCopiesThatMustNotBe) {
  std::string const init = "mbarrier.init.shared.b64 [bar], 1;";
  std::string const bulk = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  for (auto const& [body, kind, what] : std::initializer_list<FaultCase>{
           {"cp.async.ca.shared.global [ours], [%rd1], 260;", FaultKind::illegal_instruction, "expected 4, 8 or 16"},
           {"cp.async.ca.shared.global [ours], [%rd1], 12;", FaultKind::illegal_instruction,
            "a copy of 12 bytes; expected 4, 8 or 16"},
           {"cp.async.cg.shared.global [ours], [%rd1], 8;", FaultKind::illegal_instruction,
            "a copy of 8 bytes; expected 16"},
           {"cp.async.ca.shared.global [ours], [%rd1], 4, 5;", FaultKind::illegal_instruction,
            "a copy of 5 bytes; expected at most the size in shared memory"},
           {"cp.async.ca.shared.global [ours+4], [%rd1], 8;", FaultKind::misaligned_address,
            "a misaligned access of 8 bytes at 0x4"},
           {"cp.async.ca.shared.global [ours], [%rd1+4], 8, 3;", FaultKind::misaligned_address,
            "a misaligned access of 8 bytes"},
           {"cp.async.ca.shared.global [ours], [%rd1+256], 16;", FaultKind::illegal_address, "an access of 16 bytes"},
           {"cp.async.ca.shared.global [ours+1024], [%rd1], 16;", FaultKind::out_of_range,
            "an access of 16 bytes at byte 1024 of shared memory, which has "},
           {init + bulk + "[ours], [%rd1], 24, [bar];", FaultKind::illegal_instruction,
            "a copy of 24 bytes; expected a multiple of 16"},
           {init + bulk + "[ours+8], [%rd1], 16, [bar];", FaultKind::misaligned_address,
            "a misaligned access of 16 bytes at 0x8"},
           {init + bulk + "[ours], [%rd1+224], 48, [bar];", FaultKind::illegal_address, "an access of 16 bytes"},
           {bulk + "[ours], [%rd1], 16, [bar];", FaultKind::barrier, "an mbarrier that is not initialized"},
           {"mbarrier.init.shared.b64 [bar], 0;", FaultKind::barrier,
            "an mbarrier of 0 arrivals; expected 1 to 1048575"},
           {"mbarrier.init.b64 [%rd1], 1;", FaultKind::illegal_address, "an address outside of shared memory"},
           {"mbarrier.init.shared.b64 [bar+4], 1;", FaultKind::misaligned_address, "a misaligned access of 8 bytes"},
           {"mbarrier.arrive.shared.b64 %st1, [bar];", FaultKind::barrier, "an mbarrier that is not initialized"},
           {init + "mbarrier.inval.shared.b64 [bar]; mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;",
            FaultKind::barrier, "an mbarrier that is not initialized"},
           {init + "mbarrier.arrive.shared.b64 %st1, [bar], 2;", FaultKind::barrier,
            "more arrivals at an mbarrier than it expects"},
           {init + "mbarrier.arrive.noComplete.shared.b64 %st1, [bar], 1;", FaultKind::barrier,
            "an arrival with .noComplete completes the phase"},
           {init + "mbarrier.expect_tx.shared.b64 [bar], 1048575; mbarrier.expect_tx.shared.b64 [bar], 1;",
            FaultKind::barrier, "an mbarrier that waits for more than 1048575 bytes"}}) {
    auto const fault = run(body, 1);
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, kind) << body;
    EXPECT_NE(fault->message.find(what), fault->message.npos) << fault->message;
  }
}

// Adds 1 << bit to the result if the phase of a parity is complete.
std::string test_parity(unsigned parity, unsigned bit) {
  return "mbarrier.test_wait.parity.shared.b64 %p2, [bar], " + std::to_string(parity) + "; @%p2 or.b32 %r9, %r9, " +
         std::to_string(1u << bit) + ";\n";
}

TEST_F(Async, AnMbarrierCompletesItsPhaseWithTheLastArrival) {
  checks_forms({"mbarrier.init.shared.b64", "mbarrier.arrive.shared.b64", "mbarrier.arrive.shared::cta.b64",
                "mbarrier.test_wait.parity.shared.b64", "mbarrier.test_wait.shared.b64", "mbarrier.try_wait.shared.b64",
                "mbarrier.try_wait.parity.shared.b64", "mbarrier.pending_count.b64", "mbarrier.inval.shared.b64"});
  std::string const init = "mbarrier.init.shared.b64 [bar], 3;";
  // Before the first phase ends, the preceding phase, which has parity 1, counts as complete.
  EXPECT_EQ(one(init + test_parity(0, 0) + test_parity(1, 1)), 2u);
  std::string const arrive = "mbarrier.arrive.shared.b64 %st1, [bar];";
  EXPECT_EQ(one(init + arrive + arrive + test_parity(0, 0) + test_parity(1, 1)), 2u);
  EXPECT_EQ(one(init + arrive + arrive + arrive + test_parity(0, 0) + test_parity(1, 1)), 1u);
  EXPECT_EQ(one(init + "mbarrier.arrive.shared::cta.b64 %st1, [bar], 3;" + test_parity(0, 0) + test_parity(1, 1)), 1u);
  // Each phase expects three arrivals again.
  EXPECT_EQ(one(init + arrive + arrive + arrive + arrive + arrive + arrive + test_parity(0, 0) + test_parity(1, 1)),
            2u);
  // An arrival returns the state before it.
  std::string const states = init + arrive + "mbarrier.arrive.shared.b64 %st2, [bar], 2;";
  EXPECT_EQ(
      one(states +
          "mbarrier.pending_count.b64 %r2, %st1; mbarrier.pending_count.b64 %r3, %st2; mad.lo.u32 %r9, %r2, 10, %r3;"),
      32u);
  for (std::string const wait : {"test_wait", "try_wait"}) {
    auto const test = "mbarrier." + wait + ".shared.b64 %p2, [bar], %st1; selp.u32 %r9, 1, 0, %p2;";
    EXPECT_EQ(one(init + arrive + arrive + test), 0u);
    EXPECT_EQ(one(states + test), 1u);
  }
  EXPECT_EQ(one(states + "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0, 1000; selp.u32 %r9, 1, 0, %p2;"), 1u);
  // An invalidated mbarrier is memory that may hold other values.
  EXPECT_EQ(one(init + "mbarrier.inval.shared.b64 [bar]; st.shared.u32 [bar], 5; ld.shared.u32 %r9, [bar];"), 5u);
}

TEST_F(Async, AnMbarrierIsReachedByGenericAddresses) {
  EXPECT_EQ(one("mov.u64 %rd3, bar; cvta.shared.u64 %rd3, %rd3; mbarrier.init.b64 [%rd3], 2; "
                "mbarrier.arrive.release.cta.b64 %st1, [%rd3], 2; mbarrier.try_wait.acquire.cta.b64 %p2, [%rd3], %st1; "
                "selp.u32 %r9, 1, 0, %p2;"),
            1u);
}

TEST_F(Async, DroppedArrivalsAreNotExpectedInLaterPhases) {
  checks_forms({"mbarrier.arrive_drop.shared.b64", "mbarrier.arrive.noComplete.shared.b64"});
  std::string const first =
      "mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive_drop.shared.b64 %st1, [bar]; "
      "mbarrier.arrive.noComplete.shared.b64 %st2, [bar], 1; mbarrier.arrive.shared.b64 _, [bar];";
  EXPECT_EQ(one(first + test_parity(0, 0) + test_parity(1, 1)), 1u);
  EXPECT_EQ(one(first + "mbarrier.arrive.shared.b64 _, [bar], 2;" + test_parity(0, 0) + test_parity(1, 1)), 2u);
}

TEST_F(Async, APhaseAlsoWaitsForBytes) {
  checks_forms(
      {"mbarrier.arrive.expect_tx.shared.b64", "mbarrier.expect_tx.shared.b64", "mbarrier.complete_tx.shared.b64"});
  std::string const init = "mbarrier.init.shared.b64 [bar], 1;";
  std::string const expect = init + "mbarrier.arrive.expect_tx.shared.b64 %st1, [bar], 48;";
  EXPECT_EQ(one(expect + test_parity(0, 0)), 0u);
  EXPECT_EQ(one(expect + "mbarrier.complete_tx.shared.b64 [bar], 32;" + test_parity(0, 0)), 0u);
  EXPECT_EQ(one(expect + "mbarrier.complete_tx.shared.b64 [bar], 32; mbarrier.complete_tx.shared.b64 [bar], 16;" +
                test_parity(0, 0)),
            1u);
  // Bytes may come before they are expected.
  EXPECT_EQ(one(init + "mbarrier.complete_tx.shared.b64 [bar], 16; mbarrier.expect_tx.shared.b64 [bar], 16;" +
                test_parity(0, 0) + "mbarrier.arrive.shared.b64 %st1, [bar];" + test_parity(0, 1)),
            2u);
}

TEST_F(Async, BulkCopiesCompleteTheirBytes) {
  checks_forms({"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes",
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
                "cp.async.bulk.global.shared::cta.bulk_group", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group",
                "cp.async.bulk.wait_group.read"});
  for (std::string const space : {"shared::cta", "shared::cluster"}) {
    std::string const copy =
        "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 %st1, [bar], 64; "
        "cp.async.bulk." +
        space + ".global.mbarrier::complete_tx::bytes [ours+16], [%rd1+16], 48, [bar];";
    EXPECT_EQ(one(copy + test_parity(0, 0)), 0u);
    EXPECT_EQ(one(copy + "cp.async.bulk." + space +
                  ".global.mbarrier::complete_tx::bytes [ours+64], [%rd1], 16, [bar];" + test_parity(0, 0) +
                  "ld.shared.u32 %r2, [ours+60]; ld.shared.u32 %r3, [ours+68]; and.b32 %r2, %r2, 0xff00; and.b32 %r3, "
                  "%r3, 0xff0000; "
                  "or.b32 %r9, %r9, %r2; or.b32 %r9, %r9, %r3;"),
              0x021001u);
  }
  one("mov.u64 %rd2, 77; st.shared.u64 [ours+24], %rd2; cp.async.bulk.global.shared::cta.bulk_group [%rd1+32], "
      "[ours+16], 16; "
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;");
  EXPECT_EQ(in[7], 0x08080808u);
  EXPECT_EQ(in[10], 77u);
  EXPECT_EQ(in[12], 0x0d0d0d0du);
}

TEST_F(Async, CopiesArriveAtAnMbarrier) {
  checks_forms({"cp.async.mbarrier.arrive.shared.b64", "cp.async.mbarrier.arrive.noinc.shared.b64"});
  std::string const begin = "mbarrier.init.shared.b64 [bar], 2; cp.async.ca.shared.global [ours], [%rd1], 4;";
  EXPECT_EQ(one(begin + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];" + test_parity(0, 0) +
                "mbarrier.arrive.shared.b64 %st1, [bar];" + test_parity(0, 1)),
            2u);
  // Without .noinc the phase expects an additional arrival, which the copies make.
  EXPECT_EQ(one(begin + "cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.arrive.shared.b64 %st1, [bar];" +
                test_parity(0, 0) + "mbarrier.arrive.shared.b64 %st1, [bar];" + test_parity(0, 1)),
            2u);
}

TEST_F(Async, WarpsWaitForEachOtherAtAnMbarrier) {
  // Each thread writes a word, arrives, waits, and reads the word of a thread of another warp; three times.
  auto const results = all(
      "@%p1 mbarrier.init.shared.b64 [bar], 96; bar.sync 0; mov.u32 %r2, ours; mad.lo.u32 %r3, %r1, 4, %r2; "
      "sub.u32 %r4, 95, %r1; mad.lo.u32 %r4, %r4, 4, %r2; mov.u32 %r5, 0;\n"
      "again: mad.lo.u32 %r6, %r5, 1000, %r1; st.shared.u32 [%r3], %r6; mbarrier.arrive.shared.b64 %st1, [bar];\n"
      "wait: mbarrier.try_wait.shared.b64 %p2, [bar], %st1; @!%p2 bra wait;\n"
      "ld.shared.u32 %r7, [%r4]; add.u32 %r9, %r9, %r7; mbarrier.arrive.shared.b64 %st2, [bar]; and.b32 %r8, 1, 1;\n"
      "wait2: mbarrier.try_wait.parity.shared.b64 %p3, [bar], %r8; @%p3 bra done; bra wait2;\n"
      "done: add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 3; @%p4 bra again;",
      96);
  for (unsigned i = 0; i < 96; ++i) EXPECT_EQ(results[i], 3000 + 3 * (95 - i)) << i;
}

// The checks know which bytes copies read and write, and which accesses mbarriers order.
TEST_F(Async, ChecksFollowCopies) {
  device.options.checks = {.race = true, .init_shared = true, .sync = true};
  std::string const place =
      "mov.u32 %r2, ours; mad.lo.u32 %r2, %r1, 4, %r2; xor.b32 %r3, %r1, 32; mov.u32 %r4, ours; "
      "mad.lo.u32 %r4, %r3, 4, %r4; mad.wide.u32 %rd2, %r1, 4, %rd1;";
  std::string const copy = "cp.async.ca.shared.global [%r2], [%rd2], 4; cp.async.wait_all;";
  std::string const read = "ld.shared.u32 %r9, [%r4];";
  auto const message = [&](std::string const& body) { return text_of(run(place + body, 64)); };
  EXPECT_EQ(message(copy + "bar.sync 0;" + read), "");
  device.options.checks.init_shared = false;
  EXPECT_NE(message(copy + read).find("a race: thread (32,0,0) writes 4 bytes"), std::string::npos);
  device.options.checks.init_shared = true;
  EXPECT_NE(
      message("setp.lt.u32 %p2, %r1, 32; @%p2 bra over;" + copy + "over: bar.sync 0;" + read).find("never written"),
      std::string::npos);
  // The threads that copy do not wait.
  std::string const init =
      "@%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0; setp.lt.u32 %p2, %r1, 32; @!%p2 bra wait;";
  std::string const wait =
      "bra end; wait: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra wait;" + read + "end:";
  EXPECT_EQ(message(init + copy + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];" + wait), "");
  EXPECT_EQ(message("@%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; setp.lt.u32 %p2, %r1, 32; @!%p2 bra wait; "
                    "@!%p1 bra end; mbarrier.arrive.expect_tx.shared.b64 %st1, [bar], 128; "
                    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [ours], [%rd1], 128, [bar];" +
                    wait),
            "");
  EXPECT_NE(message("@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [ours], 16;").find("never written"),
            std::string::npos);
}

TEST_F(Async, ElectsOneLane) {
  checks_forms({"elect.sync"});
  auto const results =
      all("setp.gt.u32 %p1, %r1, 4; @!%p1 bra end; elect.sync %r2|%p2, 0xffffffe0; mov.u32 %r9, %r2; @%p2 add.u32 %r9, "
          "%r9, 100; end:",
          32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(results[i], i < 5 ? 0u : i == 5 ? 105u : 5u) << i;
}

TEST_F(Async, ABlockIsAClusterOfItsOwn) {
  checks_forms({"barrier.cluster.arrive", "barrier.cluster.wait", "barrier.cluster.arrive.release.aligned",
                "barrier.cluster.wait.acquire.aligned", "mapa.u64", "mapa.shared::cluster.u32",
                "getctarank.shared::cluster.u32", "isspacep.shared::cluster", "fence.mbarrier_init.release.cluster",
                "fence.proxy.async", "fence.acq_rel.cluster"});
  auto const results = all(
      "mov.u32 %r2, ours; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; fence.mbarrier_init.release.cluster; "
      "fence.proxy.async; fence.acq_rel.cluster; barrier.cluster.arrive.release.aligned; "
      "barrier.cluster.wait.acquire.aligned;\n"
      "mov.u32 %r4, %cluster_nctarank; sub.u32 %r4, 64, %r4; sub.u32 %r4, %r4, %r1; mad.lo.u32 %r4, %r4, 4, %r2; "
      "mov.u32 %r5, %cluster_ctarank; mapa.shared::cluster.u32 %r4, %r4, %r5; cvt.u64.u32 %rd2, %r4; cvta.shared.u64 "
      "%rd2, %rd2; "
      "mapa.u64 %rd2, %rd2, 0; ld.u32 %r9, [%rd2]; isspacep.shared::cluster %p2, %rd2; @%p2 add.u32 %r9, %r9, 100; "
      "getctarank.shared::cluster.u32 %r6, %r4; add.u32 %r9, %r9, %r6; barrier.cluster.arrive; barrier.cluster.wait;",
      64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(results[i], 163 - i) << i;
  EXPECT_EQ(one("mov.u32 %r2, %clusterid.x; mov.u32 %r3, %nclusterid.x; mov.u32 %r4, %cluster_ctaid.x; mov.u32 %r5, "
                "%cluster_nctaid.y; "
                "mad.lo.u32 %r9, %r3, 10, %r2; mad.lo.u32 %r9, %r9, 10, %r5; mad.lo.u32 %r9, %r9, 10, %r4;"),
            1010u);
  auto const fault = run("mapa.u64 %rd2, %rd1, 1;", 1);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->message.find("block 1 of a cluster of one block"), fault->message.npos) << fault->message;
  // Some threads do not wait.
  EXPECT_TRUE(run(
      "setp.lt.u32 %p2, %r1, 32; @%p2 bra end; barrier.cluster.arrive; barrier.cluster.wait; end: bar.sync 0;", 64));
}

TEST_F(Async, HintsChangeNothing) {
  one("prefetch.global.L2 [%rd1]; prefetch.L1 [%rd1]; prefetchu.L1 [%rd1]; prefetch.global.L2::evict_last [%rd1]; "
      "applypriority.global.L2::evict_normal [%rd1], 128; griddepcontrol.wait; griddepcontrol.launch_dependents; "
      "discard.global.L2 [%rd1], 128; "
      "cp.async.bulk.prefetch.L2.global [%rd1], 16; createpolicy.cvt.L2.b64 %rd3, %rd2;");
  EXPECT_EQ(in[0], 0x01010101u);
}

TEST_F(Async, CachePoliciesChangeNothing) {
  std::string const policy = "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd3, [%rd1], 1024, 4096; ";
  EXPECT_EQ(one(policy + "ld.global.L2::cache_hint.u32 %r9, [%rd1+4], %rd3;"), 0x02020202u);
  EXPECT_EQ(one(policy + "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.v2.u32 {%r2, %r9}, [%rd1+8], %rd3;"),
            0x04040404u);
  EXPECT_EQ(one(policy + "mov.u32 %r2, 7; st.global.L1::evict_last.L2::cache_hint.v2.b32 [%rd1], {%r1, %r2}, %rd3; "
                         "ld.global.u32 %r9, [%rd1+4];"),
            7u);
  EXPECT_EQ(one(policy + "atom.global.add.L2::cache_hint.u32 %r9, [%rd1], 1, %rd3; "
                         "red.relaxed.gpu.global.add.L2::cache_hint.u32 [%rd1], 1, 0x14f0000000000000;"),
            0x01010101u);
  EXPECT_EQ(in[0], 0x01010103u);
}

TEST_F(Async, ReductionsOfBarriersHaveTheirModifiersInBothOrders) {
  for (std::string const name :
       {"barrier.cta.red.popc.aligned.u32", "barrier.cta.red.aligned.popc.u32", "bar.red.popc.u32"})
    EXPECT_EQ(all(name + " %r9, 0, %p1;", 64), std::vector<std::uint32_t>(64, 1)) << name;
  EXPECT_EQ(one("barrier.red.and.aligned.pred %p2, 0, %p1; selp.u32 %r9, 1, 0, %p2;"), 1u);
}

TEST_F(Async, ClustersOfSeveralBlocksAreRefused) {
  auto const refusal = [](std::string const& directive) {
    auto const parsed =
        ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n" + directive + "\n{ ret; }\n");
    auto const* const entry = std::get<0>(parsed)->find_entry("k");
    return entry->refusal ? entry->refusal->message : "";
  };
  EXPECT_EQ(refusal(".explicitcluster\n.reqnctapercluster 1, 1, 1"), "");
  EXPECT_EQ(refusal(".maxclusterrank 8"), "");
  EXPECT_EQ(refusal(".reqnctapercluster 2, 1"),
            "line 5: not supported: .reqnctapercluster: clusters of more than one block");
}

}}  // namespace cuda_cpu
