#include "cuda_tests/ptx/sample_text.h"

namespace cuda_tests::ptx {
namespace {

std::string register_of(Type type, int number) { return "%" + std::string(name(type)) + "_" + std::to_string(number); }

Type sample_type(Type type) {
  return type == Type::f16x2 || size_bytes(type) == 1 ? (type == Type::f16x2 ? Type::b32 : Type::b16) : type;
}

std::string vector_of(Form const& form, OperandSpec const& spec) {
  std::string text = "{";
  for (unsigned i = 0; i < form.vector_size; ++i)
    text += (i > 0 ? ", " : "") + register_of(sample_type(spec.type), static_cast<int>(i));
  return text + "}";
}

std::string sample_operand(Form const& form, OperandSpec const& spec, int number) {
  switch (spec.role) {
    case OperandRole::destination:
    case OperandRole::source:
    case OperandRole::any_source:
    case OperandRole::any_destination:
      if (form.opcode().starts_with("bar") && spec.role == OperandRole::source && !form.has("warp"))
        return number == 1 && !form.has("red") ? "32" : "0";
      if (spec.as_vector && form.vector_size > 1) return vector_of(form, spec);
      return register_of(sample_type(spec.type), number);
    case OperandRole::immediate: return "5";
    case OperandRole::predicate:
    case OperandRole::set_predicate:
    case OperandRole::set_predicates: {
      bool const both = spec.role == OperandRole::set_predicates && form.type == Type::f16x2;
      return register_of(Type::pred, number) + (both ? "|" + register_of(Type::pred, 5) : "");
    }
    case OperandRole::address:
      switch (form.space) {
        case Space::param: return form.opcode() == "st" ? "[call_parameter]" : "[sample_parameter]";
        case Space::constant: return "[constant]";
        default: return "[%b64_4]";
      }
    case OperandRole::label: return "end";
    case OperandRole::call: return "nothing";
  }
  return "";
}

}  // namespace

std::string sample_instruction(Form const& form) {
  std::string text = form.name;
  int number = 0;
  for (auto const& spec : form.operands) {
    text += (number == 0 ? " " : ", ") + sample_operand(form, spec, number);
    ++number;
  }
  return text + ";";
}

namespace {

std::string begin_of(std::string const& entry) {
  std::string text = ".visible .entry " + entry + "(.param .align 16 .b8 sample_parameter[16])\n{\n";
  for (Type const type : {Type::pred, Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16, Type::s32,
                          Type::s64, Type::f16, Type::f32, Type::f64}) {
    text += " .reg ." + std::string(name(type)) + " %" + std::string(name(type)) + "_<6>;\n";
  }
  return text + " .param .align 16 .b8 call_parameter[16];\n";
}

}  // namespace

std::string sample_head(unsigned target, std::string const& version) {
  return ".version " + version + "\n.target sm_" + std::to_string(target) + "\n.address_size 64\n" +
         ".const .align 16 .b8 constant[16];\n.func nothing\n{\n ret;\n}\n" + begin_of("sample");
}

std::string sample_tail() { return "end:\n ret;\n}\n"; }

std::string sample_next(unsigned number) { return sample_tail() + begin_of("sample" + std::to_string(number)); }

}  // namespace cuda_tests::ptx
