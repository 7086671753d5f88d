#include "cuda_cpu/executor/reference/apply_form.h"

#include <algorithm>

namespace cuda_cpu {
namespace {

using ptx::OperandRole;
using ptx::Type;

std::string bits(Type type) {
  return type == Type::pred ? "b32" : "b" + std::to_string(std::max(16u, size_bytes(type) * 8));
}

// Returns the text of a source operand. Appends the code that loads it from the values of the case to `body`.
std::string load_source(ptx::OperandSpec const& spec, std::size_t i, std::string& body, std::string& registers) {
  std::string const n = std::to_string(i);
  if (spec.role == OperandRole::predicate) {
    registers += ".reg .pred %q" + n + "; .reg .b32 %s" + n + ";";
    body += "ld.global.b32 %s" + n + ", [%in+" + std::to_string(8 * i) +
            "]; setp.ne.b32 "
            "%q" +
            n + ", %s" + n + ", 0;\n";
    return "%q" + n;
  }
  std::string const type = bits(spec.type);
  registers += ".reg ." + type + " %s" + n + ";";
  body += "ld.global." + type + " %s" + n + ", [%in+" + std::to_string(8 * i) + "];\n";
  return "%s" + n;
}

std::string kernel_of(ptx::Form const& form, std::vector<std::uint64_t> const& values, std::size_t stride) {
  std::string registers, body, operands, store;
  std::size_t source = 0;
  for (auto const& spec : form.operands) {
    if (spec.optional && source == values.size()) continue;
    operands += operands.empty() ? " " : ", ";
    switch (spec.role) {
      case OperandRole::destination:
      case OperandRole::any_destination:
        registers += ".reg ." + bits(spec.type) + " %d;";
        operands += "%d";
        store += "st.global." + bits(spec.type) + " [%out], %d;\n";
        if (spec.with_predicate) {
          operands += "|%e";
          store += "selp.b64 %o, 1, 0, %e; st.global.b64 [%out+8], %o;\n";
        }
        break;
      case OperandRole::set_predicate:
      case OperandRole::set_predicates:
        operands += spec.role == OperandRole::set_predicates ? "%p|%e" : "%p";
        store +=
            "selp.b64 %o, 1, 0, %p; st.global.b64 [%out], %o; selp.b64 %o, 1, 0, %e; st.global.b64 [%out+8], %o;\n";
        break;
      case OperandRole::immediate: operands += std::to_string(values[source++]); break;
      default: operands += load_source(spec, source, body, registers); ++source;
    }
  }
  return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {\n"
         ".reg .b64 %in, %out, %o; .reg .b32 %t; .reg .pred %p, %e;" +
         registers + "\nld.param.u64 %in, [a]; ld.param.u64 %out, [b]; mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, " +
         std::to_string(8 * stride) + ", %in; mad.wide.u32 %out, %t, 16, %out;\n" + body + form.name + operands +
         ";\n" + store + "ret;\n}\n";
}

}  // namespace

std::vector<std::uint64_t> apply_form(std::string const& name, std::vector<std::vector<std::uint64_t>> const& cases,
                                      std::vector<std::uint64_t>* second, bool listed) {
  auto const* const form = ptx::find_form(name);
  if (form == nullptr) {
    ADD_FAILURE() << "no form " << name;
    return std::vector<std::uint64_t>(cases.size());
  }
  if (listed) checks_forms({name});
  static TestDevice* const device = new TestDevice(1);
  std::vector<std::uint64_t> results;
  std::size_t const stride = cases.front().size();
  device->load(kernel_of(*form, cases.front(), stride));
  for (std::size_t begin = 0; begin < cases.size(); begin += 1024) {
    std::size_t const count = std::min<std::size_t>(1024, cases.size() - begin);
    std::vector<std::uint64_t> flat;
    for (std::size_t i = begin; i < begin + count; ++i) flat.insert(flat.end(), cases[i].begin(), cases[i].end());
    auto* const in = device->upload(flat);
    auto* const out = device->allocate<std::uint64_t>(2 * count);
    EXPECT_EQ(text_of(device->run("k", {{1}, {static_cast<std::uint32_t>(count)}, 0}, in, out)), "") << name;
    for (std::size_t i = 0; i < count; ++i) {
      results.push_back(out[2 * i]);
      if (second != nullptr) second->push_back(out[2 * i + 1]);
    }
    device->memory.free(reinterpret_cast<std::uintptr_t>(in));
    device->memory.free(reinterpret_cast<std::uintptr_t>(out));
  }
  return results;
}

}  // namespace cuda_cpu
