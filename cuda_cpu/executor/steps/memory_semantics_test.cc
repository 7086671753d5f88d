// Memory of all spaces, atomics, calls, and operations across the threads of a warp or a block.
#include "cuda_cpu/executor/reference/run_test_support.h"

// Tables with several rows in a line follow.
// clang-format off

namespace cuda_cpu {
namespace {

class KernelBody : public testing::Test {
 protected:
  // Runs a body and returns the result that each thread leaves in %r9. %r1 is the index of the thread, %rd1 the address
  // of the array.
  std::vector<std::uint32_t> results(std::string const& body, std::uint32_t threads = 32,
                                     std::string const& declarations = "",
                                     std::vector<std::uint64_t> const& array = {0, 0, 0, 0}) {
    device.load(".version 9.0\n.target sm_90\n.address_size 64\n" + declarations +
                "\n.visible .entry k(.param .u64 p, .param .u64 a) {\n"
                ".reg .pred %p<6>; .reg .b16 %rs<9>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .f32 %f<4>; "
                ".reg .f64 %fd<4>;"
                ".local .align 8 .b8 own[16]; .local .align 16 .b8 args[48]; .shared .align 8 .b8 ours[512];\n"
                "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r9, 0; setp.lt.u32 %p1, %r1, 16;\n" +
                body + "\nld.param.u64 %rd8, [p]; mad.wide.u32 %rd8, %r1, 4, %rd8; st.global.u32 [%rd8], %r9;\nret;\n"
                       "}\n");
    auto* const out = device.allocate<std::uint32_t>(threads);
    in = device.upload(array);
    EXPECT_EQ(text_of(device.run("k", {{1}, {threads}, 0}, out, in)), "") << body;
    return {out, out + threads};
  }
  std::uint32_t one(std::string const& body, std::vector<std::uint64_t> const& array = {0, 0, 0, 0}) {
    return results(body, 1, "", array)[0];
  }

