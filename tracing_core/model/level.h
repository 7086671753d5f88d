// Level: how important a record is. LevelFilter: the most verbose level that passes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tracing_core/support/cxx20.h"

// A user's `#define debug 0` before this header must not break it, and must still be defined after it.
#pragma push_macro("error")
#pragma push_macro("warn")
#pragma push_macro("info")
#pragma push_macro("debug")
#pragma push_macro("trace")
#pragma push_macro("off")
#undef error
#undef warn
#undef info
#undef debug
#undef trace
#undef off

namespace tracing { inline namespace v1 {

/// How important a record is. A larger value is more verbose, so `level <= filter` reads "passes".
enum class Level : std::uint8_t { error = 1, warn, info, debug, trace };

/// The most verbose level that passes; `off` lets nothing pass.
enum class LevelFilter : std::uint8_t { off, error, warn, info, debug, trace };

/// Returns the filter that lets `level` and everything more important pass.
constexpr LevelFilter as_filter(Level level) noexcept { return static_cast<LevelFilter>(level); }

constexpr std::strong_ordering operator<=>(Level a, LevelFilter b) noexcept {
  return static_cast<std::uint8_t>(a) <=> static_cast<std::uint8_t>(b);
}
constexpr bool operator==(Level a, LevelFilter b) noexcept { return (a <=> b) == 0; }

/// Returns "ERROR", "WARN", "INFO", "DEBUG" or "TRACE".
std::string_view name(Level level) noexcept;
/// Returns "off", "error", "warn", "info", "debug" or "trace".
std::string_view name(LevelFilter filter) noexcept;

/// Parses a level name in any case, or a number from 1 (error) to 5 (trace), without trimming. For any other text
/// returns nothing and sets `error` to a string literal, a sentence that lists the valid texts.
std::optional<Level> parse_level(std::string_view text, std::string_view* error = nullptr) noexcept;
/// As parse_level(); also accepts "off", 0, and the empty text, which means error.
std::optional<LevelFilter> parse_level_filter(std::string_view text, std::string_view* error = nullptr) noexcept;

namespace internal {
// The levels of TRACE_INFO and the other macros named after a level.
inline constexpr Level level_error = Level::error;
inline constexpr Level level_warn = Level::warn;
inline constexpr Level level_info = Level::info;
inline constexpr Level level_debug = Level::debug;
inline constexpr Level level_trace = Level::trace;
// The macros paste the level's word onto `a_level_comes_first_not_`. For any other word, the compiler's error message
// shows this name.
inline constexpr Level a_level_comes_first_not_error = Level::error;
inline constexpr Level a_level_comes_first_not_warn = Level::warn;
inline constexpr Level a_level_comes_first_not_info = Level::info;
inline constexpr Level a_level_comes_first_not_debug = Level::debug;
inline constexpr Level a_level_comes_first_not_trace = Level::trace;
// The macros paste TRACING_MAX_LEVEL onto `max_level_`.
inline constexpr LevelFilter max_level_off = LevelFilter::off;
inline constexpr LevelFilter max_level_error = LevelFilter::error;
inline constexpr LevelFilter max_level_warn = LevelFilter::warn;
inline constexpr LevelFilter max_level_info = LevelFilter::info;
inline constexpr LevelFilter max_level_debug = LevelFilter::debug;
inline constexpr LevelFilter max_level_trace = LevelFilter::trace;
}  // namespace internal
}}  // namespace tracing::v1

#pragma pop_macro("error")
#pragma pop_macro("warn")
#pragma pop_macro("info")
#pragma pop_macro("debug")
#pragma pop_macro("trace")
#pragma pop_macro("off")
