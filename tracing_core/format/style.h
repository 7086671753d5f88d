// TextStyle: how text is coloured and sanitized. decide_color(): decides if a program should use colours.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// The style of fields and lines.
struct TextStyle {
  bool ansi = false;                 ///< colours and bold by escape sequences
  bool sanitize = true;              ///< escape control characters in messages and error texts
  bool sanitize_names = true;        ///< escape control characters and line ends in names
  bool sanitize_values = false;      ///< escape them in all values, and indent further lines of messages and values
  bool shorten_span_values = false;  ///< print only the first 4 KiB, and the size, of longer values of spans
  bool all_values = false;  ///< print each value of a field that was recorded several times, not only the last value

  /// Returns true if messages and error texts are printed with escapes.
  constexpr bool sanitizes_text() const noexcept { return sanitize || sanitize_values; }

  friend constexpr bool operator==(TextStyle, TextStyle) noexcept = default;
};

/// A user's explicit choice.
enum class ColorChoice : std::uint8_t { automatic, always, never };

/// The input of ColorChoice::automatic: environment variables as getenv() returns them, null if unset, and the output.
struct ColorEnvironment {
  char const* no_color = nullptr;        ///< NO_COLOR; colour is off if it is not empty
  char const* clicolor_force = nullptr;  ///< CLICOLOR_FORCE; colour is on if it is neither empty nor "0"
  bool is_terminal = false;
};

namespace formatting {

/// Returns true if this value of CLICOLOR_FORCE turns colour on.
constexpr bool forces_color(std::string_view clicolor_force) noexcept {
  return !clicolor_force.empty() && clicolor_force != "0";
}

}  // namespace formatting

/// Returns true if colour should be used. Decides by the first of these that is set: the explicit choice, NO_COLOR,
/// CLICOLOR_FORCE; otherwise uses colour if the output is a terminal.
constexpr bool decide_color(ColorChoice choice, ColorEnvironment const& environment) noexcept {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (environment.no_color != nullptr && *environment.no_color != '\0') return false;
  if (environment.clicolor_force != nullptr && formatting::forces_color(environment.clicolor_force)) return true;
  return environment.is_terminal;
}

/// Decides with the variables of this process; `descriptor` is the output.
bool decide_color(ColorChoice choice, int descriptor) noexcept;

}}  // namespace tracing::v1
