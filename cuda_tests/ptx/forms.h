// Declares the table of instruction forms: a row is a pattern such as "add[.<rnd>][.ftz][.sat].f32" with the kinds of its
// operands, and stands for each exact form that it spells. An instruction whose exact form is in no row is not supported.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_tests/ptx/types.h"

namespace cuda_tests::ptx {

enum class OperandRole : std::uint8_t {
  destination,       // a register
  source,            // a register or a number
  immediate,         // a number
  predicate,         // a source, perhaps negated
  set_predicate,     // a destination
  set_predicates,    // a destination, perhaps two: %p|%q
  address,           // in brackets
  label,
  call,              // what follows call
  any_source,        // of mov: also a special register, the address of a symbol or several registers in braces
  any_destination,   // of mov: also several registers in braces
};

struct OperandSpec {
  OperandRole role = OperandRole::source;
  Type type = Type::none;
  bool optional = false;
  bool wider = false;           // a wider register will do
  bool as_vector = false;       // with .v2 and .v4 two or four registers in braces
  bool with_predicate = false;  // a destination that may have a predicate, too: %r1|%p1
};

/// One exact form. Lives as long as the process.
struct Form {
  std::string name;                     // "cvt.rzi.ftz.s32.f32"
  std::vector<std::string_view> words;  // its parts: "cvt", "rzi", "ftz", "s32", "f32"
  std::vector<OperandSpec> operands;
  Type first_type = Type::none;  // s32
  Type type = Type::none;        // f32: the last one
  Space space = Space::generic;
  unsigned vector_size = 1;
  unsigned minimal_target = 0;   // 80 for what sm_80 brought
  unsigned minimal_version = 0;  // 70 for what PTX 7.0 brought, where targets do not tell

  std::string_view opcode() const noexcept { return words.front(); }
  bool has(std::string_view word) const noexcept;
};

struct FormRow {
  std::string_view pattern;
  std::string_view operands;
  unsigned minimal_target = 0;
  unsigned minimal_version = 0;
};

/// The rows, as they are written. Angle brackets name a set of words, square brackets what may be left out, braces a choice.
std::span<FormRow const> form_rows() noexcept;
/// The exact forms that a pattern spells. Throws std::invalid_argument on a pattern that is none.
std::vector<std::string> expand_pattern(std::string_view pattern);

/// Null where the exact form is not in the table.
Form const* find_form(std::string_view name);
/// All of them, sorted by name.
std::vector<Form const*> const& all_forms();

}  // namespace cuda_tests::ptx
