// Reads the declarations of variables: their size and their initial values.
#include <algorithm>
#include <cstring>
#include <span>

#include "cuda_cpu/ptx/builder.h"

namespace cuda_cpu::ptx {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 31;
constexpr std::uint64_t kMaxInitialBytes = std::uint64_t{1} << 26;
constexpr std::size_t kMaxDimensions = 16;

// Reads the values in braces, nested as deep as the variable has dimensions.
class Initializer {
 public:
  Initializer(Cursor& cursor, Variable& variable, Type type) : cursor_(cursor), variable_(variable), type_(type) {}

  // Reads one level of values. `dimensions`: the sizes of this level and of the inner levels; empty for a single value.
  void read(std::span<std::uint64_t const> dimensions, std::uint64_t at_elems) {
    if (dimensions.empty()) return value(at_elems);
    std::uint64_t inner = 1;
    for (auto const size : dimensions.subspan(1)) inner *= size;
    cursor_.expect('{');
    for (std::uint64_t i = 0; !cursor_.peek().is('}'); ++i) {
      if (i == dimensions.front()) cursor_.fail("too many values");
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
    if (cursor_.peek().is('(')) cursor_.unsupported();  // `0xff(symbol)` is a part of an address
    auto literal = read_literal(token.text);
    if (literal && minus) literal = literal->negated(token.text);
    auto const bits = literal ? literal->as(type_) : std::nullopt;
    if (!bits) cursor_.fail(token, "invalid value of type ." + std::string(name(type_)));
    put(at_elems * size, *bits, size);
  }

  void address(std::uint64_t offset) {
    bool const generic = cursor_.accept("generic");
    if (generic) cursor_.expect('(');
    Token const& symbol = cursor_.name();
    if (generic) cursor_.expect(')');
    std::uint64_t const addend = cursor_.accept('+') ? cursor_.integer() : 0;
    if (size_bytes(type_) != 8) cursor_.unsupported();
    variable_.relocations.push_back({offset, std::string(symbol.text)});
    put(offset, addend, 8);
  }

  void put(std::uint64_t offset, std::uint64_t bits, unsigned size) {
    if (offset + size > kMaxInitialBytes) cursor_.unsupported();
    if (variable_.initial.size() < offset + size) variable_.initial.resize(offset + size);
    std::memcpy(variable_.initial.data() + offset, &bits, size);
  }

  Cursor& cursor_;
  Variable& variable_;
  Type type_;
};

// Reads `.align 4`; returns zero if it is missing.
std::uint32_t read_alignment(Cursor& cursor) {
  if (!cursor.accept(".align")) return 0;
  Token const& at = cursor.peek();
  auto const alignment = cursor.integer();
  if (alignment == 0 || alignment > 65536 || (alignment & (alignment - 1)) != 0)
    cursor.fail(at, "expected a power of two");
  return static_cast<std::uint32_t>(alignment);
}

// Skips `.ptr .global .align 8`, a hint about the pointer in a parameter.
void skip_pointer_hint(Cursor& cursor) {
  if (!cursor.accept(".ptr")) return;
  while (cursor.accept(".global") || cursor.accept(".const") || cursor.accept(".shared") || cursor.accept(".local")) {
  }
  read_alignment(cursor);
}

// Reads `.attribute(.managed)`. Returns true if it is there.
bool read_managed(Cursor& cursor) {
  if (!cursor.accept(".attribute")) return false;
  cursor.expect('(');
  if (!cursor.accept(".managed")) cursor.unsupported();
  cursor.expect(')');
  return true;
}

// Reads `[2][3]`. A first dimension without a size becomes zero.
std::vector<std::uint64_t> read_dimensions(Cursor& cursor) {
  std::vector<std::uint64_t> dimensions;
  std::uint64_t elements = 1;
  while (cursor.accept('[')) {
    if (dimensions.size() == kMaxDimensions) cursor.unsupported();
    if (dimensions.empty() && cursor.accept(']')) {
      dimensions.push_back(0);
      continue;
    }
    Token const& at = cursor.peek();
    auto const size = cursor.integer();
    if (size == 0 || size > kMaxBytes || (elements *= size) > kMaxBytes) cursor.fail(at, "invalid size of a variable");
    dimensions.push_back(size);
    cursor.expect(']');
  }
  return dimensions;
}

}  // namespace

Type declared_type(Cursor& cursor) {
  Token const& token = cursor.expect(TokenKind::directive, "a type");
  Type const type = find_type(token.text.substr(1));
  if (type == Type::none || is_in_bits(type)) cursor.unsupported();
  return type;
}

Variable read_variable(Cursor& cursor, Space space, bool is_extern) {
  Variable variable;
  variable.space = space;
  if (space == Space::global) variable.managed = read_managed(cursor);
  auto const alignment = read_alignment(cursor);
  Type const type = declared_type(cursor);
  if (type == Type::pred) cursor.unsupported();
  if (space == Space::param) skip_pointer_hint(cursor);
  variable.name = cursor.name().text;
  auto const dimensions = read_dimensions(cursor);
  std::uint64_t elements = 1;
  for (auto const size : dimensions) elements *= size;
  // The size may be missing only in a declaration of shared memory whose size is set by the launch.
  if (elements == 0 && (space != Space::shared || !is_extern)) cursor.unsupported();
  if (is_extern && space != Space::shared) cursor.unsupported();  // a variable of another module
  unsigned const size = size_bytes(type);
  variable.align_bytes = alignment != 0 ? alignment : size;
  if (space != Space::param) variable.align_bytes = std::max<std::uint32_t>(variable.align_bytes, size);
  variable.size_bytes = elements * size;
  if (!cursor.accept('=')) return variable;
  if (space != Space::global && space != Space::constant)
    cursor.fail("only global and constant variables have initial values");
  Initializer(cursor, variable, type).read(dimensions, 0);
  return variable;
}

}  // namespace cuda_cpu::ptx
