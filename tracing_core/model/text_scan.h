// Searches text, eight bytes at a time, for bytes that an output must escape, and copies short text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace internal {

using Word = std::uint64_t;
inline constexpr Word kOnes = 0x0101010101010101;
inline constexpr Word kHighBits = 0x8080808080808080;

// Sets the high bit of each byte that is below a blank, is DEL or is beyond ASCII. A borrow may also set the bit in
// bytes above such a byte, but the lowest bit that is set is right.
constexpr Word needs_sanitizing(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * 0x7f)) - kOnes);
}
// As needs_sanitizing(), with quote and backslash in place of DEL.
constexpr Word needs_json_escape(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * '"')) - kOnes) | ((word ^ (kOnes * '\\')) - kOnes);
}
// Finds the bytes that either of the two functions above finds.
constexpr Word needs_quoting(Word word) noexcept { return needs_json_escape(word) | needs_sanitizing(word); }

inline Word load_word(char const* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Loads a text of fewer than 8 bytes into a word padded with blanks. Bytes may change places or repeat, which does not
// matter to a test for their presence.
inline Word load_short(char const* at, std::size_t size) noexcept {
  if (size >= 4) {
    std::uint32_t first;
    std::uint32_t last;
    std::memcpy(&first, at, 4);
    std::memcpy(&last, at + size - 4, 4);
    return first | static_cast<Word>(last) << 32;
  }
  if (size == 0) return kOnes * ' ';
  auto const byte = [at](std::size_t i) { return static_cast<Word>(static_cast<unsigned char>(at[i])); };
  return (kOnes * ' ' & ~Word{0xffffff}) | byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
}

// True if `test` finds nothing in `text`.
template <Word (*test)(Word) noexcept>
inline bool is_plain(std::string_view text) noexcept {
  char const* at = text.data();
  std::size_t const size = text.size();
  if (size < 8) return (test(load_short(at, size)) & kHighBits) == 0;
  Word found = test(load_word(at + size - 8));
  for (char const* const end = at + size - 8; at < end; at += 8) found |= test(load_word(at));
  return (found & kHighBits) == 0;
}

// Copies `size` bytes as a first and a last block, which may overlap. REQUIRES: kBlock <= size <= 2 * kBlock.
template <std::size_t kBlock>
inline void copy_two_blocks(char* to, char const* from, std::size_t size) noexcept {
  struct Block {
    char bytes[kBlock];
  } first, last;
  std::memcpy(&first, from, kBlock);
  std::memcpy(&last, from + size - kBlock, kBlock);
  std::memcpy(to, &first, kBlock);
  std::memcpy(to + size - kBlock, &last, kBlock);
}

// Copies text that is usually short, inline; returns the end.
inline char* copy_short(char* to, std::string_view text) noexcept {
  std::size_t const size = text.size();
  char const* const from = text.data();
  if (size >= 16) {
    if (size > 64) {
      std::memcpy(to, from, size);
    } else if (size > 32) {
      copy_two_blocks<16>(to, from, 32);
      copy_two_blocks<16>(to + size - 32, from + size - 32, 32);
    } else {
      copy_two_blocks<16>(to, from, size);
    }
  } else if (size >= 8) {
    copy_two_blocks<8>(to, from, size);
  } else if (size >= 4) {
    copy_two_blocks<4>(to, from, size);
  } else if (size > 0) {
    char const middle = from[size / 2];
    char const last = from[size - 1];
    to[0] = from[0];
    to[size / 2] = middle;
    to[size - 1] = last;
  }
  return to + size;
}

// Appends `"text"` and returns true if nothing in the text needs an escape; otherwise returns false.
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

}}}  // namespace tracing::v1::internal
