// The compile-time check of format specifications in a message against the types of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

// The specifications that a type accepts.
enum class FormatAs : std::uint8_t {
  nothing,  // none: it prints by TRACE_FIELDS or operator<<, or is a container
  boolean,
  integer,
  real,
  text,
  pointer,
  own,  // any: its fmt::formatter checks them when the message is printed
};

// The presentation types that may close a specification.
constexpr std::string_view presentations(FormatAs as) noexcept {
  switch (as) {
    case FormatAs::boolean: return "sbBdoxX";
    case FormatAs::integer: return "bBcdoxX";
    case FormatAs::real: return "aAeEfFgG";
    case FormatAs::text: return "s";
    case FormatAs::pointer: return "p";
    default: return "";
  }
}

// Whether `[[fill]align][sign][#][0][width][.precision][L][type]` fits. Nested placeholders are `{...}`.
constexpr bool spec_fits(std::string_view spec, FormatAs as) noexcept {
  if (spec.empty() || as == FormatAs::own) return true;
  if (as == FormatAs::nothing) return false;
  bool const is_number = as == FormatAs::integer || as == FormatAs::real || as == FormatAs::boolean;
  std::size_t i = 0;
  auto at = [&](std::size_t k) { return k < spec.size() ? spec[k] : '\0'; };
  auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
  auto number = [&] {
    if (at(i) == '{') {
      while (at(i) != '}' && i < spec.size()) ++i;
      ++i;
      return true;
    }
    std::size_t const begin = i;
    while (at(i) >= '0' && at(i) <= '9') ++i;
    return i > begin;
  };
  std::size_t fill = 1;  // one character, perhaps of several bytes
  while (fill < spec.size() && (static_cast<unsigned char>(spec[fill]) & 0xc0) == 0x80) ++fill;
  if (is_align(at(fill))) {
    i = fill + 1;
  } else if (is_align(at(0))) {
    i = 1;
  }
  if (is_number && (at(i) == '+' || at(i) == '-' || at(i) == ' ')) ++i;
  if (is_number && at(i) == '#') ++i;
  if (is_number && at(i) == '0') ++i;
  number();
  if (at(i) == '.') {
    if (as != FormatAs::real && as != FormatAs::text) return false;
    ++i;
    if (!number()) return false;
  }
  if (is_number && at(i) == 'L') ++i;
  if (i < spec.size() && presentations(as).find(spec[i]) != std::string_view::npos) ++i;
  return i == spec.size();
}

}  // namespace tracing::inline v1::internal
