// The variables that every program reads: their parsers, and the table of the rows of variables.inc.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/environment/variables.h"
#include "tracing_core/format/style.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

// ---- parsers, named in variables.inc ----

void parse_filter(EnvOptions& options, VariableInput const& input) {
  options.filter_help = trimmed(input.value) == "help";
  if (options.filter_help || !check_directives(input.value, input.variable.name, input.reports)) return;
  options.filter = input.value;
  options.filter_is_set = true;
}

// The hint is for people who mean a profile in the sense of profiling.
void parse_profile(EnvOptions& options, VariableInput const& input) {
  auto const words = words_of(input.variable.values);
  bool const is_known = std::find(words.begin(), words.end(), input.value) != words.end();
  if (!is_known)
    return input.reject(input.value, "unknown value",
                        "TRACE_PERFETTO, TRACE_XPLANE and TRACE_CHROME write profiles to files");
  options.profile = input.value;
}

void parse_span_events(EnvOptions& options, VariableInput const& input) {
  constexpr std::array kEvents{SpanEvents::new_span, SpanEvents::enter, SpanEvents::exit, SpanEvents::close,
                               SpanEvents::active,   SpanEvents::full,  SpanEvents::none};
  auto const words = words_of(input.variable.values);
  SpanEvents all = SpanEvents::none;
  for (std::string_view list = input.value; !list.empty();) {
    std::size_t const comma = std::min(list.find(','), list.size());
    std::string_view const word = trimmed(list.substr(0, comma));
    auto const found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return input.reject(word);
    all = all | kEvents.at(static_cast<std::size_t>(found - words.begin()));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  options.span_events = all;
}

void parse_redact_token(EnvOptions& options, VariableInput const& input) {
  auto const is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(input.value.begin(), input.value.end(), is_control))
    return input.reject(input.value, "contains a control character");
  options.redact_token = input.value;
}

void parse_record_limit(EnvOptions& options, VariableInput const& input) {
  options.record_limit = input.read_size().value_or(options.record_limit);
}

void parse_perf(EnvOptions& options, VariableInput const& input) { set_perf(options.perf, input.value, input.reports); }

void parse_perf_threshold(EnvOptions& options, VariableInput const& input) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max() / 1000;  // as nanoseconds
  std::string_view const digits = trimmed(input.value);
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number > kMax)
    return input.reject(input.value, "not a valid number");
  options.perf.threshold_us = number;
}

void parse_perf_json(EnvOptions& options, VariableInput const& input) { options.perf.json = input.value; }
void parse_perf_prometheus(EnvOptions& options, VariableInput const& input) { options.perf.prometheus = input.value; }
// Only programs that use the CPU backend read these variables, and report bad values.
void read_by_cpu_backend(EnvOptions&, VariableInput const&) {}

void parse_no_color(EnvOptions& options, VariableInput const&) { options.no_color = true; }
void parse_force_color(EnvOptions& options, VariableInput const& input) {
  options.force_color = formatting::forces_color(input.value);
}

void parse_traceparent(EnvOptions& options, VariableInput const& input) {
  std::string_view what;
  if (!environment::parse_traceparent(input.value, what)) return input.reject(input.value, what);
  options.traceparent = input.value;
}

// Without TRACEPARENT, which comes first, the variable says nothing.
void parse_tracestate(EnvOptions& options, VariableInput const& input) {
  if (options.traceparent.empty()) return;
  std::string_view const problem = problem_of_tracestate(input.value);
  if (!problem.empty()) return input.reject(input.value, problem);
  options.tracestate = input.value;
}

constexpr std::array kVariables{
#define TESTLOG_VARIABLE(name, values, default_value, help, ...) \
  Variable{#name, values, default_value, help, __VA_ARGS__},
#include "tracing_core/environment/variables.inc"
#undef TESTLOG_VARIABLE
};

// clang-format off
constexpr std::array kProfileSettings{
    ProfileSetting{"local", "TRACE_FORMAT", "pretty"},
    ProfileSetting{"ci", "TRACE_COLOR", "never"},
    ProfileSetting{"performance", "TRACE_FORMAT", "json"},
    ProfileSetting{"performance", "TRACE_PERF", "on,summary"},
};
// clang-format on

}  // namespace

VariableTable common_variables() noexcept { return {kVariables, kProfileSettings}; }

}}}  // namespace tracing::v1::environment
