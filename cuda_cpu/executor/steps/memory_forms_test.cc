// Loads and stores, between 16 bytes in each space and registers, with results computed by hand.
#include <array>

#include "cuda_cpu/executor/reference/checked_forms.h"
#include "cuda_cpu/executor/reference/run_test_support.h"
#include "cuda_cpu/ptx/forms.h"

// Tables with several rows in a line follow.
// clang-format off

namespace cuda_cpu {
namespace {

using Values = std::vector<std::uint64_t>;

// The input and output of a kernel, in global memory.
struct Place {
  std::array<std::uint64_t, 2> memory;
  std::array<std::uint64_t, 4> registers;
};

// Code that uses `place` in the form's space. %in is the address of a Place.
struct SpaceText {
  std::string declaration, fill, address, copy_back;
};

SpaceText text_of(ptx::Form const& form) {
  std::string const space = "." + std::string(name(form.space));
  auto const move = [](std::string const& from, std::string const& at, std::string const& to,
                       std::string const& there) {
    return "ld" + from + ".b64 %x, [" + at + "]; ld" + from + ".b64 %y, [" + at + "+8];\n" +
           "st" + to + ".b64 [" + there + "], %x; st" + to + ".b64 [" + there + "+8], %y;\n";
  };
  std::string const fill = move(".global", "%in", space, "place");
  switch (form.space) {
    case ptx::Space::shared:
    case ptx::Space::local:
      return {space + " .align 16 .b8 place[16];", fill, "[place]", move(space, "place", ".global", "%in")};
    case ptx::Space::param:
      // Loads read the parameters of the entry, stores write the parameters of a call.
      if (form.opcode() == "ld") return {"", "", "[given]", ""};
      return {".param .align 16 .b8 place[16]; .param .b64 to;", fill, "[place]",
              "st.param.b64 [to], %in; call copy, (place, to);\n"};
    default: return {"", "", "[%in]", ""};
  }
}

std::string kernel_of(ptx::Form const& form) {
  bool const loads = form.opcode() == "ld";
  // Wide registers show how a value is extended; registers of floats are never wider than the type.
  std::string const type = is_float(form.type) ? "b" + std::to_string(8 * size_bytes(form.type)) : "b64";
  std::string fill, names, keep;
  for (unsigned i = 0; i < form.vector_size; ++i) {
    std::string const at = "[%in+" + std::to_string(16 + 8 * i) + "]", name = "%v" + std::to_string(i);
    fill += "ld.global." + type + " " + name + ", " + at + ";\n";
    names += (i > 0 ? ", " : "") + name;
    keep += "st.global." + type + " " + at + ", " + name + ";\n";
  }
  if (form.vector_size > 1) names = "{" + names + "}";
  SpaceText const space = text_of(form);
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".func copy(.param .align 16 .b8 given[16], .param .b64 to) { .reg .b64 %in, %x, %y; ld.param.b64 %in, [to];\n"
         "ld.param.b64 %x, [given]; ld.param.b64 %y, [given+8]; st.global.b64 [%in], %x; st.global.b64 [%in+8], %y; "
         "ret; }\n"
         ".visible .entry k(.param .align 16 .b8 given[16], .param .u64 in) {\n.reg .b64 %in, %x, %y; .reg ." +
         type + " %v<4>;\n" + space.declaration + "\nld.param.u64 %in, [in];\n" + fill + space.fill + form.name + " " +
         (loads ? names + ", " + space.address : space.address + ", " + names) + ";\n" + keep + space.copy_back +
         "ret;\n}\n";
}

Place moved(std::string const& name, Place const& before) {
  auto const* const form = ptx::find_form(name);
  if (form == nullptr) {
    ADD_FAILURE() << "no form " << name;
    return {};
  }
  checks_forms({name});
  TestDevice device(1);
  device.load(kernel_of(*form));
  auto* const place = device.upload(std::vector<Place>{before});
  EXPECT_EQ(text_of(device.run("k", {{1}, {1}, 0}, before.memory, place)), "") << name;
  return *place;
}

struct Row {
  char const* form;
  Values expected;
};

TEST(MemoryForms, LoadsExtendValues) {
  Place const before{{0xfedcba9876543280, 0x11223344556677f8}, {}};
  for (auto const& [form, expected] : std::initializer_list<Row>{
           {"ld.global.u8", {0x80}}, {"ld.global.s8", {0xffffffffffffff80}}, {"ld.global.u16", {0x3280}},
           {"ld.global.u32", {0x76543280}}, {"ld.global.s32", {0x76543280}}, {"ld.global.u64", {0xfedcba9876543280}},
           {"ld.global.f32", {0x76543280}}, {"ld.global.f64", {0xfedcba9876543280}},
           {"ld.global.v4.u32", {0x76543280, 0xfedcba98, 0x556677f8, 0x11223344}},
           {"ld.global.v2.f32", {0x76543280, 0xfedcba98}},
           {"ld.global.v4.f32", {0x76543280, 0xfedcba98, 0x556677f8, 0x11223344}}, {"ld.global.v2.s16", {0x3280, 0x7654}},
           {"ld.volatile.global.u32", {0x76543280}}, {"ld.global.nc.f32", {0x76543280}}, {"ld.u32", {0x76543280}},
           {"ld.global.L1::no_allocate.L2::128B.u32", {0x76543280}}, {"ld.global.L2::64B.s8", {0xffffffffffffff80}},
           {"ld.global.nc.L1::no_allocate.L2::256B.v4.u32", {0x76543280, 0xfedcba98, 0x556677f8, 0x11223344}},
           {"ld.v2.f64", {0xfedcba9876543280, 0x11223344556677f8}}, {"ld.f32", {0x76543280}},
           {"ld.u64", {0xfedcba9876543280}},
           {"ld.shared.u8", {0x80}}, {"ld.shared.u16", {0x3280}}, {"ld.shared.u32", {0x76543280}},
           {"ld.shared.f32", {0x76543280}}, {"ld.shared.f64", {0xfedcba9876543280}},
           {"ld.shared.v2.u64", {0xfedcba9876543280, 0x11223344556677f8}},
           {"ld.local.u32", {0x76543280}}, {"ld.local.f64", {0xfedcba9876543280}},
           {"ld.local.v4.s8", {0xffffffffffffff80, 0x32, 0x54, 0x76}},
           {"ld.param.u8", {0x80}}, {"ld.param.b32", {0x76543280}}, {"ld.param.u32", {0x76543280}},
           {"ld.param.u64", {0xfedcba9876543280}}, {"ld.param.b64", {0xfedcba9876543280}}, {"ld.param.f32", {0x76543280}}, {"ld.param.f64", {0xfedcba9876543280}},
           {"ld.param.v2.u32", {0x76543280, 0xfedcba98}}}) {
    Place const after = moved(form, before);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(after.registers[i], expected[i]) << form << ' ' << i;
    EXPECT_EQ(after.memory, before.memory) << form;
  }
}

TEST(MemoryForms, StoresWriteOnlyTheirBytes) {
  Place const before{{0xf0f1f2f3f4f5f6f7, 0xf8f9fafbfcfdfeff},
                     {0x1716151413121110, 0x2726252423222120, 0x3736353433323130, 0x4746454443424140}};
  auto const low = [&](std::uint64_t mask) { return (before.memory[0] & ~mask) | (before.registers[0] & mask); };
  for (auto const& [form, expected] : std::initializer_list<Row>{
           {"st.global.u8", {low(0xff)}}, {"st.global.u16", {low(0xffff)}}, {"st.global.u32", {low(0xffffffff)}},
           {"st.global.f32", {low(0xffffffff)}}, {"st.global.u64", {0x1716151413121110}},
           {"st.global.f64", {0x1716151413121110}},
           {"st.global.v4.u32", {0x2322212013121110, 0x4342414033323130}}, {"st.global.v2.f32", {0x2322212013121110}},
           {"st.global.v2.u16", {0xf0f1f2f321201110}}, {"st.volatile.global.u32", {low(0xffffffff)}},
           {"st.global.L1::evict_first.u16", {low(0xffff)}},
           {"st.global.L1::no_allocate.v2.f64", {0x1716151413121110, 0x2726252423222120}}, {"st.u16", {low(0xffff)}},
           {"st.v2.u64", {0x1716151413121110, 0x2726252423222120}}, {"st.u32", {low(0xffffffff)}},
           {"st.f32", {low(0xffffffff)}}, {"st.u64", {0x1716151413121110}},
           {"st.shared.u8", {low(0xff)}}, {"st.shared.u16", {low(0xffff)}}, {"st.shared.u32", {low(0xffffffff)}},
           {"st.shared.f32", {low(0xffffffff)}}, {"st.shared.f64", {0x1716151413121110}},
           {"st.shared.v4.u16", {0x4140313021201110}},
           {"st.local.u32", {low(0xffffffff)}}, {"st.local.f64", {0x1716151413121110}},
           {"st.local.v2.u32", {0x2322212013121110}}, {"st.local.v4.u32", {0x2322212013121110, 0x4342414033323130}},
           {"st.param.f32", {low(0xffffffff)}},
           {"st.param.b16", {low(0xffff)}}, {"st.param.b32", {low(0xffffffff)}}, {"st.param.b64", {0x1716151413121110}},
           {"st.param.v2.f64", {0x1716151413121110, 0x2726252423222120}}}) {
    Place const after = moved(form, before);
    EXPECT_EQ(after.memory[0], expected[0]) << form;
    EXPECT_EQ(after.memory[1], expected.size() > 1 ? expected[1] : before.memory[1]) << form;
    EXPECT_EQ(after.registers, before.registers) << form;
  }
}

}  // namespace
}  // namespace cuda_cpu
