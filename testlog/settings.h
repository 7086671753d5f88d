// Settings: what TEST_LOG says about a test.
#pragma once

#include <optional>
#include <string_view>

#include "tracing_core/model/level.h"

namespace testlog { inline namespace v1 {

/// The settings of TEST_LOG(Suite, Name, .default_filter = "gpu=debug", .fail_on = warn, .perf = true); all are
/// optional, in this order.
struct Settings {
  /// Directives that select what is shown while the test runs, unless TRACE_FILTER is set. The text must live as long
  /// as the program.
  std::string_view default_filter{};
  /// The test fails at its end if it recorded an event of this level or a more severe one.
  std::optional<tracing::v1::Level> fail_on{};  // tracing_optional.h may have a Level, too
  /// Perf spans are on while the test runs, as with TRACE_PERF=on, whatever TRACE_PERF says.
  std::optional<bool> perf{};
};

/// Returns the settings of a test, by its names as GoogleTest prints them. Settings that the test leaves open come from
/// its suite. All instances of a parameterised or typed test have the settings of the test.
Settings settings_of(std::string_view suite, std::string_view name, bool typed) noexcept;

namespace internal {

/// Registers settings in a static initialiser. With an empty name they are for all tests of the suite. Both names must
/// live as long as the program.
class RegisteredSettings {
 public:
  RegisteredSettings(std::string_view suite, std::string_view name, Settings settings) noexcept;
  RegisteredSettings(RegisteredSettings const&) = delete;
  RegisteredSettings& operator=(RegisteredSettings const&) = delete;

 private:
  friend Settings v1::settings_of(std::string_view, std::string_view, bool) noexcept;

  std::string_view suite_;
  std::string_view name_;
  Settings settings_;
  RegisteredSettings const* next_;
};

}  // namespace internal
}}  // namespace testlog::v1
