// For the linker: the declarations of a PTX text, whose contents are not looked into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_cpu/ptx/cursor.h"

namespace cuda_cpu::ptx {

enum class DeclarationKind : std::uint8_t { function, variable, file, line_strings, pragma };
enum class Linkage : std::uint8_t { internal, external, visible, weak };

/// Refers to the tokens of its text, which it occupies from `begin` to before `end`.
struct Declaration {
  DeclarationKind kind = DeclarationKind::variable;
  Linkage linkage = Linkage::internal;
  bool is_definition = false;  // of a function or a variable
  std::string_view name;       // of a function or a variable
  std::size_t begin = 0;       // after the linkage
  std::size_t end = 0;
};

/// The tokens of a text, and its declarations in their order.
struct Declarations {
  explicit Declarations(std::string_view text) : cursor(text) {}

  Cursor cursor;
  std::string_view version;  // "9.0"
  std::string_view target;   // "sm_75"
  std::vector<Declaration> all;
  std::set<std::string_view> labels;  // in the section of strings of line information
};

/// Throws ParseFailure.
Declarations read_declarations(std::string_view text);

}  // namespace cuda_cpu::ptx
