// RegexPattern: a compiled regular expression, without RE2's headers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// A compiled regular expression in Rust's syntax. Matching is linear in the text; thread-safe.
class RegexPattern {
 public:
  /// If the pattern cannot be compiled, returns null and sets `error` to the reason.
  static std::shared_ptr<RegexPattern const> compile(std::string_view pattern, std::string& error);

  ~RegexPattern();
  RegexPattern(RegexPattern const&) = delete;
  RegexPattern& operator=(RegexPattern const&) = delete;

  std::string const& text() const noexcept { return text_; }
  /// True if the leftmost-first match ends at the end of `text`.
  bool matches_until_end(std::string_view text) const noexcept;

 private:
  struct Compiled;
  RegexPattern(std::string_view pattern, std::unique_ptr<Compiled> compiled);

  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace tracing::inline v1::internal
