// Declares how a macro's own argument text is split into arguments and names, at compile time.
//
// `TRACE_DEBUG("moved {} bytes", n, grid.x, tracing::kv("kernel.name", f<a, b>(c)))` hands over `#__VA_ARGS__`. It is split
// at the commas outside brackets, quotes and raw strings. A `<` is a bracket only where the count is wrong otherwise, since
// `a < b` and `f<a, b>` look alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

inline constexpr std::size_t kMaxArguments = 64;

struct ArgumentTexts {
  char const* text = nullptr;
  std::size_t count = 0;
  bool too_many = false;
  std::uint16_t begin[kMaxArguments] = {};
  std::uint16_t end[kMaxArguments] = {};

  constexpr std::string_view operator[](std::size_t i) const noexcept {
    return {text + begin[i], static_cast<std::size_t>(end[i] - begin[i])};
  }
};

constexpr bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || static_cast<signed char>(c) < 0;
}

// The index behind the string or character literal that opens at `i` with the quote text[i].
constexpr std::size_t skip_quoted(char const* text, std::size_t size, std::size_t i) noexcept {
  char const quote = text[i++];
  while (i < size && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
  return i + 1;
}

// The index behind the raw string literal whose opening quote is at `i`: R"x(...)x".
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

constexpr ArgumentTexts split_once(char const* text, std::size_t size, bool angles_are_brackets) noexcept {
  ArgumentTexts result;
  result.text = text;
  if (size == 0) return result;
  std::size_t depth = 0;
  std::size_t start = 0;
  auto add = [&](std::size_t end) {
    if (result.count == kMaxArguments) {
      result.too_many = true;
      return;
    }
    std::size_t begin = start;
    while (begin < end && text[begin] == ' ') ++begin;
    while (end > begin && text[end - 1] == ' ') --end;
    result.begin[result.count] = static_cast<std::uint16_t>(begin);
    result.end[result.count] = static_cast<std::uint16_t>(end);
    ++result.count;
  };
  for (std::size_t i = 0; i < size;) {
    char const c = text[i];
    if (c > '>' && c != '[' && c != ']' && c != '{' && c != '}') {  // letters and most of the rest
      ++i;
    } else if (c == ',') {
      if (depth == 0) {
        add(i);
        start = i + 1;
      }
      ++i;
    } else if (c == '"') {
      bool const raw = i > 0 && text[i - 1] == 'R';
      i = raw ? skip_raw_string(text, size, i) : skip_quoted(text, size, i);
    } else if (c == '\'') {
      bool const separates_digits = i > 0 && is_name_char(text[i - 1]) && !(text[i - 1] == 'u' || text[i - 1] == 'U' || text[i - 1] == 'L' || text[i - 1] == '8');
      i = separates_digits ? i + 1 : skip_quoted(text, size, i);
    } else {
      if (c == '(' || c == '[' || c == '{' || (angles_are_brackets && c == '<')) ++depth;
      if (c == ')' || c == ']' || c == '}' || (angles_are_brackets && c == '>' && i > 0 && text[i - 1] != '-')) {
        if (depth > 0) --depth;
      }
      ++i;
    }
  }
  add(size);
  return result;
}

constexpr ArgumentTexts split_arguments(char const* text, std::size_t size, std::size_t expected) noexcept {
  ArgumentTexts const plain = split_once(text, size, false);
  if (plain.count == expected) return plain;
  ArgumentTexts const with_angles = split_once(text, size, true);
  return with_angles.count == expected ? with_angles : plain;
}

// `this->p->n` without `this->`, as a range of `text`; its `->` still have to become dots.
constexpr std::string_view strip_this(std::string_view text) noexcept {
  constexpr std::string_view kThis = "this->";
  while (text.substr(0, kThis.size()) == kThis) text.remove_prefix(kThis.size());
  return text;
}

// Whether an argument's text is a name: identifiers joined by `.` and `->`.
constexpr bool is_plain_name(std::string_view text) noexcept {
  text = strip_this(text);
  bool after_separator = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (is_name_char(c)) {
      if (after_separator && c >= '0' && c <= '9') return false;
      after_separator = false;
    } else if (after_separator) {
      return false;
    } else if (c == '.') {
      after_separator = true;
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      ++i;
      after_separator = true;
    } else {
      return false;
    }
  }
  return !after_separator && text != "this" && text != "true" && text != "false" && text != "nullptr";
}

// The text between the first quotes of `tracing::kv("name", x)`; `data() == nullptr` where there is no plain literal.
constexpr std::string_view quoted_name(std::string_view text) noexcept {
  std::size_t const open = text.find('"');
  if (open == std::string_view::npos || (open > 0 && text[open - 1] == 'R')) return {};
  std::size_t const close = text.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  std::string_view const name = text.substr(open + 1, close - open - 1);
  return name.find('\\') == std::string_view::npos ? name : std::string_view();
}

}  // namespace tracing::inline v1::internal
