// Declares to_re2_syntax(), which rewrites a regular expression of Rust's regex crate for RE2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// `pattern` for RE2 in its default, Perl-like syntax, or nothing and a sentence in `error` where RE2 has no
/// equivalent. Mistakes that RE2 finds itself pass through. Rewritten are: `\u0041`, `\u{41}`, `\U..`; `\d`, `\w`, `\s`
/// and their negations, which mean Unicode except under `(?-u)`; long names of general categories; `(?<name>`; `(?x)`.
std::optional<std::string> to_re2_syntax(std::string_view pattern, std::string& error);

}  // namespace tracing::inline v1::internal
