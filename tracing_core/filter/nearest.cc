#include "tracing_core/filter/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tracing_core/filter/directive_scan.h"
#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::size_t kMaxComparedBytes = 64;

char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) noexcept {
  a = a.substr(0, kMaxComparedBytes);
  b = b.substr(0, kMaxComparedBytes);
  using Row = std::array<std::size_t, kMaxComparedBytes + 1>;
  Row before_last{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      char const x = to_lower(a[i - 1]), y = to_lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == to_lower(b[j - 2]) && y == to_lower(a[i - 2])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view name, std::span<std::string_view const> candidates) noexcept {
  std::size_t best = std::clamp<std::size_t>(name.size() / 3, 1, 4) + 1;
  std::string_view found;
  for (std::string_view candidate : candidates) {
    std::size_t const distance = edit_distance(name, candidate);
    if (distance < best) best = distance, found = candidate;
  }
  return found;
}

std::string_view nearest_level(std::string_view text) noexcept {
  constexpr std::string_view kLevels[] = {"off", "error", "warn", "info", "debug", "trace"};
  return nearest(text, kLevels);
}

std::string level_hint(std::string_view text) {
  Slice const word = trim(text, {0, text.size()});
  if (word.size < text.size() && parse_level_filter(text.substr(word.begin, word.size))) {
    return "blanks around \"=\" are not allowed";
  }
  std::string hint = "not a level; ";
  if (auto const meant = nearest_level(text); !meant.empty()) {
    hint.append("did you mean \"").append(meant).append("\"? ");
  }
  return hint + "levels are off, error, warn, info, debug, trace or 0 to 5";
}

}}}  // namespace tracing::v1::internal
