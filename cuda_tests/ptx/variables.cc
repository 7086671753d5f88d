// Declarations of variables: their size, and what they hold at the start.
#include <cstring>
#include <span>

#include "cuda_tests/ptx/builder.h"
#include "cuda_tests/ptx/isa.h"

namespace cuda_tests::ptx {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;
constexpr std::uint64_t kMostInitialBytes = std::uint64_t{1} << 26;
constexpr std::size_t kMostDimensions = 16;

// The values in braces, in as many dimensions as the variable has.
class Initializer {
 public:
  Initializer(Cursor& cursor, Variable& variable, Type type) : cursor_(cursor), variable_(variable), type_(type) {}

  // `dimensions` are those that are left, none for a value.
  void read(std::span<std::uint64_t const> dimensions, std::uint64_t at_elems) {
    if (dimensions.empty()) return value(at_elems);
    std::uint64_t inner = 1;
    for (auto const size : dimensions.subspan(1)) inner *= size;
    cursor_.expect('{');
    for (std::uint64_t i = 0; !cursor_.peek().is('}'); ++i) {
      if (i == dimensions.front()) cursor_.fail("there are more values than the variable holds");
      read(dimensions.subspan(1), at_elems + i * inner);
      if (!cursor_.accept(',')) break;
    }
    cursor_.expect('}');
  }

 private:
  void value(std::uint64_t at_elems) {
    unsigned const size = size_bytes(type_);
    if (cursor_.peek().kind == TokenKind::word) return address(at_elems * size);
    bool const minus = cursor_.accept('-');
    Token const& token = cursor_.expect(TokenKind::number, "a number");
    if (cursor_.peek().is('(')) throw Unsupported(token.line, "a part of an address");
    auto literal = read_literal(token.text);
    if (literal && minus) literal = literal->negated(token.text);
    auto const bits = literal ? literal->as(type_) : std::nullopt;
    if (!bits) cursor_.fail(token, "this is no value of ." + std::string(name(type_)));
    put(at_elems * size, *bits, size);
  }

  void address(std::uint64_t offset) {
    bool const generic = cursor_.accept("generic");
    if (generic) cursor_.expect('(');
    Token const& symbol = cursor_.name();
    if (generic) cursor_.expect(')');
    std::uint64_t const addend = cursor_.accept('+') ? cursor_.integer() : 0;
    if (size_bytes(type_) != 8) throw Unsupported(symbol.line, "an address in less than 64 bits");
    variable_.relocations.push_back({offset, std::string(symbol.text)});
    put(offset, addend, 8);
  }

  void put(std::uint64_t offset, std::uint64_t bits, unsigned size) {
    if (offset + size > kMostInitialBytes) throw Unsupported(cursor_.peek().line, "a value that far in a variable");
    if (variable_.initial.size() < offset + size) variable_.initial.resize(offset + size);
    std::memcpy(variable_.initial.data() + offset, &bits, size);
  }

  Cursor& cursor_;
  Variable& variable_;
  Type type_;
};

}  // namespace

Type declared_type(Cursor& cursor) {
  Token const& token = cursor.expect(TokenKind::directive, "a type");
  Type const type = find_type(token.text.substr(1));
  if (type == Type::none && token.text != ".v2" && token.text != ".v4" && token.text != ".attribute" &&
      !is_isa_type(token.text.substr(1))) {
    cursor.fail(token, "PTX has no such type");
  }
  if (type == Type::none || type == Type::f16x2) throw Unsupported(token.line, quoted(token.text));
  return type;
}

Variable read_variable(Cursor& cursor, Space space, bool is_extern) {
  Variable variable;
  variable.space = space;
  int const line = cursor.peek().line;
  std::uint64_t alignment = 0;
  unsigned vector = 1;
  for (;;) {
    if (cursor.accept(".align")) {
      alignment = cursor.integer();
      if (alignment == 0 || alignment > 65536 || (alignment & (alignment - 1)) != 0)
        cursor.fail("an alignment is a power of two");
    } else if (cursor.accept(".v2")) {
      vector = 2;
    } else if (cursor.accept(".v4")) {
      vector = 4;
    } else {
      break;
    }
  }
  Type const type = declared_type(cursor);
  if (type == Type::pred) cursor.fail("predicates are in registers only");
  if (space == Space::param) {  // `.param .u64 .ptr .global .align 8 name`
    if (cursor.accept(".ptr")) {
      while (cursor.accept(".global") || cursor.accept(".const") || cursor.accept(".shared") || cursor.accept(".local")) {}
      if (cursor.accept(".align")) cursor.integer();
    }
  }
  variable.name = cursor.name().text;
  std::uint64_t elements = vector;
  std::vector<std::uint64_t> dimensions;
  if (vector > 1 && space == Space::param) cursor.fail("a parameter is no vector");
  if (vector > 1) throw Unsupported(line, "a variable that is a vector");
  bool open_ended = false;
  while (cursor.accept('[')) {
    if (dimensions.size() == kMostDimensions) throw Unsupported(line, "a variable of more than 16 dimensions");
    if (cursor.accept(']')) {
      if (!dimensions.empty()) cursor.fail("a size is expected here");
      open_ended = true;
      dimensions.push_back(0);
      continue;
    }
    Token const& at = cursor.peek();
    dimensions.push_back(cursor.integer());
    if (dimensions.back() == 0 || dimensions.back() > kMostBytes) cursor.fail(at, "this is no size of a variable");
    elements *= dimensions.back();
    if (elements > kMostBytes) cursor.fail(at, "the variable is too large");
    cursor.expect(']');
  }
  if (open_ended) {
    if (!is_extern && !cursor.peek().is('=')) cursor.fail("a variable has a size");
    if (space != Space::shared || !is_extern) throw Unsupported(line, "a variable without a size");
    elements = 0;
  }
  variable.align_bytes = static_cast<std::uint32_t>(alignment != 0 ? alignment : size_bytes(type));
  if (variable.align_bytes < size_bytes(type) && space != Space::param) variable.align_bytes = size_bytes(type);
  variable.size_bytes = elements * size_bytes(type);
  if (cursor.accept('=')) {
    if (is_extern || (space != Space::global && space != Space::constant))
      cursor.fail("only global and constant variables have values");
    try {
      Initializer(cursor, variable, type).read(dimensions, 0);
    } catch (Unsupported const& what) {
      variable.refusal = what.refusal;
      while (!cursor.at_end() && !cursor.peek().is(';')) cursor.take();
    }
  } else if (is_extern && space != Space::shared) {
    variable.refusal =
        Refusal{line, "line " + std::to_string(line) + ": " + quoted(variable.name) + " of another module is not supported"};
  }
  return variable;
}

}  // namespace cuda_tests::ptx
