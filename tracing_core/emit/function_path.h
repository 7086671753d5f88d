// Parses the enclosing namespace, class and function out of `__PRETTY_FUNCTION__`, at compile time.
//
// GCC has `int ns::{anonymous}::Foo<T>::bar(int) [with T = int]::<lambda()>`, Clang `auto ns::(anonymous
// namespace)::Foo<int>::bar(int)::(anonymous class)::operator()() const`; both give the target `ns::Foo` and the name
// `bar`. The body of a test, `ns::Suite_Name_Test::TestBody()`, has the target `ns`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/emit/argument_text.h"

namespace tracing { inline namespace v1 { namespace internal {

// Returns true for the function of the class that GoogleTest makes for a test. This class is not part of the target.
constexpr bool is_test_body(std::string_view function) noexcept { return function == "TestBody"; }

// The parts of a qualified name, without anonymous and inline namespaces, as ranges of the compiler's text.
struct PathParts {
  static constexpr std::size_t kMaxParts = 24;

  char const* text = nullptr;
  std::size_t count = 0;  // the last part is the function's own name if has_function
  bool has_function = false;
  std::uint16_t begin[kMaxParts] = {};
  std::uint16_t end[kMaxParts] = {};

  constexpr std::string_view part(std::size_t i) const noexcept {
    return {text + begin[i], static_cast<std::size_t>(end[i] - begin[i])};
  }
  constexpr std::size_t target_parts() const noexcept {
    std::size_t parts = has_function ? count - 1 : count;
    if (has_function && parts > 0 && is_test_body(part(parts))) {
      --parts;
      // TYPED_TEST_P also makes a namespace around the class.
      if (parts > 0 && part(parts - 1).starts_with("gtest_suite_")) --parts;
    }
    return parts;
  }
  // Returns the length of the target: its parts joined by `::`.
  constexpr std::size_t target_size() const noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < target_parts(); ++i) size += part(i).size() + (i > 0 ? 2 : 0);
    return size;
  }
};

// Target and name of a function. If the target is not one range of the text, which is rare, its parts are parsed again
// later, since storing them would cost compile time in every statement.
struct FunctionPath {
  std::string_view function{};
  std::string_view target{};  // set if is_contiguous
  std::size_t target_size = 0;
  bool is_contiguous = true;
};

inline constexpr std::string_view kOperator = "operator";
inline constexpr std::string_view kDecltype = "decltype";

constexpr bool starts_with_at(char const* text, std::size_t size, std::size_t i, std::string_view what) noexcept {
  if (size - i < what.size()) return false;
  for (std::size_t k = 0; k < what.size(); ++k) {
    if (text[i + k] != what[k]) return false;
  }
  return true;
}

// Returns true for namespaces that a target leaves out. Compilers do not mark inline namespaces; by convention these
// are versions, `v2`, and names reserved for libraries, `__cxx11`. nvcc gives anonymous namespaces a name:
// `_GLOBAL__N__6f8b49a9_8_file_cu`.
constexpr bool is_omitted(std::string_view part) noexcept {
  if (part.size() >= 2 && part[0] == '_') return part[1] == '_' || part.starts_with("_GLOBAL__N_");
  if (part.size() < 2 || part[0] != 'v') return false;
  for (std::size_t i = 1; i < part.size(); ++i) {
    if (part[i] < '0' || part[i] > '9') return false;
  }
  return true;
}

// Returns true if a part needs parse_parts().
constexpr bool is_special(char const* part, std::size_t size) noexcept {
  switch (part[0]) {
    case '_':
    case 'v': return is_omitted({part, size});
    case 'd': return starts_with_at(part, size, 0, kDecltype);
    case 'o': return starts_with_at(part, size, 0, kOperator);
    default: return false;
  }
}

// Returns the index after the bracket that closes the bracket at `i`.
constexpr std::size_t skip_brackets(char const* text, std::size_t size, std::size_t i) noexcept {
  std::size_t depth = 0;
  for (; i < size; ++i) {
    char const c = text[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && text[i - 1] != '-')) {
      if (--depth == 0) return i + 1;
    }
  }
  return size;
}

// Returns true if the name at `i` is `operator` and not a longer name.
constexpr bool is_operator(char const* text, std::size_t size, std::size_t i) noexcept {
  return starts_with_at(text, size, i, kOperator) &&
         (size - i == kOperator.size() || !is_name_char(text[i + kOperator.size()]));
}

// Returns the index after the name of the operator at `i`, such as `operator()`.
constexpr std::size_t find_operator_end(char const* text, std::size_t size, std::size_t i) noexcept {
  std::size_t end = i + kOperator.size();
  if (starts_with_at(text, size, end, "()")) return end + 2;
  while (end < size && text[end] != '(') ++end;
  return end;
}

// Returns true if a lambda begins at `i`: `<lambda` of GCC, `(anonymous class)` of Clang.
constexpr bool is_lambda(char const* text, std::size_t size, std::size_t i) noexcept {
  return starts_with_at(text, size, i, "<lambda") || starts_with_at(text, size, i, "(anonymous class)");
}