  TestDevice device;
  std::uint64_t* in = nullptr;
};

class MemorySemantics : public KernelBody {};
class ThreadSemantics : public KernelBody {};
class PrintfSemantics : public KernelBody {};

TEST_F(MemorySemantics, LoadsExtendAndStoresTruncate) {
  std::vector<std::uint64_t> const array = {0xfedcba9876543280, 0x1122334455667788, 3, 4};
  EXPECT_EQ(one("ld.global.u8 %r9, [%rd1];", array), 0x80u);
  EXPECT_EQ(one("ld.global.s8 %r9, [%rd1];", array), 0xffffff80u);
  EXPECT_EQ(one("ld.global.s16 %rs1, [%rd1+6]; cvt.s32.s16 %r9, %rs1;", array), 0xfffffedcu);
  EXPECT_EQ(one("ld.global.s8 %rd2, [%rd1]; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r9, %rd2;", array), 0xffffffffu);
  EXPECT_EQ(one("ld.global.v4.u16 {%rs1,%rs2,%rs3,_}, [%rd1+8]; mov.b32 %r9, {%rs2,%rs3};", array), 0x33445566u);
  EXPECT_EQ(one("ld.global.v2.u64 {%rd2,%rd3}, [%rd1]; cvt.u32.u64 %r9, %rd3;", array), 0x55667788u);
  EXPECT_EQ(one("ld.volatile.global.u32 %r9, [%rd1+4];", array), 0xfedcba98u);
  EXPECT_EQ(one("ld.acquire.gpu.global.u32 %r9, [%rd1+8];", array), 0x55667788u);
  EXPECT_EQ(one("ld.global.nc.u32 %r9, [%rd1+12];", array), 0x11223344u);
  EXPECT_EQ(one("st.global.u8 [%rd1], %rd1; ld.global.u32 %r9, [%rd1]; "
                "and.b32 %r9, %r9, 0xffffff00;", array), 0x76543200u);
  EXPECT_EQ(one("st.release.sys.global.u16 [%rd1+2], 0xffff; ld.global.u32 %r9, [%rd1];", array), 0xffff3280u);
  EXPECT_EQ(one("mov.b64 {%r2,%r9}, %rd1; ld.global.u64 %rd2, [%rd1]; mov.b64 {%r9,_}, %rd2;", array), 0x76543280u);
}

TEST_F(MemorySemantics, RegistersMayHaveOneByte) {
  std::vector<std::uint64_t> const array = {0xfedcba9876543280, 0x1122334455667788, 3, 4};
  std::string const all = ".reg .u8 u<5>; .reg .s8 s<5>; .reg .b8 b<5>; ";
  EXPECT_EQ(one(all + "ld.global.u8 u1, [%rd1]; cvt.u32.u8 %r9, u1;", array), 0x80u);
  EXPECT_EQ(one(all + "ld.global.s8 s1, [%rd1]; cvt.s32.s8 %r9, s1;", array), 0xffffff80u);
  EXPECT_EQ(one(all + "ld.global.s8 s1, [%rd1]; cvt.u32.u8 %r9, s1;", array), 0x80u);
  EXPECT_EQ(one(all + "cvt.u8.u32 u1, 0x1ff; cvt.s16.s8 %rs1, u1; cvt.s32.s16 %r9, %rs1;", array), 0xffffffffu);
  EXPECT_EQ(one(all + "cvt.sat.u8.s32 u1, 300; cvt.u32.u8 %r9, u1;", array), 255u);
  EXPECT_EQ(one(all + "ld.global.v4.u8 {u1,u2,_,u4}, [%rd1]; st.global.v4.b8 [%rd1+8], {u4,u2,u1,7}; "
                      "ld.global.u32 %r9, [%rd1+8];", array), 0x07803276u);
  EXPECT_EQ(one(all + "ld.global.s8 s1, [%rd1]; mov.b32 %r9, {s1,s1,s1,s1};", array), 0x80808080u);
  EXPECT_EQ(one(all + "ld.global.u32 %r2, [%rd1]; mov.b32 {b1,_,b3,b4}, %r2; mov.b32 %r9, {b4,b3,b1,b1};", array), 0x80805476u);
  EXPECT_EQ(one(all + "mov.u16 %rs1, 0x1234; mov.b16 {b1,b2}, %rs1; mov.b16 %rs1, {b2,b1}; cvt.u32.u16 %r9, %rs1;", array), 0x3412u);
}

// Lanes whose addresses are equal, or one after the other, are checked together, half a warp at a time.
TEST_F(MemorySemantics, EachLaneHasItsElementHoweverTheAddressesLie) {
  std::string const all = ".shared .align 8 .b8 tile[512]; .reg .b64 %a; .reg .b32 %b, %i; "
                          "mul.lo.u32 %i, %r1, 3; add.u32 %i, %i, 100; mov.u32 %b, tile; ";
  std::string const fill = "shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %b; st.shared.u32 [%r2], %i; bar.sync 0; ";
  auto const loads = [&](std::string const& index, std::vector<std::uint32_t> const& from) {
    auto const expected = [&](std::uint32_t lane) { return 100 + 3 * from[lane]; };
    for (std::string const address : {"mad.lo.u32 %r4, %r3, 4, %b; ld.shared.u32 %r9, [%r4];",
                                      "mov.u64 %a, tile; mad.wide.u32 %a, %r3, 4, %a; ld.shared.u32 %r9, [%a];",
                                      "cvta.shared.u64 %a, tile; mad.wide.u32 %a, %r3, 4, %a; ld.u32 %r9, [%a];"}) {
      auto const got = results(all + fill + index + address);
      for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane], expected(lane)) << index << address << lane;
    }
  };
  auto const rows = [](auto const& row) {
    std::vector<std::uint32_t> from(32);
    for (std::uint32_t i = 0; i < 32; ++i) from[i] = row(i);
    return from;
  };
  loads("mov.u32 %r3, %r1; ", rows([](std::uint32_t i) { return i; }));
  loads("mov.u32 %r3, 5; ", rows([](std::uint32_t) { return 5; }));
  loads("and.b32 %r3, %r1, 15; ", rows([](std::uint32_t i) { return i & 15; }));
  loads("shr.u32 %r3, %r1, 4; ", rows([](std::uint32_t i) { return i >> 4; }));
  loads("sub.u32 %r3, 31, %r1; ", rows([](std::uint32_t i) { return 31 - i; }));
  loads("min.u32 %r3, %r1, 30; ", rows([](std::uint32_t i) { return std::min(i, 30u); }));
  loads("shr.u32 %r3, %r1, 3; ", rows([](std::uint32_t i) { return i >> 3; }));
  // The last of several lanes that store to one place wins.
  EXPECT_EQ(results(all + "st.shared.u32 [tile+8], %i; bar.warp.sync -1; ld.shared.u32 %r9, [tile+8];")[0], 193u);
  EXPECT_EQ(results(all + "add.u32 %b, %b, %r1; st.shared.u8 [%b], %i; bar.warp.sync -1; ld.shared.u32 %r9, [tile+28];")[0], 0xc1bebbb8u);
  EXPECT_EQ(results(all + "add.u32 %b, %b, %r1; st.shared.u8 [%b], %i; ld.shared.s8 %r9, [%b];")[31], 0xffffffc1u);
}

