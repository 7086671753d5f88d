// to_re2_syntax(): rewrites a regular expression of Rust's regex crate for RE2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracing { inline namespace v1 { namespace internal {

/// Returns `pattern` in RE2's default, Perl-like syntax. If RE2 would read a part of it as something else, returns
/// nothing and sets `error` to the reason. Leaves to RE2 the errors that RE2 explains. Rewrites `\u0041`, `\u{41}`,
/// `\U..`; `\d`, `\w`, `\s` and their negations, which mean Unicode classes except under `(?-u)`; `(?<name>`; `(?x)`.
std::optional<std::string> to_re2_syntax(std::string_view pattern, std::string& error);

}}}  // namespace tracing::v1::internal
