// Declares decode_utf8(), which reads one character of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace tracing::inline v1::internal {

struct DecodedChar {
  char32_t value = 0xFFFD;
  std::size_t size = 1;  // bytes read; 1 where they are not UTF-8
  bool valid = false;
};

/// The character at the start of `text`. REQUIRES: !text.empty().
constexpr DecodedChar decode_utf8(std::string_view text) noexcept {
  auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned const lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t const size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  bool const overlong = value < (size == 4 ? 0x10000u : size == 3 ? 0x800u : 0x80u);
  bool const surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, size, true};
}

}  // namespace tracing::inline v1::internal
