// Video instructions whose operands are parts of registers, or negated. The name of the form does not show either.
#include <array>
#include <cstdint>

#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu { namespace {

TEST(VideoSemantics, OperandsArePartsOfRegisters) {
  struct {
    std::string_view instruction;
    std::array<std::uint32_t, 3> values;
    std::uint32_t expected;
  } const rows[] = {
      {"vadd.u32.u32.u32 %r0, %r1.b0, %r2.b3", {0x000000ff, 0x80000000, 0}, 0x17f},
      {"vadd.s32.s32.s32 %r0, %r1.b1, %r2.h1", {0x0000ff00, 0x80000000, 0}, 0xffff7fff},
      {"vsub.s32.u32.s32 %r0, %r1.h0, %r2.b2", {0x1234ffff, 0x00800000, 0}, 0x1007f},
      {"vadd.u32.u32.u32 %r0.b1, %r1, %r2, %r3", {0xff, 2, 0x11223344}, 0x11220144},
      {"vadd.u32.u32.u32.sat %r0.b3, %r1, %r2, %r3", {0xff, 2, 0x11223344}, 0xff223344},
      {"vsub.s32.u32.u32.sat %r0.b0, %r1, %r2, %r3", {0, 1000, 0x11223344}, 0x11223380},
      {"vsub.u32.u32.u32.sat %r0.h1, %r1, %r2, %r3", {0, 1000, 0x11223344}, 0x00003344},
      {"vmax.s32.s32.s32.sat %r0.h0, %r1.h1, %r2, %r3", {0xffff0000, 0x00012345, 0x11223344}, 0x11227fff},
      {"vmin.u32.u32.u32 %r0, %r1.b2, 7", {0x00050000, 0, 0}, 5},
      {"vabsdiff.u32.u32.u32.add %r0, %r1.b0, %r2.b0, %r3", {0x01, 0xfe, 1000}, 1253},
      {"vset.u32.u32.gt %r0.b2, %r1.b0, %r2.b0, %r3", {0x80, 0x7f, 0x11223344}, 0x11013344},
      {"vset.s32.s32.gt %r0.b2, %r1.b0, %r2.b0, %r3", {0x80, 0x7f, 0x11223344}, 0x11003344},
      {"vshl.u32.u32.u32.sat.clamp %r0.h0, %r1.b3, %r2.b1, %r3", {0x81000000, 0x0000ff00, 0x11223344}, 0x1122ffff},
      {"vshr.s32.s32.u32.wrap %r0.b0, %r1.b3, %r2, %r3", {0x81000000, 33, 0x11223344}, 0x112233c0},
      {"vmad.s32.s32.s32 %r0, %r1.b0, %r2.h1, %r3", {0xff, 0x00030000, 10}, 7},
      {"vmad.s32.u32.u32 %r0, -%r1.b0, %r2.b0, %r3", {0xff, 2, 10}, 0xfffffe0c},
      {"vmad.s32.u32.u32 %r0, -%r1.b0, -%r2.b0, %r3", {0xff, 2, 10}, 0x208},
      {"vmad.s32.u32.u32.sat %r0, %r1, -%r2, %r3", {0xffffffff, 0xffffffff, 0}, 0x80000000},
      {"vmad.s32.u32.u32 %r0, %r1, %r2, -%r3", {5, 5, 30}, 0xfffffffb},
      {"vmad.s32.u32.u32.sat %r0, %r1, %r2, -%r3", {0x7fffffff, 1, 0x80000000}, 0x7fffffff},
      {"vmad.s32.u32.u32.shr15 %r0, %r1, -%r2, -5", {1, 1, 0}, 0xffffffff},
  };
  TestDevice device(1);
  for (auto const& [instruction, values, expected] : rows) {
    device.load(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b32 %r<4>; .reg .b64 %in; ld.param.u64 %in, [p]; mov.b32 %r0, 77; ld.global.u32 %r1, [%in]; "
        "ld.global.u32 %r2, [%in+4]; ld.global.u32 %r3, [%in+8];\n" +
        std::string(instruction) + ";\nst.global.u32 [%in+12], %r0; ret;\n}\n");
    auto* const memory = device.upload(std::vector<std::uint32_t>{values[0], values[1], values[2], 0});
    ASSERT_EQ(text_of(device.run("k", {{1}, {1}, 0}, memory)), "") << instruction;
    EXPECT_EQ(memory[3], expected) << instruction << std::hex << ": " << memory[3];
    device.memory.free(reinterpret_cast<std::uintptr_t>(memory));
  }
}

}}  // namespace cuda_cpu
