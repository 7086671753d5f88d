// decode_utf8() reads one character of UTF-8; char_start() finds where one begins.
#pragma once

#include <cstddef>
#include <string_view>

namespace tracing::inline v1::internal {

struct DecodedChar {
  char32_t value = 0xFFFD;
  std::size_t size = 1;  // bytes read; if invalid, 1 to 3: the longest prefix that could begin a character
  bool valid = false;
};

/// The character at the start of `text`. Invalid bytes become one U+FFFD for as many of them as the Unicode standard
/// recommends and Rust's from_utf8_lossy() replaces. REQUIRES: !text.empty().
constexpr DecodedChar decode_utf8(std::string_view text) noexcept {
  auto const byte = [text](std::size_t i) -> char32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;  // NUL is no continuation byte
  };
  char32_t const lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC2 || lead > 0xF4) return {};

  // The second byte excludes overlong forms (after E0, F0), surrogates (ED) and values above U+10FFFF (F4).
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

/// `index`, moved back to the first byte of a character.
constexpr std::size_t char_start(std::string_view text, std::size_t index) noexcept {
  while (index > 0 && index < text.size() && (static_cast<unsigned char>(text[index]) & 0xC0) == 0x80) --index;
  return index;
}

}  // namespace tracing::inline v1::internal
