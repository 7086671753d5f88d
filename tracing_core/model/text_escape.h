// Declares the ways a string is escaped when it is appended: quoted, made safe for a terminal, and as JSON.
#pragma once

#include <string_view>

#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1 {

/// Appends `text` in double quotes as Rust's `{:?}` does: `"` and `\` behind a backslash, `\t`, `\r`, `\n`, `\0`, and
/// `\u{1b}` for every other character that is not printable or that combines with the one before it. Bytes that are not
/// UTF-8 become `\xff`, each for itself (Rust has no such strings). Plain ASCII costs a copy.
void append_quoted(TextBuffer& out, std::string_view text) noexcept;

/// Appends `text` without what steers a terminal: escape, bell, backspace, form feed and delete become `\x1b`, `\x07`,
/// `\x08`, `\x0c` and `\x7f`, U+0080 to U+009F become `\u{80}` to `\u{9f}`, and bytes that are not UTF-8, which an
/// eight-bit terminal takes for the same commands, `\xff`. All else goes through unchanged, line ends too.
void append_sanitized(TextBuffer& out, std::string_view text) noexcept;

/// The same for what has to stay in its line: line ends and tabs become `\n`, `\r` and `\t`, all other control characters as
/// above.
void append_sanitized_in_line(TextBuffer& out, std::string_view text) noexcept;

/// Appends `text` as a JSON string with its quotes, as serde_json does: `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, other
/// characters below U+0020 as `\u001b`, the rest raw. What is not UTF-8 becomes U+FFFD.
void append_json_string(TextBuffer& out, std::string_view text) noexcept;

}  // namespace tracing::inline v1
