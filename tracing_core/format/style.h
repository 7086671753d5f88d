// TextStyle: whether text is coloured and sanitized. decide_color(): whether a program should use colours.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing::inline v1 {

/// The style of fields and lines.
struct TextStyle {
  bool ansi = false;     ///< colours and bold by escape sequences
  bool sanitize = true;  ///< escape control characters in messages and error texts
  bool sanitize_names = true;  ///< escape these and line ends in names
  bool sanitize_values = false;  ///< escape these in all values, and indent further lines of messages and values
  bool shorten_span_values = false;  ///< print of a span's value that is longer only the first 4 KiB and the size
  bool all_values = false;  ///< of a field that was recorded several times each value, not only the last

  /// Whether messages and error texts are printed with escapes.
  constexpr bool sanitizes_text() const noexcept { return sanitize || sanitize_values; }

  friend constexpr bool operator==(TextStyle, TextStyle) noexcept = default;
};

/// An explicit choice.
enum class ColorChoice : std::uint8_t { automatic, always, never };

/// What decides under ColorChoice::automatic: environment variables as getenv() returns them, null if unset, and the
/// output.
struct ColorEnvironment {
  char const* no_color = nullptr;       ///< NO_COLOR: not empty means no colour
  char const* clicolor_force = nullptr; ///< CLICOLOR_FORCE: neither empty nor "0" means colour
  bool is_terminal = false;
};

/// Whether to use colour: the explicit choice, else NO_COLOR, else CLICOLOR_FORCE, else whether it is a terminal.
constexpr bool decide_color(ColorChoice choice, ColorEnvironment const& environment) noexcept {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (environment.no_color != nullptr && *environment.no_color != '\0') return false;
  if (environment.clicolor_force != nullptr) {
    std::string_view const force = environment.clicolor_force;
    if (!force.empty() && force != "0") return true;
  }
  return environment.is_terminal;
}

/// The same with the variables of this process; `descriptor` is the output.
bool decide_color(ColorChoice choice, int descriptor) noexcept;

}  // namespace tracing::inline v1
