#include "testlog/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/nearest.h"

namespace testlog::inline v1 {

struct Input {
  Variable const& variable;
  std::string_view value;
  std::string& reports;

  // Reports that `piece` of the value is wrong.
  void reject(std::string_view piece, std::string_view what = "unknown value") const;
};

namespace {

using tracing::SpanEvents;

constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), is_control, '?');
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The words in backticks.
std::vector<std::string_view> words_of(std::string_view values) {
  std::vector<std::string_view> words;
  for (std::size_t begin; (begin = values.find('`')) != values.npos;) {
    std::size_t const end = values.find('`', begin + 1);
    words.push_back(values.substr(begin + 1, end - begin - 1));
    values.remove_prefix(end + 1);
  }
  return words;
}

// ---- parsers, named in variables.inc ----

// One of the variable's words; a number, as an enumerator has, is the place of the word in the list.
template <auto kMember>
void choice(Environment& environment, Input const& input) {
  auto& out = environment.*kMember;
  using T = std::remove_reference_t<decltype(out)>;
  auto const words = words_of(input.variable.values);
  auto const found = std::find(words.begin(), words.end(), input.value);
  if (found == words.end()) return input.reject(input.value);
  if constexpr (std::is_same_v<T, std::string>) {
    out = input.value;
  } else if constexpr (std::is_same_v<T, bool>) {
    out = found == words.begin();  // on, off
  } else {
    out = static_cast<T>(found - words.begin());
  }
}

template <auto kMember>
void text(Environment& environment, Input const& input) {
  environment.*kMember = input.value;
}

void filter(Environment& environment, Input const& input) {
  environment.filter_help = trimmed(input.value) == "help";
  if (environment.filter_help || !check_directives(input.value, input.variable.name, input.reports)) return;
  environment.filter = input.value;
}

void capture(Environment& environment, Input const& input) {
  if (!check_directives(input.value, input.variable.name, input.reports)) return;
  environment.capture_off = filter_of(input.value).max_level_hint() == tracing::LevelFilter::off;
  if (!environment.capture_off) environment.capture = input.value;
}

void span_events(Environment& environment, Input const& input) {
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
  environment.span_events = all;
}

void redact_token(Environment& environment, Input const& input) {
  if (std::any_of(input.value.begin(), input.value.end(), is_control))
    return input.reject(input.value, "contains a control character");
  environment.redact_token = input.value;
}

void perf(Environment& environment, Input const& input) { set_perf(environment.perf, input.value, input.reports); }

void perf_threshold(Environment& environment, Input const& input) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max() / 1000;  // as nanoseconds
  std::string_view const digits = trimmed(input.value);
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number > kMax)
    return input.reject(input.value, "not a valid number");
  environment.perf.threshold_us = number;
}

void perf_json(Environment& environment, Input const& input) { environment.perf.json = input.value; }
void perf_prometheus(Environment& environment, Input const& input) { environment.perf.prometheus = input.value; }
void no_color(Environment& environment, Input const&) { environment.no_color = true; }
void force_color(Environment& environment, Input const& input) { environment.force_color = input.value != "0"; }

// ---- tables ----

constexpr std::array kVariables{
#define TESTLOG_VARIABLE(name, values, default_value, help, ...) \
  Variable{#name, values, default_value, help, __VA_ARGS__},
#include "testlog/variables.inc"
#undef TESTLOG_VARIABLE
};
constexpr Variable const& kProfile = kVariables.front();

// clang-format off
constexpr std::array kProfileSettings{
    ProfileSetting{"ci", "TRACE_SHOW", "failed"},
    ProfileSetting{"ci", "TRACE_COLOR", "never"},
    ProfileSetting{"performance", "TRACE_PERF", "summary"},
    ProfileSetting{"performance", "TRACE_FILTER", "warn"},
    ProfileSetting{"performance", "TRACE_TIME", "uptime"},
};
// clang-format on

}  // namespace

void Input::reject(std::string_view piece, std::string_view what) const {
  reports.append("testlog: ").append(variable.name).append("=").append(printable(value)).append(": ").append(what);
  if (piece != value) reports.append(" \"").append(printable(piece)).append("\"");
  auto const words = words_of(variable.values);
  std::string expected = variable.values;
  std::erase(expected, '`');
  reports.append(variable.values[0] == '`' ? "; expected one of " : "; expected ").append(expected);
  std::string_view const meant = tracing::internal::nearest(piece, words);
  if (!meant.empty()) reports.append(" (did you mean ").append(meant).append("?)");
  reports += '\n';
}

std::span<Variable const> variables() noexcept { return kVariables; }
std::span<ProfileSetting const> profile_settings() noexcept { return kProfileSettings; }

Environment read_environment(char const* (*get)(char const* name), std::string& reports) {
  Environment environment;
  auto const is_set = [](char const* value) { return value != nullptr && *value != '\0'; };
  auto const set = [&](Variable const& variable, char const* value) {
    if (is_set(value)) variable.parse(environment, Input{variable, value, reports});
  };
  if (is_set(get("CI"))) environment.profile = "ci";
  set(kProfile, get(kProfile.name));
  for (Variable const& variable : kVariables) {
    for (ProfileSetting const& setting : kProfileSettings) {
      if (environment.profile == setting.profile && std::string_view(setting.variable) == variable.name)
        set(variable, setting.value);
    }
  }
  // The filter of a profile yields to the .default_filter of a test, TRACE_FILTER does not.
  if (environment.filter) environment.default_filter = *std::exchange(environment.filter, std::nullopt);
  for (Variable const& variable : std::span(kVariables).subspan(1)) set(variable, get(variable.name));
  PerfSettings& perf = environment.perf;
  if (!perf.is_set && (!perf.json.empty() || !perf.prometheus.empty())) perf.summary = true;
  return environment;
}

void report_misspelt_variables(char const* const* environment, std::string& reports) {
  constexpr std::string_view kPrefix = "TRACE_";
  std::vector<std::string_view> known;  // without the prefix, which would make all of them similar
  for (Variable const& variable : kVariables) {
    std::string_view const name = variable.name;
    if (name.starts_with(kPrefix)) known.push_back(name.substr(kPrefix.size()));
  }
  for (; *environment != nullptr; ++environment) {
    std::string_view const entry = *environment;
    std::size_t const end = entry.find('=');
    if (!entry.starts_with(kPrefix) || end >= entry.size() - 1) continue;  // an empty one counts as unset
    std::string_view const name = entry.substr(kPrefix.size(), end - kPrefix.size());
    std::string_view const meant = tracing::internal::nearest(name, known);
    if (meant.empty() || meant == name) continue;
    reports.append("testlog: ").append(kPrefix).append(printable(name)).append(": unknown variable; did you mean ");
    reports.append(kPrefix).append(meant).append("?\n");
  }
}

}  // namespace testlog::inline v1
