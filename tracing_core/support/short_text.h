// Makes and cuts short texts, mostly for messages and settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Returns `text` without the characters of `set` at its beginning.
constexpr std::string_view without_leading(std::string_view text, std::string_view set) noexcept {
  std::size_t const begin = text.find_first_not_of(set);
  text.remove_prefix(begin == text.npos ? text.size() : begin);
  return text;
}

/// Returns `text` without the characters of `set` at its end.
constexpr std::string_view without_trailing(std::string_view text, std::string_view set) noexcept {
  return text.substr(0, text.find_last_not_of(set) + 1);
}

/// Returns `text` without the characters of `set` at its beginning and end; by default without white space.
constexpr std::string_view trimmed(std::string_view text, std::string_view set = " \t\r\n") noexcept {
  return without_trailing(without_leading(text, set), set);
}

/// Returns `text` in double quotes.
inline std::string in_quotes(std::string_view text) { return std::string("\"").append(text).append("\""); }

/// Returns `1 span` or `2 spans` for the noun `span`.
inline std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

}}}  // namespace tracing::v1::support
