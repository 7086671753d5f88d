// Declares TextStyle, whether text is coloured and made safe, and how a program decides on colour.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing::inline v1 {

/// How fields and lines are dressed.
struct TextStyle {
  bool ansi = false;     ///< colours and bold by escape sequences
  bool sanitize = true;  ///< escape sequences inside messages and error texts are made visible
  bool sanitize_names = true;  ///< these and line ends in names, too

  friend constexpr bool operator==(TextStyle, TextStyle) noexcept = default;
};

/// What somebody asked for explicitly.
enum class ColorChoice : std::uint8_t { automatic, always, never };

/// What decides where nobody asked: environment variables as getenv() returns them, null where unset, and the output.
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

/// The same with the variables of this process and what `descriptor` is.
bool decide_color(ColorChoice choice, int descriptor) noexcept;

}  // namespace tracing::inline v1
