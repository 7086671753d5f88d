// Declares tokenize(), which splits PTX into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cuda_cpu::ptx {

enum class TokenKind : std::uint8_t {
  word,         // a name, a register, or an opcode with its modifiers: "ld.global.u32"
  directive,    // begins with a dot: ".reg"
  number,       // as written
  text,         // a string, without its quotes
  punctuation,  // a single character
  invalid,
  end,
};

/// Refers to the text that was tokenized.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int line = 0;
  int column = 0;

  bool is(char c) const noexcept { return kind == TokenKind::punctuation && text.front() == c; }
};

/// Returns the tokens of a text, then a token of kind `end`. Characters that PTX does not use become tokens of kind
/// `invalid`.
std::vector<Token> tokenize(std::string_view text);

}  // namespace cuda_cpu::ptx
