#include "cuda_cpu/ptx/forms.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cuda_cpu/ptx/parse.h"
#include "cuda_cpu/ptx/ptxas.h"

namespace cuda_cpu::ptx { namespace {

std::string register_of(Type type, int number) { return "%" + std::string(name(type)) + "_" + std::to_string(number); }

// Returns the type of the registers that hold values of `type`.
Type register_type(Type type) {
  if (is_in_bits(type)) return size_bytes(type) == 2 ? Type::b16 : Type::b32;
  return size_bytes(type) == 1 ? Type::b16 : type;
}

std::string sample_vector(Form const& form, OperandSpec const& spec) {
  std::string text = "{";
  for (unsigned i = 0; i < (spec.in_braces > 0 ? spec.in_braces : form.vector_size); ++i)
    text += (i > 0 ? ", " : "") + register_of(register_type(spec.type), static_cast<int>(i));
  return text + "}";
}

std::string sample_texel(Form const& form, OperandSpec const& spec) {
  std::string text = "[%b64_4";
  for (unsigned i = 0; i < form.coordinates; ++i) {
    Type const type = form.has_layer && i == 0 ? Type::b32 : spec.type;
    text += (i > 0 ? ", " : ", {") + register_of(type, static_cast<int>(i));
  }
  return text + (form.coordinates > 0 ? "}]" : "]");
}

std::string sample_number(Form const& form) {
  if (form.opcode() == "discard" || form.opcode() == "applypriority") return "128";
  if (form.opcode() == "createpolicy") return "0.5";
  return form.opcode() == "cp" ? "16" : "5";
}

std::string sample_operand(Form const& form, OperandSpec const& spec, int number) {
  switch (spec.role) {
    case OperandRole::destination:
    case OperandRole::source:
    case OperandRole::any_source:
    case OperandRole::any_destination:
      if (form.opcode().starts_with("bar") && spec.role == OperandRole::source && !form.has("warp"))
        return number == 1 && !form.has("red") ? "32" : "0";
      if (form.has("shared::cluster") && form.opcode() == "mbarrier" && spec.role == OperandRole::destination)
        return "_";
      if (spec.in_braces > 0 || (spec.as_vector && (form.vector_size > 1 || form.coordinates > 0)))
        return sample_vector(form, spec);
      return register_of(register_type(spec.type), number) +
             (form.opcode() == "elect" && number == 0 ? "|%pred_5" : "");
    case OperandRole::immediate: return form.opcode() == "alloca" ? "16" : sample_number(form);
    case OperandRole::predicate:
    case OperandRole::set_predicate:
    case OperandRole::set_predicates: {
      bool const both =
          spec.role == OperandRole::set_predicates && (form.type == Type::f16x2 || form.type == Type::bf16x2);
      return register_of(Type::pred, number) + (both ? "|" + register_of(Type::pred, 5) : "");
    }
    case OperandRole::address:
      switch (form.space) {
        case Space::param: return form.opcode() == "st" ? "[call_parameter]" : "[sample_parameter]";
        case Space::constant: return "[constant]";
        default: return "[%b64_4]";
      }
    case OperandRole::texel: return sample_texel(form, spec);
    case OperandRole::label: return "end";
    case OperandRole::call: return "nothing";
  }
  return "";
}

// Returns `add.s32 %s32_0, %s32_1, %s32_2;`, with registers of the form's own types.
std::string sample_instruction(Form const& form) {
  std::string text = form.name;
  int number = 0;
  for (auto const& spec : form.operands) {
    text += (number == 0 ? " " : ", ") + sample_operand(form, spec, number);
    ++number;
  }
  return text + ";\n";
}

std::string entry_with(std::string const& name, std::string const& body) {
  std::string text = ".visible .entry " + name + "(.param .align 16 .b8 sample_parameter[16])\n{\n";
  for (Type const type : {Type::pred, Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16,
                          Type::s32, Type::s64, Type::f16, Type::f32, Type::f64}) {
    text += " .reg ." + std::string(ptx::name(type)) + " %" + std::string(ptx::name(type)) + "_<8>;\n";
  }
  return text + " .param .align 16 .b8 call_parameter[16];\n" + body + "end:\n ret;\n}\n";
}

// Returns a module with all forms, 500 in each entry: ptxas takes far longer for a single long entry.
std::string module_with_all_forms() {
  std::string text =
      ".version 9.0\n.target sm_100\n.address_size 64\n"
      ".const .align 16 .b8 constant[16];\n.func nothing\n{\n ret;\n}\n";
  auto const& forms = all_forms();
  for (std::size_t begin = 0; begin < forms.size(); begin += 500) {
    std::string body;
    for (std::size_t i = begin; i < std::min(begin + 500, forms.size()); ++i) body += sample_instruction(*forms[i]);
    text += entry_with("sample" + std::to_string(begin), body);
  }
  return text;
}

TEST(Forms, EachFormIsParsed) {
  auto const result = parse(module_with_all_forms());
  auto const* const module = std::get_if<0>(&result);
  ASSERT_NE(module, nullptr) << std::get<1>(result).to_string();
  std::size_t instructions = 0;
  for (auto const& function : (*module)->functions()) {
    ASSERT_FALSE(function.refusal) << function.refusal->message;
    instructions += function.instructions.size() - 1;  // the `ret` does not count
  }
  EXPECT_EQ(instructions, all_forms().size());
}

TEST(Forms, EachFormIsAcceptedByPtxas) {
  if (!has_ptxas()) GTEST_SKIP() << "there is no ptxas to compare with";
  EXPECT_EQ(ptxas_errors(module_with_all_forms()), "");
}

TEST(Forms, ExpandsPatterns) {
  EXPECT_EQ(expand_pattern("a[.b].{c|d}"), (std::vector<std::string>{"a.c", "a.d", "a.b.c", "a.b.d"}));
  EXPECT_EQ(expand_pattern("x.<irnd>").size(), 4u);
}

TEST(Forms, ThrowsOnMalformedPatterns) {
  for (auto const* const bad : {"a[.b", "a{b", "a<nothing>", "a<rnd", "a}", "a]"})
    EXPECT_THROW(expand_pattern(bad), std::invalid_argument) << bad;
}

TEST(Forms, FindsAFormWithItsModifiersInAnyOrder) {
  auto const* const form = find_form("add.rn.ftz.sat.f32");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(find_form("add.ftz.rn.f32.sat"), form);
  EXPECT_EQ(find_form("atom.add.acquire.gpu.global.u32"), find_form("atom.acquire.gpu.global.add.u32"));
  EXPECT_NE(find_form("cvt.f32.s32.rn"), find_form("cvt.s32.f32.rn")) << "the order of types matters";
}

TEST(Forms, FindsNoUnsupportedForm) {
  for (auto const* const name :
       {"", "add", "add.u33", "add.sat.u32", "add.rn.rn.f32", "mul.sat.lo.s32", "tex.2dms.v4.f32.s32"})
    EXPECT_EQ(find_form(name), nullptr) << name;
}

TEST(Forms, KnowsItsTypes) {
  auto const& form = *find_form("cvt.rzi.ftz.s32.f32");
  EXPECT_EQ(form.first_type, Type::s32);
  EXPECT_EQ(form.type, Type::f32);
  EXPECT_TRUE(form.has("rzi"));
}

}}  // namespace cuda_cpu::ptx
