// Declares Cursor, a place in the tokens of a text, and the exceptions by which reading ends early. They never leave parse().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_tests/ptx/lexer.h"
#include "cuda_tests/ptx/module.h"

namespace cuda_tests::ptx {

struct ParseFailure {
  Diagnosis diagnosis;
};

/// What is at a line may be PTX, but is not supported.
struct Unsupported {
  Refusal refusal;

  Unsupported(int line, std::string_view what)
      : refusal{line, "line " + std::to_string(line) + ": " + std::string(what) + " is not supported"} {}
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
    if (token.kind == TokenKind::invalid) fail("this is no part of PTX");
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
    if (!accept(c)) fail(quoted(std::string_view(&c, 1)) + " is expected here");
  }
  Token const& name() {
    if (peek().kind != TokenKind::word || peek().text.find('.') != std::string_view::npos) fail("a name is expected here");
    return take();
  }
  Token const& expect(TokenKind kind, std::string_view what) {
    if (peek().kind != kind) fail(std::string(what) + " is expected here");
    return take();
  }
  /// A place to come back to.
  std::size_t place() const noexcept { return at_; }
  void go_back(std::size_t place) noexcept { at_ = place; }
  /// A number without a sign and a point.
  std::uint64_t integer();

  /// Past the next ';' that is in no braces, or to the brace that ends them.
  void skip_statement();
  /// Past texts with commas between them, and their ';'.
  void skip_texts() {
    do expect(TokenKind::text, "a text");
    while (accept(','));
    expect(';');
  }
  /// Past what follows `.loc` and `.file`: they have no ';', and what stands behind them on the line is the next statement.
  void skip_location();
  void skip_file();
  /// Past the brace that fits the one that is next.
  void skip_braces();

  [[noreturn]] void fail(std::string message) const { fail(peek(), std::move(message)); }
  [[noreturn]] static void fail(Token const& at, std::string message) {
    throw ParseFailure{{at.line, at.column, std::string(at.text), std::move(message)}};
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace cuda_tests::ptx
