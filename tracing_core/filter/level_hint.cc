#include "tracing_core/filter/level_hint.h"

#include <array>

#include "tracing_core/filter/directive_scan.h"
#include "tracing_core/filter/nearest.h"
#include "tracing_core/model/level.h"

namespace tracing::inline v1::internal {
namespace {

constexpr std::array<std::string_view, 6> kLevels{"off", "error", "warn", "info", "debug", "trace"};

}  // namespace

std::string level_hint(std::string_view text) {
  Slice const word = trim(text, {0, text.size()});
  if (word.size < text.size() && parse_level_filter(text.substr(word.begin, word.size))) {
    return "blanks around \"=\" are not allowed";
  }
  std::string hint = "not a level; ";
  if (auto const meant = nearest(text, kLevels); !meant.empty()) {
    hint.append("did you mean \"").append(meant).append("\"? ");
  }
  return hint + "levels are off, error, warn, info, debug, trace or 0 to 5";
}

}  // namespace tracing::inline v1::internal
