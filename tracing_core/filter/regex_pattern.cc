#include "tracing_core/filter/regex_pattern.h"

#include <re2/re2.h>

#include <utility>

#include "tracing_core/filter/regex_syntax.h"

namespace tracing::inline v1::internal {

struct RegexPattern::Compiled {
  Compiled(std::string const& pattern, RE2::Options const& options) : re(pattern, options) {}
  RE2 re;
};

std::shared_ptr<RegexPattern const> RegexPattern::compile(std::string_view pattern, std::string& error) {
  auto const translated = to_re2_syntax(pattern, error);
  if (!translated) return nullptr;
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<Compiled>(*translated, options);
  if (!compiled->re.ok()) {
    error = compiled->re.error();
    return nullptr;
  }
  return std::shared_ptr<RegexPattern const>(new RegexPattern(pattern, std::move(compiled)));
}

RegexPattern::RegexPattern(std::string_view pattern, std::unique_ptr<Compiled> compiled)
    : text_(pattern), compiled_(std::move(compiled)) {}
RegexPattern::~RegexPattern() = default;

bool RegexPattern::matches_until_end(std::string_view text) const noexcept {
  re2::StringPiece const input(text.data(), text.size());
  re2::StringPiece match;
  if (!compiled_->re.Match(input, 0, input.size(), RE2::UNANCHORED, &match, 1)) return false;
  return match.data() + match.size() == input.data() + input.size();
}

}  // namespace tracing::inline v1::internal
