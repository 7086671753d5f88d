// Declares Cursor, a position in the tokens of a PTX text, and the exceptions that end reading early. They never leave
// parse().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_cpu/ptx/diagnostic.h"
#include "cuda_cpu/ptx/lexer.h"

namespace cuda_cpu::ptx {

/// Thrown if the rest of the text cannot be read.
struct ParseFailure {
  Diagnostic diagnostic;
};

/// Thrown if reading can go on, but the current function or variable cannot be used.
struct Unsupported {
  Refusal refusal;

  Unsupported(int line, std::string_view what)
      : refusal{line, "line " + std::to_string(line) + ": not supported: " + std::string(what)} {}
};

inline std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

class Cursor {
 public:
  explicit Cursor(std::string_view text) : tokens_(tokenize(text)) {}

  Token const& peek(std::size_t ahead = 0) const noexcept {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  bool at_end() const noexcept { return peek().kind == TokenKind::end; }
  Token const& take() {
    Token const& token = peek();
    if (token.kind == TokenKind::invalid) fail("unexpected character");
    if (token.kind != TokenKind::end) ++at_;
    return token;
  }
  bool accept(char c) {
    if (!peek().is(c)) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view text) {
    if (peek().text != text || (peek().kind != TokenKind::word && peek().kind != TokenKind::directive)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("expected " + quoted(std::string_view(&c, 1)));
  }
  Token const& name() {
    if (peek().kind != TokenKind::word || peek().text.find('.') != std::string_view::npos) fail("expected a name");
    return take();
  }
  Token const& expect(TokenKind kind, std::string_view what) {
    if (peek().kind != kind) fail("expected " + std::string(what));
    return take();
  }
  /// Reads an integer without a sign.
  std::uint64_t integer();

  /// Returns the position, for go_back().
  std::size_t place() const noexcept { return at_; }
  void go_back(std::size_t place) noexcept { at_ = place; }
  Token const& at(std::size_t place) const noexcept { return tokens_[place]; }

  /// Says that the next token begins a statement, which unsupported() will name.
  void begin_statement() noexcept { statement_ = at_; }
  /// Throws Unsupported: "line 8: not supported: brkpt", with the reason `why` if the statement does not show it.
  [[noreturn]] void unsupported(std::string_view why = {}) const;

  /// Moves past the next ';' outside of braces, or up to the brace that closes the enclosing block.
  void skip_statement();
  /// Skips strings separated by commas, and the ';' after them.
  void skip_strings() {
    do expect(TokenKind::text, "a string");
    while (accept(','));
    expect(';');
  }
  /// Skips the block in braces that begins at the next token.
  void skip_braces();

  [[noreturn]] void fail(std::string message) const { fail(peek(), std::move(message)); }
  [[noreturn]] static void fail(Token const& at, std::string message) {
    throw ParseFailure{{at.line, at.column, std::string(at.text), std::move(message)}};
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t statement_ = 0;
};

}  // namespace cuda_cpu::ptx