TEST_F(MemorySemantics, VectorsHaveUpTo32Bytes) {
  checks_forms({"ld.global.v4.u64", "ld.global.nc.v4.f64", "st.global.v4.u64", "st.v4.b64"});
  EXPECT_EQ(one("ld.global.v4.u64 {%rd2,%rd3,%rd4,%rd5}, [%rd1]; cvt.u32.u64 %r9, %rd4; add.u64 %rd2, %rd2, 10;"
                "st.global.v4.u64 [%rd1], {%rd5,%rd4,%rd3,%rd2};", {1, 2, 3, 4}), 3u);
  EXPECT_EQ((std::vector<std::uint64_t>(in, in + 4)), (std::vector<std::uint64_t>{4, 3, 2, 11}));
  one("ld.global.nc.v4.f64 {%fd1,%fd2,_,%fd3}, [%rd1]; add.f64 %fd1, %fd1, %fd3; mov.b64 %rd2, %fd1; mov.b64 %rd3, %fd2; "
      "st.v4.b64 [%rd1], {%rd2,%rd3,0,-1};", {0x3ff0000000000000, 5, 6, 0x4000000000000000});
  EXPECT_EQ((std::vector<std::uint64_t>(in, in + 4)), (std::vector<std::uint64_t>{0x4008000000000000, 5, 0, ~std::uint64_t{0}}));
}

TEST_F(MemorySemantics, GenericAddressesReachEachSpace) {
  checks_forms({"cvta.local.u64", "cvta.to.local.u64", "cvta.shared.u64", "cvta.to.shared.u64", "isspacep.shared", "isspacep.global"});
  EXPECT_EQ(one("mov.u64 %rd2, own; cvta.local.u64 %rd3, %rd2; st.u32 [%rd3+8], 77; ld.local.u32 %r9, [own+8];"), 77u);
  EXPECT_EQ(one("cvta.local.u64 %rd3, own; st.u32 [%rd3+4], 78; ld.local.u32 %r9, [own+4];"), 78u);
  EXPECT_EQ(one("cvta.local.u64 %rd3, own; cvta.to.local.u64 %rd3, %rd3; st.local.u32 [own+8], 79; "
                "ld.local.u32 %r9, [%rd3+8];"), 79u);
  EXPECT_EQ(
      one("cvta.shared.u64 %rd3, ours; st.shared.u32 [ours+16], 5; atom.add.u32 %r2, [%rd3+16], 2; "
          "ld.u32 %r9, [%rd3+16];"),
      7u);
  EXPECT_EQ(one("mov.u32 %r2, ours; st.shared.u32 [%r2+4], 9; ld.shared.u32 %r9, [ours+4];"), 9u);
  EXPECT_EQ(one("cvta.shared.u64 %rd3, ours; cvta.to.shared.u64 %rd3, %rd3; cvt.u32.u64 %r9, %rd3;"), 0u);
  EXPECT_EQ(one("cvta.shared.u64 %rd3, ours; isspacep.shared %p2, %rd3; isspacep.global %p3, %rd3; "
                "isspacep.global %p4, %rd1;"
                "selp.u32 %r9, 1, 0, %p2; @%p3 add.u32 %r9, %r9, 2; @%p4 add.u32 %r9, %r9, 4;"), 5u);
  EXPECT_EQ(
      one("mov.b64 %rd2, p; ld.param.u64 %rd3, [%rd2+8]; sub.u64 %rd3, %rd3, %rd1; cvt.u32.u64 %r9, %rd3; "
          "add.u32 %r9, %r9, 3;"),
      3u);
}

TEST_F(MemorySemantics, VariablesHaveTheirInitialValues) {
  auto const declarations =
      ".global .u32 numbers[3] = {10, 20, 30};\n.const .align 4 .f32 half = 0.5;\n"
      ".global .u64 pointer = generic(numbers);";
  EXPECT_EQ(results("ld.global.u64 %rd2, [pointer]; ld.u32 %r9, [%rd2+8];", 1, declarations)[0], 30u);
  checks_forms({"ld.const.f32", "ld.const.u64"});
  EXPECT_EQ(results("ld.const.u64 %rd2, [wide+8]; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r9, %rd2;", 1,
                    ".const .u64 wide[2] = {1, 0x1234567800000000};")[0], 0x12345678u);
  EXPECT_EQ(results("ld.const.f32 %f1, [half]; mov.b32 %r9, %f1;", 1, declarations)[0], 0x3f000000u);
  EXPECT_EQ(device.program->find_variable("numbers").bytes, 12u);
  EXPECT_EQ(device.program->find_variable("nothing").address, 0u);
}

TEST_F(MemorySemantics, ConstantMemoryIsReadByConstantAndGenericAddresses) {
  auto const declarations = ".const .u32 fixed[4] = {5, 6};";
  EXPECT_EQ(results("mov.u64 %rd2, fixed; ld.const.u32 %r9, [%rd2+4];", 1, declarations)[0], 6u);
  EXPECT_EQ(results("cvta.const.u64 %rd2, fixed; ld.u32 %r9, [%rd2];", 1, declarations)[0], 5u);
  EXPECT_EQ(results("cvta.const.u64 %rd2, fixed; isspacep.const %p2, %rd2; isspacep.global %p3, %rd2; "
                    "isspacep.const %p4, %rd1;"
                    "selp.u32 %r9, 1, 0, %p2; @%p3 add.u32 %r9, %r9, 2; "
                    "@%p4 add.u32 %r9, %r9, 4;", 1, declarations)[0], 1u);
}

