#include "testlog/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "testlog/redacted_names.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/nearest.h"

namespace testlog::inline v1 {
namespace {

using tracing::ColorChoice;
using tracing::FormatKind;
using tracing::SpanEvents;

constexpr std::array<std::pair<std::string_view, Show>, 4> kShow{
    {{"live", Show::live}, {"failed", Show::failed}, {"all", Show::all}, {"none", Show::none}}};
constexpr std::array<std::pair<std::string_view, FormatKind>, 4> kFormat{
    {{"full", FormatKind::full}, {"compact", FormatKind::compact}, {"pretty", FormatKind::pretty}, {"json", FormatKind::json}}};
constexpr std::array<std::pair<std::string_view, TimeStyle>, 4> kTime{
    {{"utc", TimeStyle::utc}, {"local", TimeStyle::local}, {"uptime", TimeStyle::uptime}, {"none", TimeStyle::none}}};
constexpr std::array<std::pair<std::string_view, ColorChoice>, 3> kColor{
    {{"auto", ColorChoice::automatic}, {"always", ColorChoice::always}, {"never", ColorChoice::never}}};
constexpr std::array<std::pair<std::string_view, SpanEvents>, 7> kSpanEvents{{{"new", SpanEvents::new_span},
                                                                              {"enter", SpanEvents::enter},
                                                                              {"exit", SpanEvents::exit},
                                                                              {"close", SpanEvents::close},
                                                                              {"active", SpanEvents::active},
                                                                              {"full", SpanEvents::full},
                                                                              {"none", SpanEvents::none}}};

constexpr std::array<std::pair<std::string_view, CudaHealth>, 3> kCudaHealth{
    {{"on", CudaHealth::on}, {"stop", CudaHealth::stop}, {"off", CudaHealth::off}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kOnOff{{{"on", true}, {"off", false}}};

constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

using Wrong = std::optional<std::string_view>;
constexpr Wrong right = std::nullopt;

template <class T>
Wrong set_named(T& out, std::span<std::pair<std::string_view, std::type_identity_t<T>> const> names, std::string_view value) {
  auto const found = std::find_if(names.begin(), names.end(), [value](auto const& name) { return name.first == value; });
  if (found == names.end()) return value;
  out = found->second;
  return right;
}

bool is_blank(std::string_view list) { return list.find_first_not_of(" ,\t\r\n") == list.npos; }

Wrong set_span_events(Environment& environment, std::string_view list) {
  SpanEvents all = SpanEvents::none;
  while (!list.empty()) {
    std::size_t const comma = std::min(list.find(','), list.size());
    SpanEvents one{};
    if (Wrong const wrong = set_named(one, kSpanEvents, trimmed(list.substr(0, comma)))) return wrong;
    all = all | one;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  environment.span_events = all;
  return right;
}

// Every text that names a profile.
constexpr std::array<std::string_view, 3> kProfileNames{"local", "ci", "performance"};

constexpr std::array kProfileSettings{
    ProfileSetting{"ci", "TRACE_SHOW", "failed"},
    ProfileSetting{"ci", "TRACE_COLOR", "never"},
    ProfileSetting{"performance", "TRACE_PERF", "summary"},
    ProfileSetting{"performance", "TRACE_FILTER", "warn"},
    ProfileSetting{"performance", "TRACE_TIME", "uptime"},
};

// Where the first item of a list ends: at a comma outside of braces and quotes.
std::size_t end_of_item(std::string_view list) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    char const c = list[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{') ++depth;
    if (c == '}' && depth > 0) --depth;
    if (c == ',' && depth == 0) return i;
  }
  return list.size();
}

// A word that would be a directive about a target of that name, and is more likely meant as one of ours.
bool is_like_a_word_of_perf(std::string_view item) {
  std::string lower(item);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  // 1 would be the level error, which no perf span has of itself.
  constexpr std::array<std::string_view, 8> kWords{"off", "on", "summary", "true", "false", "yes", "no", "1"};
  constexpr std::array<std::string_view, 1> kLong{"summary"};
  bool const is_word = std::all_of(lower.begin(), lower.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end() ||
         (is_word && !tracing::internal::nearest(lower, {kLong.begin(), kLong.end()}).empty());
}

bool none_is_right(std::string_view directives) {
  std::vector<tracing::ParseError> errors;
  return tracing::EnvFilter::parse_lossy(directives, {}, &errors).to_string().empty();
}

// off, on, summary, directives; of these as many as one likes, and directives alone mean on. Directives of which none is right
// are as none: what else is said holds, or what held before.
Wrong set_perf(Environment& environment, std::string_view list) {
  if (is_blank(list)) return list;
  PerfSettings& perf = environment.perf;
  PerfSettings const before = perf;
  perf.is_set = true;
  perf.report = perf.summary = false;
  bool off = false, words = false;
  std::string directives;
  while (!list.empty()) {
    std::size_t const end = end_of_item(list);
    std::string_view const item = trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (item.empty()) continue;
    if (item == "off" || item == "on" || item == "summary") {
      words = true;
      off = off || item == "off";
      perf.report = perf.report || item == "on";
      perf.summary = perf.summary || item == "summary";
    } else if (is_like_a_word_of_perf(item)) {
      perf = before;
      return item;
    } else {
      if (!directives.empty()) directives += ',';
      directives += item;
    }
  }
  if (!directives.empty() && none_is_right(directives)) {
    if (!words) perf = before;
    perf.wrong = std::exchange(directives, {});
    if (!words) return right;
  }
  perf.directives = directives.empty() ? "trace" : directives;
  if (!words) perf.report = !directives.empty();
  if (off) perf.report = perf.summary = false;
  return right;
}

Wrong set_number(std::uint64_t& out, std::string_view value) {
  std::string_view const digits = trimmed(value);
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error == std::errc() && end == digits.data() + digits.size()) return right;
  out = 0;
  return value;
}

constexpr std::array kVariables{
    Variable{"TRACE_PROFILE", "local, ci, performance", "local, or ci where CI is set",
             [](Environment& e, std::string_view value) -> Wrong {
               if (std::find(kProfileNames.begin(), kProfileNames.end(), value) == kProfileNames.end()) return value;
               e.profile = value;
               return right;
             }},
    Variable{"TRACE_FILTER", "directives such as info,gpu=debug,[launch{stream=7}]=trace, or help", "info",
             [](Environment& e, std::string_view value) {
               e.filter_help = trimmed(value) == "help";
               if (!e.filter_help) e.filter = value;
               return right;
             }},
    Variable{"TRACE_SHOW", "live, failed, all, none", "live",
             [](Environment& e, std::string_view value) { return set_named(e.show, kShow, value); }},
    Variable{"TRACE_CAPTURE", "directives, or off", "trace",
             [](Environment& e, std::string_view value) {
               e.capture_off = trimmed(value) == "off";
               if (!e.capture_off) e.capture = value;
               return right;
             }},
    Variable{"TRACE_FORMAT", "full, compact, pretty, json", "full",
             [](Environment& e, std::string_view value) { return set_named(e.format, kFormat, value); }},
    Variable{"TRACE_SPAN_EVENTS", "new, enter, exit, close, active, full, none", "none",
             set_span_events},
    Variable{"TRACE_TIME", "utc, local, uptime, none", "utc",
             [](Environment& e, std::string_view value) { return set_named(e.time, kTime, value); }},
    Variable{"TRACE_COLOR", "auto, always, never", "auto",
             [](Environment& e, std::string_view value) { return set_named(e.color, kColor, value); }},
    Variable{"TRACE_OUTPUT", "stderr, stdout, or a path in which %p is the process and %t the test", "stderr",
             [](Environment& e, std::string_view value) {
               e.output = value;
               return right;
             }},
    Variable{"TRACE_CHROME", "a path in which %p is the process and %t the test, or a folder", "",
             [](Environment& e, std::string_view value) {
               e.chrome = value;
               return right;
             }},
    Variable{"TRACE_FLAME", "a path in which %p is the process and %t the test, or a folder", "",
             [](Environment& e, std::string_view value) {
               e.flame = value;
               return right;
             }},
    Variable{"TRACE_REDACT", "names of fields such as password,token", "none",
             [](Environment& e, std::string_view value) -> Wrong {
               if (is_blank(value)) return value;
               e.redact = value;
               return doubtful_name(value);
             }},
    Variable{"TRACE_REDACT_TOKEN", "texts of one line", "***REDACTED***",
             [](Environment& e, std::string_view value) -> Wrong {
               if (std::any_of(value.begin(), value.end(), is_control)) return value;
               e.redact_token = value;
               return right;
             }},
    Variable{"TRACE_PERF", "off, on, summary, or directives", "off", set_perf},
    Variable{"TRACE_PERF_THRESHOLD_US", "whole microseconds", "0",
             [](Environment& e, std::string_view value) -> Wrong {
               // As nanoseconds it is to have room in 63 bits.
               constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
               if (set_number(e.perf.threshold_us, value) == right && e.perf.threshold_us <= kMost) return right;
               e.perf.threshold_us = 0;
               return value;
             }},
    Variable{"TRACE_PERF_JSON", "a path in which %p is the process and %t the test", "",
             [](Environment& e, std::string_view value) {
               e.perf.json = value;
               return right;
             }},
    Variable{"TRACE_PERF_PROM", "a path in which %p is the process and %t the test", "",
             [](Environment& e, std::string_view value) {
               e.perf.prometheus = value;
               return right;
             }},
    Variable{"TRACE_SPDLOG", "on, off", "on",
             [](Environment& e, std::string_view value) { return set_named(e.spdlog, kOnOff, value); }},
    Variable{"TRACE_CUDA_HEALTH", "on, stop, off", "on",
             [](Environment& e, std::string_view value) { return set_named(e.cuda_health, kCudaHealth, value); }},
    Variable{"NO_COLOR", "anything", "",
             [](Environment& e, std::string_view) {
               e.no_color = true;
               return right;
             }},
    Variable{"CLICOLOR_FORCE", "anything but 0", "",
             [](Environment& e, std::string_view value) {
               e.force_color = value != "0";
               return right;
             }},
};

// The word for yes or no that is one of ours, or `word` itself.
std::string_view as_on_or_off(std::string_view word) {
  constexpr std::array<std::string_view, 3> kYes{"true", "yes", "1"}, kNo{"false", "no", "0"};
  if (std::find(kYes.begin(), kYes.end(), word) != kYes.end()) return "on";
  return std::find(kNo.begin(), kNo.end(), word) != kNo.end() ? "off" : word;
}

// The value that was meant, of those that stand before the comma where several are given.
std::string did_you_mean(std::string_view value, std::string_view values) {
  std::vector<std::string_view> candidates;
  for (std::size_t at = 0; at < values.size();) {
    std::size_t const comma = std::min(values.find(", ", at), values.size());
    std::string_view const one = values.substr(at, comma - at);
    if (one.find(' ') == one.npos) candidates.push_back(one);
    at = comma + 2;
  }
  std::string lower(value);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view const word = as_on_or_off(lower);
  bool const is_one = std::find(candidates.begin(), candidates.end(), word) != candidates.end();
  std::string_view const meant = is_one ? word : tracing::internal::nearest(value, candidates);
  return meant.empty() ? std::string() : "; did you mean \"" + std::string(meant) + "\"?";
}

// Likewise, of a value of TRACE_REDACT.
std::string did_you_mean_names(std::string_view value) {
  std::string const names = meant_names(value);
  if (value.find_first_of("*?") != value.npos) return "; names are whole words";
  return names.empty() ? std::string() : "; did you mean \"" + names + "\"?";
}

bool is_redact(Variable const& variable) { return std::string_view(variable.name) == "TRACE_REDACT"; }

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = is_control(c) ? '?' : c;
  return out;
}

}  // namespace

std::span<Variable const> variables() noexcept { return kVariables; }
std::span<ProfileSetting const> profile_settings() noexcept { return kProfileSettings; }

std::string in_words(PerfSettings const& settings) {
  std::string out = settings.report ? "on" : "";
  if (settings.summary) out += out.empty() ? "summary" : ",summary";
  if (out.empty()) return "off";
  return settings.directives == "trace" ? out : out + "," + settings.directives;
}

std::string BadValue::report() const {
  std::string out = "testlog: ";
  out.append(variable->name).append("=").append(printable(value));
  if (piece != value) out.append(": \"").append(printable(piece)).append("\"");
  out.append(" is none of ").append(variable->values);
  std::string const hint = is_redact(*variable) ? did_you_mean_names(value) : did_you_mean(piece, variable->values);
  out.append(printable(hint));
  if (!out.ends_with('?')) out += '.';
  return out.append(" Using ").append(used).append(".\n");
}

Environment read_environment(char const* (*get)(char const* name), std::vector<BadValue>& bad) {
  Environment environment;
  auto const in_place_of = [&](Variable const& variable) -> std::string {
    if (&variable == &kVariables.front()) return environment.profile;
    for (ProfileSetting const& setting : kProfileSettings) {
      if (environment.profile == setting.profile && std::string_view(setting.variable) == variable.name) return setting.value;
    }
    return variable.default_value;
  };
  auto const read = [&](Variable const& variable) {
    char const* const value = get(variable.name);
    if (value == nullptr || *value == '\0') return;
    auto const wrong = variable.set(environment, value);
    if (!wrong) return;
    bool const set_all_the_same = is_redact(variable) && !environment.redact.empty();
    bad.push_back({&variable, value, std::string(*wrong), set_all_the_same ? "it as it stands" : in_place_of(variable)});
  };
  if (char const* const ci = get("CI"); ci != nullptr && *ci != '\0') environment.profile = "ci";
  read(kVariables.front());
  for (ProfileSetting const& setting : kProfileSettings) {
    if (environment.profile != setting.profile) continue;
    auto const variable = std::find_if(kVariables.begin(), kVariables.end(),
                                       [&](Variable const& one) { return std::string_view(one.name) == setting.variable; });
    variable->set(environment, setting.value);
  }
  // A test's own default filter stands between the profile and the variable.
  if (environment.filter) environment.default_filter = *std::exchange(environment.filter, std::nullopt);
  for (Variable const& variable : std::span(kVariables).subspan(1)) read(variable);
  PerfSettings& perf = environment.perf;
  if (!perf.is_set && (!perf.json.empty() || !perf.prometheus.empty())) perf.summary = true;
  for (BadValue& one : bad) {
    if (std::string_view(one.variable->name) == "TRACE_PERF") one.used = in_words(perf);  // files may have turned it on
  }
  return environment;
}

}  // namespace testlog::inline v1
