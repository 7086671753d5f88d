#include "testlog/redacted_names.h"

#include <algorithm>
#include <utility>

namespace testlog::inline v1 {

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

namespace {

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Whether the character at `i` makes it unlikely that a name of TRACE_REDACT is one. Such as `(*user).password` and
// `user -> password` are names.
bool is_doubtful(std::string_view name, std::size_t i) {
  auto const begins_member = [](std::string_view text) {
    return trimmed(text).starts_with('.') || trimmed(text).starts_with("->");
  };
  std::string_view const before = trimmed(name.substr(0, i));
  switch (name[i]) {
    case '(': return !name.substr(i).starts_with("(*");
    case '*': return !before.ends_with('(');
    case ')': return !begins_member(name.substr(i + 1));
    default: break;
  }
  if (is_blank(name[i])) return !begins_member(name.substr(i)) && !before.ends_with('.') && !before.ends_with("->");
  bool const is_control = static_cast<unsigned char>(name[i]) < 0x20 || name[i] == 0x7f;
  return is_control || std::string_view("?;|\"'`[]{}\\^").find(name[i]) != name.npos;
}

}  // namespace

std::optional<std::string_view> doubtful_name(std::string_view list) {
  while (!list.empty()) {
    std::size_t const comma = std::min(list.find(','), list.size());
    std::string_view const name = trimmed(list.substr(0, comma));
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (is_doubtful(name, i)) return name;
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return std::nullopt;
}

std::string meant_names(std::string_view list) {
  std::string names;
  bool ended = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '*' || list[i] == '?') return {};
    if (list[i] == ',' || is_doubtful(list, i)) {
      ended = !names.empty();
      continue;
    }
    if (std::exchange(ended, false)) names += ',';
    names += list[i];
  }
  return names;
}

}  // namespace testlog::inline v1
