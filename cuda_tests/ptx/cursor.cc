#include "cuda_tests/ptx/cursor.h"

#include "cuda_tests/ptx/literal.h"

namespace cuda_tests::ptx {

std::uint64_t Cursor::integer() {
  Token const& token = expect(TokenKind::number, "a whole number");
  auto const literal = read_literal(token.text);
  if (!literal || literal->kind != LiteralKind::integer) fail(token, "this is no whole number");
  return literal->bits;
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
  fail("';' is expected here");
}

// `1 20 3, function_name $L__info_string0+4, inlined_at 1 40 5`
void Cursor::skip_location() {
  for (int i = 0; i < 3; ++i) integer();
  while (accept(',')) {
    if (accept("function_name")) {
      name();
      if (accept('+')) integer();
    } else if (accept("inlined_at")) {
      for (int i = 0; i < 3; ++i) integer();
    } else {
      fail("'function_name' or 'inlined_at' is expected here");
    }
  }
}

// `1 "name.cu", 1700000000, 4096`
void Cursor::skip_file() {
  integer();
  expect(TokenKind::text, "a text");
  while (accept(',')) integer();
}

void Cursor::skip_braces() {
  expect('{');
  for (int depth = 1; depth > 0;) {
    if (at_end()) fail("'}' is expected here");
    if (peek().is('{')) ++depth;
    if (peek().is('}')) --depth;
    take();
  }
}

}  // namespace cuda_tests::ptx
