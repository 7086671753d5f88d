#include "cuda_cpu/ptx/cursor.h"

#include "cuda_cpu/ptx/literal.h"

namespace cuda_cpu::ptx {
namespace {

constexpr std::size_t kMaxStatement = 100;  // characters of a statement that a message quotes

}  // namespace

std::uint64_t Cursor::integer() {
  Token const& token = expect(TokenKind::number, "an integer");
  auto const literal = read_literal(token.text);
  if (!literal || literal->kind != LiteralKind::integer) fail(token, "expected an integer");
  return literal->bits;
}

void Cursor::unsupported(std::string_view why) const {
  Token const& first = tokens_[statement_];
  auto last = statement_;
  while (last + 1 < tokens_.size() && !tokens_[last + 1].is(';') && tokens_[last + 1].kind != TokenKind::end) ++last;
  std::string text;
  for (char const* at = first.text.data(); at != tokens_[last].text.data() + tokens_[last].text.size(); ++at) {
    bool const is_space = *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r';
    if (!is_space)
      text += *at;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (text.size() > kMaxStatement) text.replace(kMaxStatement, text.npos, "...");
  throw Unsupported(first.line, text.append(why));
}

void Cursor::skip_statement() {
  for (int depth = 0; !at_end(); take()) {
    if (peek().is('{')) ++depth;
    if (peek().is('}') && depth-- == 0) return;
    if (peek().is(';') && depth == 0) {
      take();
      return;
    }
  }
  fail("expected ';'");
}

void Cursor::skip_braces() {
  expect('{');
  for (int depth = 1; depth > 0;) {
    if (at_end()) fail("expected '}'");
    if (peek().is('{')) ++depth;
    if (peek().is('}')) --depth;
    take();
  }
}

}  // namespace cuda_cpu::ptx
