#include "tracing_core/filter/pattern/regex_pattern.h"

#include <algorithm>
#include <new>

#include "tracing_core/filter/pattern/regex_syntax.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// The memory that RE2 takes for a Unicode class while it parses a pattern. RE2's own limit does not include it.
constexpr std::int64_t kClassBytes = 16 * 1024;

RE2::Options options_with(std::int64_t max_bytes) {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(max_bytes);
  return options;
}

// Returns a lower bound. It does no harm to count a backslash that is itself escaped.
std::int64_t estimate_bytes(std::string_view translated) noexcept {
  std::int64_t bytes = PatternBudget::kMinBytes;
  for (std::size_t i = 0; i + 1 < translated.size(); ++i) {
    if (translated[i] == '\\' && (translated[i + 1] == 'p' || translated[i + 1] == 'P')) bytes += kClassBytes;
  }
  return bytes;
}

}  // namespace

RegexPattern::RegexPattern(std::string_view pattern, std::string const& translated, std::int64_t max_bytes)
    : text_(pattern), re_(translated, options_with(max_bytes)) {}

std::shared_ptr<RegexPattern const> RegexPattern::compile(std::string_view pattern, PatternBudget& budget,
                                                          std::string& error) {
  budget.exceeded = pattern.size() > PatternBudget::kMaxTextBytes;
  if (budget.exceeded) {
    error = "the pattern is longer than 4096 bytes";
    return nullptr;
  }
  auto const translated = to_re2_syntax(pattern, error);
  if (!translated) return nullptr;
  // RE2 does not say how much memory a pattern needs, so the limit is raised until the pattern fits.
  std::int64_t const most = std::min(budget.left_bytes, PatternBudget::kMaxBytes);
  std::int64_t const first = std::max(estimate_bytes(*translated), std::min(budget.share_bytes(), most));
  for (std::int64_t bytes = first; bytes <= most; bytes = std::min(bytes * 4, most)) {
    auto compiled = std::make_shared<RegexPattern const>(pattern, *translated, bytes);
    bool const is_too_large = compiled->re_.error_code() == RE2::ErrorPatternTooLarge;
    if (is_too_large && bytes < most) continue;
    budget.left_bytes -= bytes;
    if (compiled->re_.ok()) return compiled;
    if (is_too_large) break;
    error = compiled->re_.error();
    return nullptr;
  }
  budget.exceeded = true;
  error = most < PatternBudget::kMaxBytes ? "the patterns of the filter take more than 8 MiB"
                                          : "the pattern takes more than 2 MiB";
  return nullptr;
}

bool RegexPattern::matches_until_end(std::string_view text) const noexcept {
  re2::StringPiece const input(text.data(), text.size());
  re2::StringPiece match;
  try {
    if (!re_.Match(input, 0, input.size(), RE2::UNANCHORED, &match, 1)) return false;
  } catch (std::bad_alloc const&) {
    return false;
  }
  return match.data() + match.size() == input.data() + input.size();
}

}}}  // namespace tracing::v1::internal
