#include "tracing_core/filter/regex_pattern.h"

#include "tracing_core/filter/regex_syntax.h"

namespace tracing::inline v1::internal {

std::shared_ptr<RegexPattern const> RegexPattern::compile(std::string_view pattern, std::string& error) {
  auto const translated = to_re2_syntax(pattern, error);
  if (!translated) return nullptr;
  auto compiled = std::make_shared<RegexPattern const>(pattern, *translated);
  if (compiled->re_.ok()) return compiled;
  error = compiled->re_.error();
  return nullptr;
}

bool RegexPattern::matches_until_end(std::string_view text) const noexcept {
  re2::StringPiece const input(text.data(), text.size());
  re2::StringPiece match;
  if (!re_.Match(input, 0, input.size(), RE2::UNANCHORED, &match, 1)) return false;
  return match.data() + match.size() == input.data() + input.size();
}

}  // namespace tracing::inline v1::internal
