// Declares read_literal(), which reads the numbers of PTX.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cuda_tests/ptx/types.h"

namespace cuda_tests::ptx {

enum class LiteralKind : std::uint8_t { integer, single_precision, double_precision };

struct Literal {
  LiteralKind kind = LiteralKind::integer;
  std::uint64_t bits = 0;

  /// Its bits as an operand of `type`; none where the type takes no such number.
  std::optional<std::uint64_t> as(Type type) const noexcept;
  /// Minus it; none of 0f and 0d ones, which say their sign by a bit.
  std::optional<Literal> negated(std::string_view text) const noexcept;
};

/// Decimal, octal, hexadecimal and binary whole numbers that 64 bits hold, with or without U; 0f and 0d; decimal fractions.
std::optional<Literal> read_literal(std::string_view text);

}  // namespace cuda_tests::ptx
