// RegexPattern: a compiled regular expression.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/filter/pattern/pattern_budget.h"

namespace tracing { inline namespace v1 { namespace internal {

/// A compiled regular expression in Rust's syntax. Matching is linear in the text; thread-safe.
class RegexPattern {
 public:
  /// If the pattern cannot be compiled within the budget, returns null and sets `error` to the reason.
  static std::shared_ptr<RegexPattern const> compile(std::string_view pattern, PatternBudget& budget,
                                                     std::string& error);

  // Is used by compile(). `translated` is the pattern in RE2's syntax.
  RegexPattern(std::string_view pattern, std::string const& translated, std::int64_t max_bytes);

  std::string const& text() const noexcept { return text_; }
  /// True if the leftmost-first match ends at the end of `text`. False if memory runs out.
  bool matches_until_end(std::string_view text) const noexcept;

 private:
  std::string text_;
  RE2 re_;
};

}}}  // namespace tracing::v1::internal
