// Declares how text is searched, eight bytes at a time, for bytes that an output cannot have as they are, and copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

using Word = std::uint64_t;
inline constexpr Word kOnes = 0x0101010101010101;
inline constexpr Word kHighBits = 0x8080808080808080;

// The high bit of some byte is set where a byte is below a blank, is DEL or is beyond ASCII.
constexpr Word needs_sanitizing(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * 0x7f)) - kOnes);
}
// The same for a quote or a backslash in place of DEL.
constexpr Word needs_json_escape(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * '"')) - kOnes) | ((word ^ (kOnes * '\\')) - kOnes);
}

// The same for all of these.
constexpr Word needs_quoting(Word word) noexcept { return needs_json_escape(word) | needs_sanitizing(word); }

inline Word load_word(char const* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The last bytes of a text shorter than a word, and blanks.
inline Word load_short(char const* at, std::size_t size) noexcept {
  Word word = kOnes * ' ';
  if (size >= 4) {
    std::uint32_t first;
    std::uint32_t last;
    std::memcpy(&first, at, 4);
    std::memcpy(&last, at + size - 4, 4);
    return first | static_cast<Word>(last) << 32;
  }
  for (std::size_t i = 0; i < size; ++i) word = word << 8 | static_cast<unsigned char>(at[i]);
  return word;
}

// Whether `test` finds nothing in any byte of `text`.
template <Word (*test)(Word) noexcept>
inline bool is_plain(std::string_view text) noexcept {
  char const* at = text.data();
  std::size_t const size = text.size();
  if (size < 8) return (test(load_short(at, size)) & kHighBits) == 0;
  Word found = test(load_word(at + size - 8));
  for (char const* const end = at + size - 8; at < end; at += 8) found |= test(load_word(at));
  return (found & kHighBits) == 0;
}

// Copies a text that is short as a rule, without a call; returns the end.
inline char* copy_short(char* to, std::string_view text) noexcept {
  std::size_t const size = text.size();
  char const* const from = text.data();
  if (size > 16) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    Word const last = load_word(from + size - 8);
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, &last, 8);
  } else if (size >= 4) {
    std::uint32_t last;
    std::memcpy(&last, from + size - 4, 4);
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, &last, 4);
  } else {
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
  }
  return to + size;
}

// Appends `"text"` where nothing in it is to be escaped; false where something may be.
template <Word (*test)(Word) noexcept>
inline bool append_plain_in_quotes(TextBuffer& out, std::string_view text) noexcept {
  if (!is_plain<test>(text)) return false;
  char* at = out.reserve(text.size() + 2);
  if (at == nullptr) return true;
  *at++ = '"';
  *copy_short(at, text) = '"';
  out.commit(text.size() + 2);
  return true;
}

}  // namespace tracing::inline v1::internal
