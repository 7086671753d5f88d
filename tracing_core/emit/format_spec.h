// The compile-time check of a message's format specifications against the types of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace internal {

// Names the specifications that a type accepts.
enum class FormatAs : std::uint8_t {
  nothing,  // only `?`: the type prints by TRACE_FIELDS or operator<<, or is a container
  boolean,
  integer,
  real,
  text,
  pointer,
  own,  // any specification: the type's fmt::formatter checks it when the message is printed
};

// Returns true if the presentation type `c` may close a specification.
constexpr bool is_presentation(char c, FormatAs as) noexcept {
  switch (c) {
    case 's': return as == FormatAs::text || as == FormatAs::boolean;
    case 'd':
    case 'x':
    case 'X':
    case 'b':
    case 'B':
    case 'o': return as == FormatAs::integer || as == FormatAs::boolean;
    case 'c': return as == FormatAs::integer;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return as == FormatAs::real;
    case 'p': return as == FormatAs::pointer;
    default: return false;
  }
}

constexpr bool is_align(char c) noexcept { return c == '<' || c == '>' || c == '^'; }

// Returns the index after the width or precision at `i`: a number, or a nested placeholder.
constexpr std::size_t skip_spec_number(char const* text, std::size_t i) noexcept {
  if (text[i] == '{') {
    while (text[i] != '}') ++i;
    return i + 1;
  }
  while (text[i] >= '0' && text[i] <= '9') ++i;
  return i;
}

// Returns true if a specification fits the type: `[[fill]align][sign][#][0][width][.precision][L][type]`, or
// `[[fill]align][width][.precision]?` for the debug form of any type. Nested placeholders are `{...}`. REQUIRES: the
// character after the specification is `}`.
constexpr bool spec_fits(char const* spec, std::size_t size, FormatAs as) noexcept {
  if (size == 0 || as == FormatAs::own) return true;
  if (spec[size - 1] == '?') {
    --size;
    as = FormatAs::text;
    if (size == 0) return true;
  }
  if (as == FormatAs::nothing) return false;
  bool const is_number = as == FormatAs::integer || as == FormatAs::real || as == FormatAs::boolean;
  std::size_t i = 0;
  std::size_t fill = 1;  // one character, perhaps of several bytes
  while ((static_cast<unsigned char>(spec[fill]) & 0xc0) == 0x80) ++fill;
  if (is_align(spec[fill])) {
    i = fill + 1;
  } else if (is_align(spec[0])) {
    i = 1;
  }
  if (is_number) {
    if (spec[i] == '+' || spec[i] == '-' || spec[i] == ' ') ++i;
    if (spec[i] == '#') ++i;
    if (spec[i] == '0') ++i;
  }
  i = skip_spec_number(spec, i);
  if (spec[i] == '.') {
    if (as != FormatAs::real && as != FormatAs::text) return false;
    std::size_t const end = skip_spec_number(spec, i + 1);
    if (end == i + 1) return false;
    i = end;
  }
  if (is_number && spec[i] == 'L') ++i;
  if (i < size && is_presentation(spec[i], as)) ++i;
  return i == size;
}

}}}  // namespace tracing::v1::internal
