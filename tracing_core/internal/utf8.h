// Declares decode_utf8(), which reads one character of UTF-8, and is_utf8().
#pragma once

#include <cstddef>
#include <string_view>

namespace tracing::inline v1::internal {

struct DecodedChar {
  char32_t value = 0xFFFD;
  std::size_t size = 1;  // bytes read; 1 to 3 where they are not UTF-8: the longest piece that begins like a character
  bool valid = false;
};

/// The character at the start of `text`, or one U+FFFD for as many bytes as the Unicode standard advises, which is what
/// Rust's from_utf8_lossy() does. REQUIRES: !text.empty().
constexpr DecodedChar decode_utf8(std::string_view text) noexcept {
  auto const byte = [text](std::size_t i) -> char32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;  // nothing continues with NUL
  };
  char32_t const lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC2 || lead > 0xF4) return {};

  // The second byte keeps out overlong forms (after E0, F0), surrogates (ED) and what is beyond U+10FFFF (F4).
  char32_t const lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  char32_t const highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < lowest || byte(1) > highest) return {};

  std::size_t const size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t value = lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {.size = i};
    value = value << 6 | (byte(i) & 0x3F);
  }
  return {value, size, true};
}

/// Whether all of `text` is UTF-8.
constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    DecodedChar const c = decode_utf8(text);
    if (!c.valid) return false;
    text.remove_prefix(c.size);
  }
  return true;
}

}  // namespace tracing::inline v1::internal
