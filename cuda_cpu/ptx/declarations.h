// Finds the declarations of a PTX text for the linker, without reading their contents.
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

/// Refers to the tokens in the range [begin, end) of its text.
struct Declaration {
  DeclarationKind kind = DeclarationKind::variable;
  Linkage linkage = Linkage::internal;
  bool is_definition = false;  // only for a function or a variable
  std::string_view name;       // only for a function or a variable
  std::size_t begin = 0;       // the first token after the linkage
  std::size_t end = 0;
};

/// The tokens of a text, and its declarations in the order of the text.
struct Declarations {
  explicit Declarations(std::string_view text) : cursor(text) {}

  Cursor cursor;
  std::string_view version;  // "9.0"
  std::string_view target;   // "sm_75"
  std::vector<Declaration> all;
  std::set<std::string_view> labels;  // the labels in the section of strings of line information
};

/// Throws ParseFailure.
Declarations read_declarations(std::string_view text);

}  // namespace cuda_cpu::ptx
