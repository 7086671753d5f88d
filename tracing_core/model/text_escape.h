// Appends escaped text: quoted, made safe for a terminal, or as a JSON string.
#pragma once

#include <string>
#include <string_view>

#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Appends `text` in double quotes as Rust's `{:?}` does: `\"`, `\\`, `\t`, `\r`, `\n`, `\0`, and `\u{1b}` for every
/// other character that is not printable or that combines with the one before it. Each byte that is not UTF-8 becomes
/// `\xff` (strings of Rust cannot have such bytes).
void append_quoted(TextBuffer& out, std::string_view text) noexcept;

/// Appends `text` with control characters for terminals escaped: escape, bell, backspace, form feed and delete become
/// `\x1b`, `\x07`, `\x08`, `\x0c` and `\x7f`, U+0080 to U+009F become `\u{80}` to `\u{9f}`, and bytes that are not
/// UTF-8, which an eight-bit terminal treats as the same commands, become `\xff`. All other text is unchanged,
/// including line ends.
void append_sanitized(TextBuffer& out, std::string_view text) noexcept;

/// Appends text that must stay on its line: as append_sanitized(), and line ends and tabs become `\n`, `\r` and `\t`,
/// other control characters `\x00`. Characters that change the direction of text, so that it looks like a different
/// text, become `\u{202e}`. U+2028 and U+2029, which end lines, and U+FFFE and U+FFFF, which XML does not allow, are
/// escaped in this form, too.
void append_sanitized_in_line(TextBuffer& out, std::string_view text) noexcept;

/// Returns what append_sanitized_in_line() appends.
std::string sanitized_in_line(std::string_view text);

/// Appends text of several lines: as append_sanitized_in_line(), but tabs stay, and lines after the first are indented
/// by six blanks, so that none of them looks like a record. A line end at the end of the text becomes `\n`.
void append_sanitized_lines(TextBuffer& out, std::string_view text) noexcept;

/// Appends `text` as a JSON string with its quotes, as serde_json does: `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, other
/// characters below U+0020 as `\u001b`, the rest raw. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(TextBuffer& out, std::string_view text) noexcept;

/// Appends JSON that is safe for a terminal and means the same: characters that append_sanitized_in_line() escapes, and
/// that JSON allows in a string as they are, become `\u009b`.
void append_sanitized_json(TextBuffer& out, std::string_view json) noexcept;

}}  // namespace tracing::v1
