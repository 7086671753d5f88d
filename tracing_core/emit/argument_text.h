// Splits a macro's own argument text into arguments and names, at compile time.
//
// `TRACE_DEBUG("moved {} bytes", n, grid.x, tracing::kv("kernel.name", f<a, b>(c)))` passes `#__VA_ARGS__`, which is
// split at the commas outside brackets, quotes and raw strings. `<` counts as a bracket only if the number of arguments
// is wrong otherwise, since `a < b` and `f<a, b>` look alike.
//
// The compiler interprets this code for every statement of a program, so it avoids comparisons inside loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/support/characters.h"
#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace internal {

inline constexpr std::size_t kMaxArguments = 64;

// A range of the text; `end` is 0 if there is no text.
struct ArgumentRange {
  std::uint16_t begin = 0;
  std::uint16_t end = 0;
};

constexpr bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) || static_cast<signed char>(c) < 0;
}

// Compilers interpret loops slowly, but evaluate a few C functions in one step: GCC functions that search up to a NUL,
// Clang functions that search a given number of bytes, nvcc none. The texts here are literals, which end with a NUL.
#if defined(__clang__)
#define TRACING_INTERNAL_SEARCHES_ 2
#elif defined(__GNUC__) && !defined(__EDG__) && !defined(__NVCC__)
#define TRACING_INTERNAL_SEARCHES_ 1
#else
#define TRACING_INTERNAL_SEARCHES_ 0
#endif

// Returns the number of characters before the first character of `set` if the compiler computes it in one step;
// otherwise 0.
constexpr std::size_t skip_to_any([[maybe_unused]] char const* text, [[maybe_unused]] char const* set) noexcept {
#if TRACING_INTERNAL_SEARCHES_ == 1
  return __builtin_strcspn(text, set);
#else
  return 0;
#endif
}

// Returns the index of the next `c` in [begin, end), or `end`. REQUIRES: `c` is one of `" ' , \ - space :`.
constexpr std::size_t find_char(char const* text, std::size_t begin, std::size_t end, char c) noexcept {
#if TRACING_INTERNAL_SEARCHES_ == 2
  char const* const at = __builtin_char_memchr(text + begin, c, end - begin);
  return at == nullptr ? end : static_cast<std::size_t>(at - text);
#elif TRACING_INTERNAL_SEARCHES_ == 1
  // GCC 12 evaluates strchr() wrongly if the text begins inside a literal.
  char const* const set = c == '"'    ? "\""
                          : c == ':'  ? ":"
                          : c == ' '  ? " "
                          : c == '-'  ? "-"
                          : c == ','  ? ","
                          : c == '\\' ? "\\"
                                      : "'";
  std::size_t const found = begin + __builtin_strcspn(text + begin, set);
  return found < end ? found : end;
#else
  while (begin < end && text[begin] != c) ++begin;
  return begin;
#endif
}

// Returns true if [begin, end) is one identifier; always false if the compiler cannot compute the answer in one step.
constexpr bool is_simple_identifier([[maybe_unused]] char const* text, [[maybe_unused]] std::size_t begin,
                                    [[maybe_unused]] std::size_t end) noexcept {
#if TRACING_INTERNAL_SEARCHES_ != 1
  return false;
#else
  if (begin >= end || is_digit(text[begin])) return false;
  return __builtin_strspn(text + begin, "abcdefghijklmnopqrstuvwxyz_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") >=
         end - begin;
#endif
}

// Returns the index after the string or character literal that opens at `i` with the quote text[i].
constexpr std::size_t skip_quoted(char const* text, std::size_t size, std::size_t i) noexcept {
  char const quote = text[i];
  std::size_t const inside = ++i;
  for (; i < size; ++i) {
    i = find_char(text, i, size, quote);
    std::size_t escapes = i;
    while (escapes > inside && text[escapes - 1] == '\\') --escapes;
    if ((i - escapes) % 2 == 0) break;
  }
  return i + 1;
}

// Returns the index after the raw string literal whose opening quote is at `i`: R"x(...)x".
constexpr std::size_t skip_raw_string(char const* text, std::size_t size, std::size_t i) noexcept {
  std::size_t const delimiter = ++i;
  while (i < size && text[i] != '(') ++i;
  std::size_t const length = i - delimiter;
  for (++i; i < size; ++i) {
    if (text[i] != ')' || i + 1 + length >= size || text[i + 1 + length] != '"') continue;
    std::size_t same = 0;
    while (same < length && text[i + 1 + same] == text[delimiter + same]) ++same;
    if (same == length) return i + length + 2;
  }
  return size;
}

// Returns true if the word before `i` is the prefix of a literal (u8R"...", LR"..."), and false if it is a name that
// only ends like a prefix (FOR"...").
constexpr bool is_prefix(char const* text, std::size_t i, bool raw) noexcept {
  std::size_t begin = i;
  while (begin > 0 && is_name_char(text[begin - 1])) --begin;
  std::string_view prefix(text + begin, i - begin);
  if (raw) {
    if (prefix.empty() || prefix.back() != 'R') return false;
    prefix.remove_suffix(1);
  }
  return prefix.empty() || prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8";
}

