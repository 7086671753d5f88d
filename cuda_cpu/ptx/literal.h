// Declares read_literal(), which reads the numbers of PTX.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cuda_cpu/ptx/types.h"

namespace cuda_cpu::ptx {

enum class LiteralKind : std::uint8_t { integer, single_precision, double_precision };

struct Literal {
  LiteralKind kind = LiteralKind::integer;
  std::uint64_t bits = 0;

  /// Returns the bits of the number as an operand of `type`, or nothing if the type does not take such a number.
  std::optional<std::uint64_t> as(Type type) const noexcept;
  /// Returns the negated number, or nothing for 0f and 0d literals, whose digits include the sign. `text`: the literal.
  std::optional<Literal> negated(std::string_view text) const noexcept;
};

/// Reads integers of up to 64 bits (decimal, octal, hexadecimal, binary; with or without U), 0f and 0d literals, and
/// decimal fractions. Returns nothing for other texts.
std::optional<Literal> read_literal(std::string_view text);

}  // namespace cuda_cpu::ptx
