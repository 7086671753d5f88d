#include "cuda_cpu/ptx/literal.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace cuda_cpu::ptx {
namespace {

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Literal> bits_of(std::string_view text, std::size_t count, LiteralKind kind) {
  auto const value = text.size() == count ? digits(text, 16) : std::nullopt;
  if (!value) return std::nullopt;
  return Literal{kind, *value};
}

bool has_prefix(std::string_view text, char lower, char upper) noexcept {
  return text.size() > 2 && text[0] == '0' && (text[1] == lower || text[1] == upper);
}

}  // namespace

std::optional<Literal> read_literal(std::string_view text) {
  if (has_prefix(text, 'f', 'F')) return bits_of(text.substr(2), 8, LiteralKind::single_precision);
  if (has_prefix(text, 'd', 'D')) return bits_of(text.substr(2), 16, LiteralKind::double_precision);
  bool const hexadecimal = has_prefix(text, 'x', 'X');
  if (!hexadecimal && text.find_first_of(".eE") != text.npos) {
    double value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return Literal{LiteralKind::double_precision, std::bit_cast<std::uint64_t>(value)};
  }
  if (text.size() > 1 && text.back() == 'U') text.remove_suffix(1);
  std::optional<std::uint64_t> value;
  if (hexadecimal)
    value = digits(text.substr(2), 16);
  else if (has_prefix(text, 'b', 'B'))
    value = digits(text.substr(2), 2);
  else if (text.size() > 1 && text[0] == '0')
    value = digits(text.substr(1), 8);
  else
    value = digits(text, 10);
  if (!value) return std::nullopt;
  return Literal{LiteralKind::integer, *value};
}

std::optional<Literal> Literal::negated(std::string_view text) const noexcept {
  if (kind == LiteralKind::integer) return Literal{kind, std::uint64_t{0} - bits};
  if (has_prefix(text, 'f', 'F') || has_prefix(text, 'd', 'D')) return std::nullopt;
  return Literal{kind, bits ^ (std::uint64_t{1} << 63)};
}

std::optional<std::uint64_t> Literal::as(Type type) const noexcept {
  unsigned const size = size_bytes(type);
  if (kind == LiteralKind::integer) {
    if (type == Type::pred) return bits != 0;
    if (is_float(type)) return std::nullopt;
    return size == 8 ? bits : bits & ((std::uint64_t{1} << (size * 8)) - 1);
  }
  if (type != Type::f32 && type != Type::f64 && type != Type::b32 && type != Type::b64) return std::nullopt;
  if (!is_float(type) && size != (kind == LiteralKind::single_precision ? 4u : 8u)) return std::nullopt;
  if (!is_float(type)) return bits;
  double const value = kind == LiteralKind::single_precision
                           ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                           : std::bit_cast<double>(bits);
  if (kind == LiteralKind::single_precision && type == Type::f32) return bits;
  if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace cuda_cpu::ptx
