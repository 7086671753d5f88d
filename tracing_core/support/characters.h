// Kinds of ASCII characters, without a locale.
#pragma once

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// Returns true for letters, digits and `_`.
constexpr bool is_word_character(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_'; }

}}}  // namespace tracing::v1::support
