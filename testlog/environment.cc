#include "testlog/environment.h"

#include <array>
#include <charconv>
#include <system_error>

namespace testlog::inline v1 {
namespace {

using tracing::EnvOptions;
using tracing::internal::check_directives;
using tracing::internal::filter_of;
using tracing::internal::parse_choice;
using tracing::internal::parse_text;
using tracing::internal::Variable;
using tracing::internal::VariableInput;

void parse_capture(EnvOptions& options, VariableInput const& input) {
  if (!check_directives(input.value, input.variable.name, input.reports)) return;
  auto& environment = static_cast<Environment&>(options);
  environment.capture_off = filter_of(input.value).max_level_hint() == tracing::LevelFilter::off;
  if (!environment.capture_off) environment.capture = input.value;
}

// Seconds, such as 2.5; or off.
template <auto kMember>
void parse_seconds(EnvOptions& options, VariableInput const& input) {
  constexpr double kMax = 1e9;
  double seconds = 0;
  char const* const last = input.value.data() + input.value.size();
  auto const [end, error] = std::from_chars(input.value.data(), last, seconds, std::chars_format::fixed);
  bool const is_number = error == std::errc() && end == last && seconds >= 0 && seconds <= kMax;
  if (!is_number && input.value != "off") return input.reject(input.value, "not a valid time");
  tracing::internal::member_of<kMember>(options) = static_cast<std::uint64_t>(seconds * 1e9);
}

void parse_report_lines(EnvOptions& options, VariableInput const& input) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(input.value.data(), input.value.data() + input.value.size(), number);
  if (error != std::errc() || end != input.value.data() + input.value.size())
    return input.reject(input.value, "not a valid number");
  static_cast<Environment&>(options).report_lines = number;
}

constexpr std::array kVariables{
#define TESTLOG_VARIABLE(name, values, default_value, help, ...) \
  Variable{#name, values, default_value, help, __VA_ARGS__},
#include "testlog/variables.inc"
#undef TESTLOG_VARIABLE
};

constexpr std::array kProfileSettings{
    tracing::internal::ProfileSetting{"ci", "TRACE_SHOW", "failed"},
};

}  // namespace

tracing::internal::VariableTable test_variables() noexcept { return {kVariables, kProfileSettings}; }

Environment read_environment(char const* (*get)(char const* name), std::string& reports) {
  Environment environment;
  tracing::internal::read_variables({tracing::internal::common_variables(), test_variables()}, get, environment,
                                    reports);
  return environment;
}

}  // namespace testlog::inline v1
