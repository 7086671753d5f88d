// Declares the table of supported instruction forms. A row is a pattern, such as "add[.<rnd>][.ftz][.sat].f32", with
// the roles of its operands; it expands to all forms that match the pattern. An instruction is supported if a row has
// its form.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/ptx/types.h"

namespace cuda_cpu::ptx {

enum class OperandRole : std::uint8_t {
  destination,     // a register
  source,          // a register or a number
  immediate,       // a number
  predicate,       // a predicate to read, or its negation: !%p
  set_predicate,   // a predicate to write
  set_predicates,  // one or two predicates to write: %p|%q
  address,         // in brackets
  texel,           // in brackets: a handle of a texture or surface, and coordinates in braces
  label,
  call,             // all operands of a call
  any_source,       // of mov and cvta: also a special register, a symbol's address, or several registers in braces
  any_destination,  // of mov: also several registers in braces
};

struct OperandSpec {
  OperandRole role = OperandRole::source;
  Type type = Type::none;
  bool optional = false;
  bool wider = false;           // accepts wider registers
  bool as_vector = false;       // with .v2 and .v4: two or four registers in braces
  bool with_predicate = false;  // a destination that may also name a predicate: %r1|%p1
  bool with_part = false;       // may be a byte or half of a register: %r1.b0, %r1.h1
  bool negatable = false;       // may be the negative of a register: -%r1
  std::uint8_t in_braces = 0;   // number of registers in braces; a single register may be without braces
  std::optional<Space> space;   // the space of an address, if it differs from the form's
};

/// One exact form. Lives as long as the process.
struct Form {
  std::string name;                     // "cvt.rzi.ftz.s32.f32"
  std::vector<std::string_view> words;  // "cvt", "rzi", "ftz", "s32", "f32"
  std::vector<OperandSpec> operands;
  Type first_type = Type::none;  // s32
  Type type = Type::none;        // f32, the last type
  Space space = Space::generic;
  unsigned vector_size = 1;
  unsigned dimensions = 0;   // number of dimensions of a texture or surface, without layers
  unsigned coordinates = 0;  // registers in the braces of a texel: a layer, the dimensions, and perhaps an unused one
  bool has_layer = false;

  std::string_view opcode() const noexcept { return words.front(); }
  bool has(std::string_view word) const noexcept;
};

struct FormRow {
  std::string_view pattern;
  std::string_view operands;
};

/// Returns the rows of the table. In a pattern `<rnd>` is a named set of words, `[...]` is optional, `{a|b}` is a
/// choice.
std::span<FormRow const> form_rows() noexcept;
/// Returns all forms that a pattern matches. Throws std::invalid_argument if the pattern is malformed.
std::vector<std::string> expand_pattern(std::string_view pattern);

/// Returns the form of an instruction, whose modifiers may be in any order, or null if it is not supported.
/// Thread-safe.
Form const* find_form(std::string_view name);
/// Returns all forms, sorted by name. Takes some 10 ms.
std::vector<Form const*> all_forms();

}  // namespace cuda_cpu::ptx