TEST_F(ThreadSemantics, TheSizeOfAWarpIsANumber) {
  EXPECT_EQ(one("mov.u32 %r9, WARP_SZ; add.s32 %r9, %r9, -WARP_SZ; sub.u32 %r9, WARP_SZ, %r9;"), 32u);
}

TEST_F(MemorySemantics, AddressesOf32BitsWrap) {
  EXPECT_EQ(one("st.shared.u32 [ours], 7; mov.u32 %r2, -4; ld.shared.u32 %r9, [%r2+4];"), 7u);
}

TEST_F(MemorySemantics, LocalVariablesOfDifferentScopesDoNotOverlap) {
  // The inner variable is written in the second iteration, after the outer variable in the first.
  EXPECT_EQ(
      one("mov.u32 %r2, 0; again: { .local .b32 inner; st.local.u32 [inner], 7; } .local .b32 outer; "
          "setp.eq.u32 %p2, %r2, 0; @!%p2 ld.local.u32 %r9, [outer];"
          "@%p2 st.local.u32 [outer], 5; mov.u32 %r2, 1; @%p2 bra again;"),
      5u);
}

TEST_F(MemorySemantics, SumsInGlobalMemoryFlushDenormals) {
  auto const denormal = "mov.b32 %f1, 0x00000003;";
  for (std::string const space : {".global", ""}) {
    one(std::string(denormal) + "red" + space + ".add.f32 [%rd1], %f1;", {0x80000001});
    EXPECT_EQ(in[0], 0u) << space;
    one("mov.b32 %f1, 0x80800000; atom" + space + ".add.f32 %f2, [%rd1], %f1;", {0x00c00000});
    EXPECT_EQ(in[0], 0u) << space;
  }
  EXPECT_EQ(one(std::string(denormal) + "st.shared.u32 [ours], 4; red.shared.add.f32 [ours], %f1; "
                                        "ld.shared.u32 %r9, [ours];"),
            7u);
  EXPECT_EQ(one(std::string(denormal) +
                "st.shared.u32 [ours], 4; cvta.shared.u64 %rd2, ours; red.add.f32 [%rd2], %f1; "
                "ld.shared.u32 %r9, [ours];"),
            7u);
}

struct AtomicCase {
  char const* operation;
  std::uint64_t before, operand, after;
};

