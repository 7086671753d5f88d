#include "tracing_core/model/level.h"

#include <array>

namespace tracing { inline namespace v1 {
namespace {

constexpr std::array<std::string_view, 6> kFilterNames{"off", "error", "warn", "info", "debug", "trace"};
constexpr std::array<std::string_view, 6> kLevelNames{"OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
constexpr std::string_view kNoLevel =
    R"(error parsing level: expected one of "error", "warn", "info", "debug", "trace", or a number 1-5)";
constexpr std::string_view kNoLevelFilter =
    R"(error parsing level filter: expected one of "off", "error", "warn", "info", "debug", "trace", or a number 0-5)";

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) noexcept {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c != lower_case[i]) return false;
  }
  return true;
}

// Parses a number as Rust does for usize: an optional plus, then digits, with leading zeros allowed.
std::optional<unsigned> parse_small_number(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  unsigned value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 5) return std::nullopt;
  }
  return value;
}

std::optional<unsigned> parse_number_or_name(std::string_view text) noexcept {
  if (auto number = parse_small_number(text)) return number;
  for (unsigned i = 0; i < kFilterNames.size(); ++i) {
    if (equals_ignoring_case(text, kFilterNames[i])) return i;
  }
  return std::nullopt;
}

std::nullopt_t fail(std::string_view sentence, std::string_view* error) noexcept {
  if (error != nullptr) *error = sentence;
  return std::nullopt;
}

}  // namespace

std::string_view name(Level level) noexcept { return kLevelNames[static_cast<std::size_t>(level)]; }
std::string_view name(LevelFilter filter) noexcept { return kFilterNames[static_cast<std::size_t>(filter)]; }

std::optional<Level> parse_level(std::string_view text, std::string_view* error) noexcept {
  auto const number = parse_number_or_name(text);
  if (!number || *number == 0) return fail(kNoLevel, error);
  return static_cast<Level>(*number);
}

std::optional<LevelFilter> parse_level_filter(std::string_view text, std::string_view* error) noexcept {
  if (text.empty()) return LevelFilter::error;
  auto const number = parse_number_or_name(text);
  if (!number) return fail(kNoLevelFilter, error);
  return static_cast<LevelFilter>(*number);
}

}}  // namespace tracing::v1
