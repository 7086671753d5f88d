#include "testlog/environment.h"

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/characters.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::EnvOptions;
using tracing::environment::check_directives;
using tracing::environment::filter_of;
using tracing::environment::parse_choice;
using tracing::environment::parse_text;
using tracing::environment::Variable;
using tracing::environment::VariableInput;

void parse_capture(EnvOptions& options, VariableInput const& input) {
  if (!check_directives(input.value, input.variable.name, input.reports)) return;
  auto& environment = static_cast<Environment&>(options);
  environment.capture_off = filter_of(input.value).max_level_hint() == tracing::LevelFilter::off;
  if (!environment.capture_off) environment.capture = input.value;
}

// Reads seconds, such as 2.5, or `off`.
template <auto kMember>
void parse_seconds(EnvOptions& options, VariableInput const& input) {
  if (auto const ns = input.read_seconds()) tracing::environment::member_of<kMember>(options) = *ns;
}

template <auto kMember>
void parse_number(EnvOptions& options, VariableInput const& input) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(input.value.data(), input.value.data() + input.value.size(), number);
  if (error != std::errc() || end != input.value.data() + input.value.size())
    return input.reject(input.value, "not a valid number");
  tracing::environment::member_of<kMember>(options) = number;
}

void parse_passed(EnvOptions& options, VariableInput const& input) {
  if (input.value.size() != 1 || !tracing::support::is_digit(input.value[0]))
    return input.reject(input.value, "not a valid number");
  tracing::environment::member_of<&Environment::record_passed>(options) =
      static_cast<std::uint64_t>(input.value[0] - '0');
}

void parse_perturb(EnvOptions& options, VariableInput const& input) {
  if (input.value == "off") return;
  auto const perturb = Perturbation::parse(input.value);
  if (perturb) {
    static_cast<Environment&>(options).perturb = perturb;
    return;
  }
  std::size_t const comma = input.value.find(',');
  bool const is_seed = Perturbation::parse(input.value.substr(0, comma)).has_value();
  if (!is_seed) return input.reject(input.value.substr(0, comma), "not a valid seed");
  input.reject(input.value.substr(comma + 1), "not 1 to 1000000 microseconds");
}

constexpr std::array kVariables{
#define TESTLOG_VARIABLE(name, values, default_value, help, ...) \
  Variable{#name, values, default_value, help, __VA_ARGS__},
#include "testlog/variables.inc"
#undef TESTLOG_VARIABLE
};

constexpr std::array kProfileSettings{
    tracing::environment::ProfileSetting{"ci", "TRACE_SHOW", "failed"},
};

// If a profile set TRACE_SHOW=failed, a filter undoes that, since TRACE_FILTER would have no effect otherwise. Without
// a filter, reports other variables whose output TRACE_SHOW hides.
void settle_show(Environment& environment, char const* (*get)(char const* name), std::string& reports) {
  auto const is_set_to = [get](char const* variable, std::string_view value) {
    char const* const set = get(variable);
    return set != nullptr && set == value;
  };
  if (environment.show != Show::failed || is_set_to("TRACE_SHOW", "failed")) return;
  if (environment.filter_is_set) {
    environment.show = Show::live;
    return;
  }
  tracing::InlineTextBuffer<256> hidden;
  auto const add = [&](bool is_hidden, char const* variable) {
    if (!is_hidden) return;
    if (!hidden.empty()) hidden.append(", ");
    hidden.append(variable);
    hidden.append("=");
    tracing::append_sanitized_in_line(hidden, get(variable));
  };
  add(environment.span_events != tracing::SpanEvents::none, "TRACE_SPAN_EVENTS");
  add(environment.perf.report, "TRACE_PERF");
  add(environment.output != "stderr" && environment.output != "stdout", "TRACE_OUTPUT");
  if (hidden.empty()) return;
  reports.append("testlog: ").append(hidden.view()).append(": tests that pass show no records, since ");
  reports.append(is_set_to("TRACE_PROFILE", "ci") ? "TRACE_PROFILE=ci sets" : "CI is set, which implies");
  reports.append(" TRACE_SHOW=failed; TRACE_SHOW=live shows them\n");
}

// Bazel keeps what a test leaves in a folder. Recordings of earlier runs are not there, so none of passing tests is
// kept.
void settle_bazel(Environment& environment, char const* (*get)(char const* name)) {
  char const* const folder = get("TEST_UNDECLARED_OUTPUTS_DIR");
  if (folder == nullptr || *folder == 0 || get("TRACE_RECORD") != nullptr || !environment.record_default.empty())
    return;
  environment.record_default = std::string(folder) + "/";
  if (get("TRACE_RECORD_PASSED") == nullptr) environment.record_passed = 0;
}

}  // namespace

tracing::environment::VariableTable test_variables() noexcept { return {kVariables, kProfileSettings}; }

Environment read_environment(char const* (*get)(char const* name), std::string& reports) {
  Environment environment;
  tracing::environment::read_variables({tracing::environment::common_variables(), test_variables()}, get, environment,
                                       reports);
  settle_show(environment, get, reports);
  settle_bazel(environment, get);
  return environment;
}

}}  // namespace testlog::v1
