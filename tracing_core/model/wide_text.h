// Appends text of wider characters as UTF-8.
#pragma once

#include <string_view>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Appends UTF-16, UTF-32 or wide text (UTF-32 on this platform) as UTF-8. Invalid parts, such as half of a surrogate
/// pair, become U+FFFD.
void append_utf8(TextBuffer& out, std::u16string_view text) noexcept;
void append_utf8(TextBuffer& out, std::u32string_view text) noexcept;
void append_utf8(TextBuffer& out, std::wstring_view text) noexcept;

}}  // namespace tracing::v1