// Adds text[begin, end) unless a target leaves it out or the path is full.
constexpr void add_part(PathParts& path, std::size_t begin, std::size_t end) noexcept {
  std::string_view const name(path.text + begin, end - begin);
  if (name.empty() || is_omitted(name) || path.count == PathParts::kMaxParts) return;
  path.begin[path.count] = static_cast<std::uint16_t>(begin);
  path.end[path.count] = static_cast<std::uint16_t>(end);
  ++path.count;
}

constexpr PathParts parse_parts(char const* text, std::size_t size) noexcept {
  PathParts path;
  path.text = text;
  std::size_t part = 0;      // where the current part starts
  std::size_t part_end = 0;  // where the current part's name ends if template arguments follow; otherwise 0
  auto close_part = [&](std::size_t end) {
    add_part(path, part, part_end != 0 ? part_end : end);
    part_end = 0;
  };
  for (std::size_t i = 0; i < size;) {
    char const c = text[i];
    if (c >= 'a' && c <= 'z' && (c != 'o' || i != part)) {
      i += 1 + skip_to_any(text + i + 1, " :<({*&");
    } else if (c == ' ') {  // the text before it was a return type or a specifier
      path.count = 0;
      part = ++i;
      part_end = 0;
    } else if (i == part && (c == '*' || c == '&')) {  // belongs to a return type, too
      path.count = 0;
      part = ++i;
    } else if (c == ':' && i + 1 < size && text[i + 1] == ':') {
      close_part(i);
      part = i += 2;
    } else if ((c == '<' || c == '(') && is_lambda(text, size, i)) {
      return path;
    } else if (c == '{' || (c == '(' && starts_with_at(text, size, i, "(anonymous"))) {  // anonymous namespace
      part = i = skip_brackets(text, size, i);
    } else if (c == '<') {
      if (part_end == 0) part_end = i;
      i = skip_brackets(text, size, i);
    } else if (c == '(' && i == part) {  // `void (*ns::f(int))(double)`: the name is inside
      part = ++i;
    } else if (c == '(' && starts_with_at(text, size, part, "decltype(")) {
      part_end = i = skip_brackets(text, size, i);
    } else if (c == '(') {
      close_part(i);
      path.has_function = path.count > 0;
      return path;
    } else if (c == 'o' && is_operator(text, size, i)) {
      close_part(find_operator_end(text, size, i));
      path.has_function = true;
      return path;
    } else {
      ++i;
    }
  }
  close_part(size);
  path.has_function = path.count > 0;
  return path;
}

// Returns the index of the parenthesis after a name without templates, anonymous namespaces or pointers; 0 for all
// other names.
constexpr std::size_t find_simple_end([[maybe_unused]] char const* text, [[maybe_unused]] std::size_t size) noexcept {
#if TRACING_INTERNAL_SEARCHES_ == 2
  std::size_t const end = find_char(text, 0, size, '(');
  for (char c : {'<', '{', '*', '&', '['}) {
    if (find_char(text, 0, end, c) != end) return 0;
  }
  return end == size ? 0 : end;
#elif TRACING_INTERNAL_SEARCHES_ == 1
  std::size_t const end = __builtin_strcspn(text, "(<{*&[");
  return text[end] == '(' ? end : 0;
#else
  return 0;
#endif
}

// Parses `int ns::S::f(`, whose target and name need no change; returns false for all other forms.
constexpr bool parse_simple(FunctionPath& path, char const* text, std::size_t size) noexcept {
  std::size_t const end = find_simple_end(text, size);
  std::size_t begin = 0;  // index after the return type
  for (std::size_t space = find_char(text, 0, end, ' '); space < end; space = find_char(text, begin, end, ' ')) {
    begin = space + 1;
    if (space >= 8 && text[space - 1] == 'r' && is_operator(text, size, space - 8)) return false;
  }
  std::size_t part = begin;
  for (;;) {
    std::size_t const part_end = find_char(text, part, end, ':');
    if (part >= part_end || is_special(text + part, part_end - part)) return false;
    if (part_end == end) break;
    part = part_end + 2;
  }
  path.function = {text + part, end - part};
  if (part > begin) path.target = {text + begin, part - begin - 2};
  if (text[part] == 'T' && is_test_body(path.function)) {
    std::size_t const colons = path.target.rfind("::");
    path.target = path.target.substr(0, colons == std::string_view::npos ? 0 : colons);
  }
  path.target_size = path.target.size();
  return true;
}

constexpr FunctionPath parse_function(char const* text, std::size_t size) noexcept {
  FunctionPath path;
  if (parse_simple(path, text, size)) return path;
  PathParts const parts = parse_parts(text, size);
  if (parts.has_function) path.function = parts.part(parts.count - 1);
  path.target_size = parts.target_size();
  path.is_contiguous = false;
  return path;
}

// Returns the file's name without folders and extension: the target of code at global scope.
constexpr std::string_view file_stem(std::string_view file) noexcept {
  std::size_t const slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  std::size_t const dot = file.find('.');
  return dot == 0 ? file : file.substr(0, dot);
}

}}}  // namespace tracing::v1::internal