TEST_F(MemorySemantics, AtomicsReturnTheOldValue) {
  std::uint64_t const k32 = 0xffffffff;
  for (auto const& [operation, before, operand, after] : std::initializer_list<AtomicCase>{
           {"add.u32", 5, k32, 4}, {"add.s32", 5, 3, 8}, {"and.b32", 12, 10, 8}, {"or.b32", 12, 10, 14},
           {"xor.b32", 12, 10, 6}, {"exch.b32", 1, 2, 2}, {"min.s32", 1, k32, k32}, {"min.u32", 1, k32, 1},
           {"max.s32", 1, k32, 1}, {"max.u32", 1, k32, k32},
           {"inc.u32", 4, 5, 5}, {"inc.u32", 5, 5, 0}, {"dec.u32", 0, 7, 7}, {"dec.u32", 9, 7, 7}, {"dec.u32", 3, 7, 2},
           {"add.f32", 0x3f800000, 0x40000000, 0x40400000}, {"add.noftz.f16x2", 0x3c003c00, 0x3c004000, 0x40004200},
           {"add.noftz.bf16x2", 0x3f803f80, 0x3f804000, 0x40004040}}) {
    std::string const load = "ld.global.u32 %r2, [%rd1+8];";
    checks_forms({std::string("atom.global.") + operation});
    EXPECT_EQ(one(load + "atom.global." + operation + " %r9, [%rd1], %r2;", {before, operand}), before) << operation;
    EXPECT_EQ(in[0], after) << operation;
    if (std::string_view(operation).starts_with("exch")) continue;
    checks_forms({std::string("red.global.") + operation});
    one(load + "red.global." + operation + " [%rd1], %r2;", {before, operand});
    EXPECT_EQ(in[0], after) << "red " << operation;
  }
  checks_forms({"atom.global.add.noftz.bf16", "red.shared.add.noftz.bf16", "atom.global.add.noftz.f16"});
  EXPECT_EQ(one("mov.b16 %rs1, 0x4040; atom.global.add.noftz.bf16 %rs2, [%rd1+2], %rs1; cvt.u32.u16 %r9, %rs2;",
                {0x1111'3f80'2222}), 0x3f80u);
  EXPECT_EQ(in[0], 0x1111'4080'2222u);
  EXPECT_EQ(one("st.shared.b32 [ours], 0x3f803f80; mov.b16 %rs1, 0x7f80; red.shared.add.noftz.bf16 [ours+2], %rs1; "
                "ld.shared.b32 %r9, [ours];"), 0x7f803f80u);
  EXPECT_EQ(one("mov.b16 %rs1, 0x3c00; atom.global.add.noftz.f16 %rs2, [%rd1], %rs1; cvt.u32.u16 %r9, %rs2;",
                {0xffff4000}), 0x4000u);
  EXPECT_EQ(in[0], 0xffff4200u);
  checks_forms({"atom.add.noftz.bf16", "atom.add.noftz.f16x2", "atom.global.cas.b16"});
  EXPECT_EQ(one("mov.b16 %rs1, 0x3f80; atom.add.noftz.bf16 %rs2, [%rd1+4], %rs1; cvt.u32.u16 %r9, %rs2;",
                {0x00004000'00000000}), 0x4000u);
  EXPECT_EQ(in[0], 0x00004040'00000000u);
  EXPECT_EQ(one("mov.b32 %r2, 0x3c004000; atom.add.noftz.f16x2 %r9, [%rd1], %r2;", {0x3c003c00}), 0x3c003c00u);
  EXPECT_EQ(in[0], 0x40004200u);
  EXPECT_EQ(one("mov.b16 %rs1, 7; mov.b16 %rs3, 9; atom.global.cas.b16 %rs2, [%rd1+2], %rs1, %rs3; "
                "atom.global.cas.b16 %rs2, [%rd1], %rs1, %rs3; cvt.u32.u16 %r9, %rs2;", {0x00070005}), 5u);
  EXPECT_EQ(in[0], 0x00090005u);
  checks_forms({"atom.global.add.v2.f32", "atom.global.add.v4.f32", "red.global.add.v2.f32",
                "atom.global.add.noftz.v2.bf16x2", "red.global.add.noftz.v2.f16x2"});
  EXPECT_EQ(one("mov.f32 %f1, 2.0; mov.f32 %f2, 4.0; atom.global.add.v2.f32 {%f3, %f1}, [%rd1], {%f1, %f2}; "
                "mov.b32 %r2, %f3; mov.b32 %r3, %f1; xor.b32 %r9, %r2, %r3;", {0x40400000'3f800000}), 0x3f800000u ^ 0x40400000u);
  EXPECT_EQ(in[0], 0x40e00000'40400000u);
  one("mov.f32 %f1, 1.0; mov.f32 %f2, 2.0; atom.global.add.v4.f32 {%f3, %f3, %f3, %f3}, [%rd1], {%f1, %f2, %f1, %f2};",
      {0x00000001'3f800000, 0x3f800000'40000000});
  EXPECT_EQ(in[0], 0x40000000'40000000u);
  EXPECT_EQ(in[1], 0x40400000'40400000u);
  one("mov.f32 %f1, 1.0; mov.b32 %f2, 0x00000003; red.global.add.v2.f32 [%rd1], {%f1, %f2};", {0x00000001'3f800000});
  EXPECT_EQ(in[0], 0x00000000'40000000u) << "denormals are flushed";
  one("mov.b32 %r2, 0x3f803f80; mov.b32 %r3, 0x40004000; atom.global.add.noftz.v2.bf16x2 {%r4, %r5}, [%rd1], {%r2, %r3};",
      {0x3f803f80'40003f80});
  EXPECT_EQ(in[0], 0x40404040'40404000u);
  one("mov.b32 %r2, 0x3c003c00; red.global.add.noftz.v2.f16x2 [%rd1], {%r2, %r2};", {0x00003c00'40003c00});
  EXPECT_EQ(in[0], 0x3c004000'42004000u);
  checks_forms({"atom.global.cas.b32", "atom.acq_rel.gpu.global.cas.b32", "red.global.add.f64", "atom.global.add.u64",
                "atom.global.exch.b64"});
  EXPECT_EQ(one("atom.global.cas.b32 %r9, [%rd1], 7, 8;", {7}), 7u);
  EXPECT_EQ(in[0], 8u);
  EXPECT_EQ(one("atom.acq_rel.gpu.global.cas.b32 %r9, [%rd1], 7, 8;", {6}), 6u);
  EXPECT_EQ(in[0], 6u);
  one("mov.b64 %rd2, 0x3ff0000000000000; red.global.add.f64 [%rd1], %rd2;", {0x4000000000000000});
  EXPECT_EQ(in[0], 0x4008000000000000u);
  one("atom.global.add.u64 %rd2, [%rd1], -1; st.global.u64 [%rd1+8], %rd2;", {5, 0});
  EXPECT_EQ(in[0], 4u);
  EXPECT_EQ(in[1], 5u);
  one("atom.global.exch.b64 %rd2, [%rd1], 0x1122334455667788; st.global.u64 [%rd1+8], %rd2;", {0x8877665544332211, 0});
  EXPECT_EQ(in[0], 0x1122334455667788u);
  EXPECT_EQ(in[1], 0x8877665544332211u);
}

TEST_F(MemorySemantics, AtomicsOfAllWarpsAddUp) {
  checks_forms({"atom.shared.add.u32", "bar.sync"});
  std::string const body =
      "setp.eq.u32 %p2, %r1, 0; @%p2 st.shared.u32 [ours], 0; bar.sync 0; "
      "atom.shared.add.u32 %r2, [ours], 1; bar.sync 0; ld.shared.u32 %r9, [ours];";
  results(body, 100);
  EXPECT_EQ(results(body, 100), std::vector<std::uint32_t>(100, 100));
}

TEST_F(ThreadSemantics, ShufflesReadTheLaneOfTheManual) {
  checks_forms({"shfl.sync.down.b32", "shfl.sync.up.b32", "shfl.sync.bfly.b32", "shfl.sync.idx.b32"});
  auto const by = [&](std::string const& instruction) {
    return results("shfl.sync." + instruction + ", -1; @!%p2 add.u32 %r9, %r9, 100;");
  };
  auto const expect = [](std::vector<std::uint32_t> const& got, auto const& wanted) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane], wanted(lane)) << lane;
  };
  expect(by("down.b32 %r9|%p2, %r1, 4, 31"), [](std::uint32_t i) { return i + 4 < 32 ? i + 4 : i + 100; });
  expect(by("up.b32 %r9|%p2, %r1, 4, 0"), [](std::uint32_t i) { return i >= 4 ? i - 4 : i + 100; });
  expect(by("bfly.b32 %r9|%p2, %r1, 3, 31"), [](std::uint32_t i) { return i ^ 3; });
  expect(by("idx.b32 %r9|%p2, %r1, 5, 31"), [](std::uint32_t) { return 5u; });
  // Segments of eight lanes: the mask in c is 0x18, its clamp 7.
  expect(by("down.b32 %r9|%p2, %r1, 4, 0x1807"), [](std::uint32_t i) { return i % 8 < 4 ? i + 4 : i + 100; });
  expect(by("idx.b32 %r9|%p2, %r1, 2, 0x1807"), [](std::uint32_t i) { return i / 8 * 8 + 2; });
}

TEST_F(ThreadSemantics, VotesMatchesAndReductionsUseOnlyTheMembers) {
  checks_forms({"vote.sync.ballot.b32", "vote.sync.all.pred", "vote.sync.any.pred", "vote.sync.uni.pred", "match.any.sync.b32",
                "match.all.sync.b32", "redux.sync.add.u32", "redux.sync.min.s32", "redux.sync.xor.b32", "activemask.b32"});
  std::string const ballot = "vote.sync.ballot.b32 %r9, %p1, ";
  EXPECT_EQ(results(ballot + "-1;")[31], 0xffffu);
  EXPECT_EQ(results("@%p1 bra low; mov.u32 %r9, 1; bra end; low: vote.sync.ballot.b32 %r9, !%p3, 0xffff; "
                    "end:")[3], 0xffffu);
  EXPECT_EQ(results("vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;")[0], 0u);
  EXPECT_EQ(results("vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;")[0], 1u);
  EXPECT_EQ(results("vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;")[0], 0u);
  EXPECT_EQ(results("and.b32 %r2, %r1, 3; match.any.sync.b32 %r9, %r2, -1;")[5], 0x22222222u);
  EXPECT_EQ(results("and.b32 %r2, %r1, 3; match.all.sync.b32 %r9|%p2, %r2, -1; @%p2 mov.u32 %r9, 7;")[5], 0u);
  EXPECT_EQ(results("match.all.sync.b32 %r9|%p2, 4, -1;")[5], 0xffffffffu);
  EXPECT_EQ(results("redux.sync.add.u32 %r9, %r1, -1;")[8], 496u);
  EXPECT_EQ(results("sub.s32 %r2, %r1, 5; redux.sync.min.s32 %r9, %r2, -1;")[8], 0xfffffffbu);
  EXPECT_EQ(results("redux.sync.xor.b32 %r9, %r1, -1;")[8], 0u);
  EXPECT_EQ(results("activemask.b32 %r9;", 20)[3], 0xfffffu);
  EXPECT_EQ(results("@%p1 activemask.b32 %r9;")[3], 0xffffu);
  EXPECT_EQ(results("mov.u32 %r9, %lanemask_lt;")[5], 31u);
  EXPECT_EQ(results("mov.u32 %r9, %lanemask_ge;")[31], 0x80000000u);
}

// Cooperative groups synchronize tiles of several warps there.
TEST_F(ThreadSemantics, AKernelThatAsksForReservedSharedMemoryHasIt) {
  std::string const begin_and_end =
      "mov.u32 %r2, %reserved_smem_offset_begin; mov.u32 %r3, %reserved_smem_offset_end; ";
  EXPECT_EQ(results(begin_and_end + "sub.u32 %r9, %r3, %r2;")[0], 1024u);
  EXPECT_EQ(results("mov.u32 %r9, %reserved_smem_offset_cap;")[0], 1024u);
  EXPECT_EQ(results("mov.u32 %r2, %reserved_smem_offset_0; mov.u32 %r3, %reserved_smem_offset_1; "
                    "sub.u32 %r9, %r3, %r2;")[0], 512u);
  EXPECT_EQ(results(begin_and_end + "mov.u32 %r4, %total_smem_size; setp.le.u32 %p2, %r4, %r2; "
                                    "selp.u32 %r9, 1, 0, %p2;")[0], 1u)
      << "the reserved part is not of the block's own";
  EXPECT_EQ(results(begin_and_end + "st.shared.u32 [%r3+-4], 7; ld.shared.u32 %r9, [%r3+-4]; ld.shared.u32 %r4, [%r2]; "
                                    "add.u32 %r9, %r9, %r4;")[0], 7u)
      << "and is zero at first";
}

TEST_F(ThreadSemantics, LanesOfAMemberMaskMeetAfterDifferentPaths) {
  checks_forms({"bra", "exit", "bar.warp.sync"});
  // Half of the lanes arrives late, after a loop.
  EXPECT_EQ(results("mov.u32 %r2, 0; @%p1 bra meet; loop: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 50; @%p2 bra loop;"
                    "meet: shfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;")[1], 17u);
  EXPECT_EQ(
      results(
          "@%p1 bra first; bar.warp.sync 0xffff0000; mov.u32 %r9, 2; bra end; first: bar.warp.sync 0xffff; "
          "mov.u32 %r9, 1; end:")
          [20],
      2u);
  // Lanes may arrive at different bar.warp.sync instructions.
  EXPECT_EQ(results("@%p1 bra first; st.shared.u32 [ours], 6; bar.warp.sync -1; bra end; first: bar.warp.sync -1; "
                    "ld.shared.u32 %r9, [ours]; end:")[3], 6u);
  device.options.checks.sync = false;  // which finds the lane that exits
  EXPECT_EQ(results("setp.eq.u32 %p2, %r1, 31; @%p1 bra first; @%p2 exit; bar.warp.sync -1; mov.u32 %r9, 2; bra end; "
                    "first: bar.warp.sync -1; mov.u32 %r9, 1; end:")[3], 1u);
  // Lanes that have exited are not waited for.
  EXPECT_EQ(results("@!%p1 exit; vote.sync.ballot.b32 %r9, %p1, -1;")[2], 0xffffu);
}

TEST_F(ThreadSemantics, BarriersReduceAndCountThreads) {
  checks_forms({"bar.red.popc.u32", "bar.red.and.pred", "bar.red.or.pred", "bar.arrive", "bar.sync", "barrier.sync"});
  EXPECT_EQ(results("bar.red.popc.u32 %r9, 0, %p1;", 96)[90], 16u);
  EXPECT_EQ(results("bar.red.and.pred %p2, 1, %p1; selp.u32 %r9, 1, 0, %p2;", 96)[90], 0u);
  EXPECT_EQ(results("bar.red.or.pred %p2, 1, %p1; selp.u32 %r9, 1, 0, %p2;", 96)[90], 1u);
  // The first warp arrives and continues; the second waits for it.
  EXPECT_EQ(
      results(
          "setp.lt.u32 %p2, %r1, 32; @%p2 st.shared.u32 [ours], 5; @%p2 bar.arrive 3, 64; @!%p2 bar.sync 3, 64; "
          "ld.shared.u32 %r9, [ours];",
          64)[40],
      5u);
  EXPECT_EQ(results("@%p1 bra low; barrier.sync 2; mov.u32 %r9, 2; bra end; low: barrier.sync 2; mov.u32 %r9, 1; "
                    "end:", 64)[3],
            1u);
  EXPECT_EQ(results("mov.u32 %r2, %ntid.x; bar.sync 0, %r2; bar.sync 0; mov.u32 %r9, 4;", 64)[3], 4u);
  // Some lanes wait while the others exit.
  EXPECT_EQ(
      results(
          "@%p1 bra wait; mov.u32 %r2, 0; loop: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 90; @%p2 bra loop; exit; "
          "wait: bar.sync 1, 32; mov.u32 %r9, 3;")
          [3],
      3u);
  EXPECT_EQ(results("barrier.sync 2; fence.acq_rel.gpu; membar.cta; nanosleep.u32 10; "
                    "mov.u32 %r9, %ntid.x;", 48)[1], 48u);
}

TEST_F(ThreadSemantics, LanesMayCallDifferentFunctions) {
  checks_forms({"call", "ret", "bra"});
  std::string const functions =
      ".func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; shl.b32 %x, %x, 1; "
      "st.param.b32 [r], %x; ret; }\n"
      ".func (.param .b32 r) sum(.param .b32 a) { .reg .b32 %x, %y; .reg .b64 %wide; .reg .pred %q; "
      "ld.param.b32 %x, [a]; mov.u32 %y, 0; cvt.u64.u32 %wide, %x;\n"
      " setp.eq.u32 %q, %x, 0; @%q bra zero; add.s32 %y, %x, -1; { .param .b32 i; .param .b32 o; "
      "st.param.b32 [i], %y; call (o), sum, (i); ld.param.b32 %y, [o]; }\n"
      " zero: cvt.u32.u64 %x, %wide; add.u32 %y, %y, %x; st.param.b32 [r], %y; ret; }\n";
  auto const got = results(
      "{ .param .b32 i; .param .b32 o; and.b32 %r2, %r1, 7; st.param.b32 [i], %r2; @%p1 bra other; "
      "call (o), twice, (i); bra done;"
      "other: call (o), sum, (i); done: ld.param.b32 %r9, [o]; }",
      32, functions);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 16 ? (i & 7) * ((i & 7) + 1) / 2 : (i & 7) * 2) << i;
}

TEST_F(ThreadSemantics, UniformBranchesAndCalls) {
  checks_forms({"bra.uni", "call.uni", "ret"});
  EXPECT_EQ(results("mov.u32 %r9, %r1; bra.uni over; mov.u32 %r9, 77; over: add.u32 %r9, %r9, 100;")[9], 109u);
  std::string const square =
      ".func (.param .b32 r) square(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; mul.lo.u32 %x, %x, %x;"
      "st.param.b32 [r], %x; ret; mov.u32 %x, 5; st.param.b32 [r], %x; ret; }";
  std::string const call =
      "{ .param .b32 i; .param .b32 o; st.param.b32 [i], %r1; call.uni (o), square, (i); ld.param.b32 %r9, [o]; }";
  EXPECT_EQ(results(call, 32, square)[9], 81u);
}

TEST_F(PrintfSemantics, FormatsItsArguments) {
  std::string said;
  device.options.print = [&](std::string_view text) { said += text; };
  std::string const format = "%5d|%-3u|%lld|%.1f|%s|%c|%%|%d\n";
  std::string bytes;
  for (char const c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
  auto const count = results(
      "mov.u32 %r2, -7; st.local.v2.u32 [args], {%r2, 9}; mov.u64 %rd2, -5; st.local.u64 [args+8], %rd2;"
      "mov.f64 %fd1, 2.25; st.local.f64 [args+16], %fd1; mov.u64 %rd2, word; st.local.v2.u64 [args+32], {%rd2, "
      "%rd2}; st.local.u64 [args+24], %rd2;"
      "st.local.v2.u32 [args+32], {33, 4};"
      "{ .param .b64 f; .param .b64 v; .param .b32 n; mov.u64 %rd2, text; st.param.b64 [f], %rd2; "
      "cvta.local.u64 %rd3, args;"
      "st.param.b64 [v], %rd3; call (n), vprintf, (f, v); ld.param.b32 %r9, [n]; }",
      1,
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.global .b8 text[" +
          std::to_string(format.size() + 1) + "] = {" + bytes + "0};\n.global .b8 word[3] = {111, 107};\n");
  EXPECT_EQ(said, "   -7|9  |-5|2.2|ok|!|%|4\n");
  EXPECT_EQ(count[0], 7u);  // number of values, not of characters
}

TEST_F(PrintfSemantics, ReturnsTheNumberOfValues) {
  std::string said;
  device.options.print = [&](std::string_view text) { said += text; };
  auto const print = [&](std::string const& format) {
    said.clear();
    std::string bytes;
    for (char const c : format) bytes += std::to_string(static_cast<int>(c)) + ", ";
    return results(
        "mov.u32 %r2, 300; st.local.v4.u32 [args], {%r2, 70000, 1, 2}; { .param .b64 f; .param .b64 v; .param .b32 n;" +
            std::string(format.empty() ? "mov.u64 %rd2, 0;" : "mov.u64 %rd2, text;") +
            "st.param.b64 [f], %rd2; cvta.local.u64 %rd3, args;"
            "st.param.b64 [v], %rd3; call (n), vprintf, (f, v); ld.param.b32 %r9, [n]; }",
        1,
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.global .b8 text[" +
            std::to_string(format.size() + 1) + "] = {" + bytes + "0};\n")[0];
  };
  EXPECT_EQ(print("%hhd %hd %u"), 3u);
  EXPECT_EQ(said, "44 4464 1");
  EXPECT_EQ(print("none\n"), 0u);
  EXPECT_EQ(said, "none\n");
  EXPECT_EQ(print(""), 0xffffffffu);  // a null pointer in place of the format
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace cuda_cpu
