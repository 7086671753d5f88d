// The escape sequences of the formats.
#pragma once

#include <string_view>

#include "tracing_core/model/level.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace formatting {

inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kDim = "\x1b[2m";
inline constexpr std::string_view kItalic = "\x1b[3m";
inline constexpr std::string_view kDimItalic = "\x1b[2;3m";
inline constexpr std::string_view kReset = "\x1b[0m";

// Appends `prefix text ESC[0m`, or only the text.
inline void append_painted(TextBuffer& out, bool ansi, std::string_view prefix, std::string_view text) noexcept {
  if (!ansi) [[likely]]
    return out.append(text);
  out.append(prefix);
  out.append(text);
  out.append(kReset);
}

constexpr std::string_view level_color(Level level) noexcept {
  constexpr std::string_view kColors[] = {"", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[34m", "\x1b[35m"};
  return kColors[static_cast<std::size_t>(level)];
}
constexpr std::string_view bold_level_color(Level level) noexcept {
  constexpr std::string_view kColors[] = {"", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;32m", "\x1b[1;34m", "\x1b[1;35m"};
  return kColors[static_cast<std::size_t>(level)];
}

// Returns the level's name aligned to five characters, then padded to eight.
constexpr std::string_view aligned_level(Level level) noexcept {
  constexpr std::string_view kNames[] = {"        ", "ERROR   ", " WARN   ", " INFO   ", "DEBUG   ", "TRACE   "};
  return kNames[static_cast<std::size_t>(level)];
}

}}}  // namespace tracing::v1::formatting
