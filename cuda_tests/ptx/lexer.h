// Declares the tokens of PTX and the lexer that finds them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cuda_tests::ptx {

enum class TokenKind : std::uint8_t {
  word,         // a name, a register, or an opcode with its modifiers: "ld.global.u32"
  directive,    // begins with a dot: ".reg"
  number,       // as written
  text,         // without its quotes
  punctuation,  // one character
  invalid,
  end,
};

/// A view of the text that was read.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int line = 0;
  int column = 0;

  bool is(char c) const noexcept { return kind == TokenKind::punctuation && text.front() == c; }
};

/// All of a text, the end as the last token. What is no token of PTX is one of kind invalid.
std::vector<Token> tokenize(std::string_view text);

}  // namespace cuda_tests::ptx
