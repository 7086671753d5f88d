// Declares RegexPattern, a compiled regular expression; RE2 stays behind it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tracing::inline v1::internal {

/// A compiled regular expression in Rust's syntax. Matching is linear in the text; thread-safe.
class RegexPattern {
 public:
  /// Null and a sentence in `error` where the pattern cannot be compiled.
  static std::shared_ptr<RegexPattern const> compile(std::string_view pattern, std::string& error);

  ~RegexPattern();
  RegexPattern(RegexPattern const&) = delete;
  RegexPattern& operator=(RegexPattern const&) = delete;

  std::string const& text() const noexcept { return text_; }
  /// Whether the first match, leftmost and by preference, ends where `text` ends.
  bool matches_until_end(std::string_view text) const noexcept;

 private:
  struct Compiled;
  RegexPattern(std::string_view pattern, std::unique_ptr<Compiled> compiled);

  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace tracing::inline v1::internal