// Returns the index after the literal that the quote at `i` opens, or after a digit separator.
constexpr std::size_t skip_literal(char const* text, std::size_t size, std::size_t i) noexcept {
  if (i == 0 || !is_name_char(text[i - 1])) return skip_quoted(text, size, i);
  if (text[i] == '"') return is_prefix(text, i, true) ? skip_raw_string(text, size, i) : skip_quoted(text, size, i);
  return is_prefix(text, i, false) ? skip_quoted(text, size, i) : i + 1;  // otherwise a digit separator: 1'000
}

constexpr ArgumentRange trimmed(char const* text, std::size_t begin, std::size_t end) noexcept {
  while (begin < end && text[begin] == ' ') ++begin;
  while (end > begin && text[end - 1] == ' ') --end;
  return {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)};
}

// Splits `text` into at most `expected` ranges; returns the number of arguments found.
constexpr std::size_t split_once(char const* text, std::size_t size, bool angles_are_brackets, ArgumentRange* ranges,
                                 std::size_t expected) noexcept {
  std::size_t count = 0;
  std::size_t depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= size;) {
    i += skip_to_any(text + i, ",\"'()[]{}<>");
    char const c = i < size ? text[i] : ',';
    if (c >= '_' && c <= 'z') {
      ++i;
    } else if (c == ',') {
      if (depth == 0 || i == size) {
        if (count < expected) ranges[count] = trimmed(text, start, i);
        ++count;
        start = i + 1;
      }
      ++i;
    } else if (c == '"' || c == '\'') {
      i = skip_literal(text, size, i);
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (angles_are_brackets && c == '<') ++depth;
      bool const closes = c == ')' || c == ']' || c == '}' || (c == '>' && angles_are_brackets && text[i - 1] != '-');
      if (closes && depth > 0) --depth;
      ++i;
    }
  }
  return count;
}

// Splits `text` into exactly `expected` ranges; returns false if neither meaning of `<` gives that number.
constexpr bool split_arguments(char const* text, std::size_t size, ArgumentRange* ranges,
                               std::size_t expected) noexcept {
  if (size > 0xffff) return false;
  return split_once(text, size, false, ranges, expected) == expected ||
         split_once(text, size, true, ranges, expected) == expected;
}

// Returns true for keywords that look like names but are values.
constexpr bool is_value_word(char const* word, std::size_t size) noexcept {
  switch (word[0]) {
    case 't': return size == 4 && (std::string_view(word, 4) == "this" || std::string_view(word, 4) == "true");
    case 'f': return size == 5 && std::string_view(word, 5) == "false";
    case 'n': return size == 7 && std::string_view(word, 7) == "nullptr";
    default: return false;
  }
}

// Removes the underscore at the end that only says that the name is a member. Two underscores have another meaning:
// __func__.
constexpr ArgumentRange without_underscore(char const* text, std::size_t begin, std::size_t end) noexcept {
  if (text[end - 1] == '_' && end - begin > 1 && text[end - 2] != '_' && text[end - 2] != '.') --end;
  return {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)};
}

// Returns the range without `this->` and without an underscore at its end if it is a name, that is, identifiers joined
// by `.` and `->`. Otherwise returns an empty range.
constexpr ArgumentRange plain_name(char const* text, ArgumentRange range) noexcept {
  std::size_t begin = range.begin;
  if (is_simple_identifier(text, begin, range.end)) {
    if (is_value_word(text + begin, range.end - begin)) return {};
    return without_underscore(text, begin, range.end);
  }
  while (range.end - begin > 6 && text[begin + 4] == '-' && std::string_view(text + begin, 6) == "this->") begin += 6;
  bool starts = true;  // an identifier must start here
  for (std::size_t i = begin; i < range.end; ++i) {
    char const c = text[i];
    if (c >= 'a' && c <= 'z') {
      starts = false;
    } else if (is_name_char(c)) {
      if (starts && is_digit(c)) return {};
      starts = false;
    } else if (starts) {
      return {};
    } else if (c == '.') {
      starts = true;
    } else if (c == '-' && i + 1 < range.end && text[i + 1] == '>') {
      ++i;
      starts = true;
    } else {
      return {};
    }
  }
  if (starts || is_value_word(text + begin, range.end - begin)) return {};
  return without_underscore(text, begin, range.end);
}

// Returns the text between the first quotes of `tracing::kv("name", x)`, or an empty range if it is not a plain
// literal.
constexpr ArgumentRange quoted_name(char const* text, ArgumentRange range) noexcept {
  std::size_t const open = find_char(text, range.begin, range.end, '"');
  if (open == range.begin || open == range.end || is_name_char(text[open - 1])) return {};
  if (find_char(text, range.begin, open, ',') != open) return {};  // the quotes belong to the value
  std::size_t const close = find_char(text, open + 1, range.end, '"');
  if (close == range.end || find_char(text, open, close, '\\') != close) return {};
  std::size_t next = close + 1;
  while (next < range.end && text[next] == ' ') ++next;
  if (next < range.end && text[next] != ',' && text[next] != ')') return {};  // "a" "b", "a"s
  return {static_cast<std::uint16_t>(open + 1), static_cast<std::uint16_t>(close)};
}

}}}  // namespace tracing::v1::internal
