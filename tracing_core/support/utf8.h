// decode_utf8() reads one character of UTF-8; char_start() finds where one begins; count_characters() counts them.
#pragma once

#include <cstddef>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

struct DecodedChar {
  char32_t value = 0xFFFD;
  std::size_t size = 1;  // bytes read; if they are invalid, the longest prefix that could begin a character, 1 to 3
                         // bytes
  bool valid = false;
};

/// Decodes the character at the start of `text`. Replaces invalid bytes with U+FFFD; one U+FFFD covers as many bytes as
/// the Unicode standard recommends and as Rust's from_utf8_lossy() replaces. REQUIRES: !text.empty().
constexpr DecodedChar decode_utf8(std::string_view text) noexcept {
  auto const byte = [text](std::size_t i) -> char32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;  // NUL does not continue a character
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

/// Returns `index`, moved back to the first byte of its character.
constexpr std::size_t char_start(std::string_view text, std::size_t index) noexcept {
  while (index > 0 && index < text.size() && (static_cast<unsigned char>(text[index]) & 0xC0) == 0x80) --index;
  return index;
}

/// Returns how many characters begin in `text`.
constexpr std::size_t count_characters(std::string_view text) noexcept {
  std::size_t count = 0;
  for (char const c : text) count += (c & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

}}}  // namespace tracing::v1::support
