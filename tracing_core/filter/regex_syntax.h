// to_re2_syntax(): rewrites a regular expression of Rust's regex crate for RE2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// `pattern` in RE2's default, Perl-like syntax. If RE2 has no equivalent, returns nothing and sets `error` to the
/// reason. Errors that RE2 reports itself are left to it. Rewrites `\u0041`, `\u{41}`, `\U..`; `\d`, `\w`, `\s` and
/// their negations, which mean Unicode classes except under `(?-u)`; long names of general categories; `(?<name>`;
/// `(?x)`.
std::optional<std::string> to_re2_syntax(std::string_view pattern, std::string& error);

}  // namespace tracing::inline v1::internal
