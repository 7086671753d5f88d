#include "testlog/environment.h"

#include <algorithm>
#include <array>
#include <utility>

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

using Wrong = std::optional<std::string_view>;
constexpr Wrong right = std::nullopt;

template <class T>
Wrong set_named(T& out, std::span<std::pair<std::string_view, std::type_identity_t<T>> const> names, std::string_view value) {
  auto const found = std::find_if(names.begin(), names.end(), [value](auto const& name) { return name.first == value; });
  if (found == names.end()) return value;
  out = found->second;
  return right;
}

std::string_view trimmed(std::string_view text) {
  std::size_t const begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

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

constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

constexpr std::array kVariables{
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
               if (value.find_first_not_of(" ,\t\r\n") == value.npos) return value;
               e.redact = value;
               return right;
             }},
    Variable{"TRACE_REDACT_TOKEN", "texts of one line", "***REDACTED***",
             [](Environment& e, std::string_view value) -> Wrong {
               if (std::any_of(value.begin(), value.end(), is_control)) return value;
               e.redact_token = value;
               return right;
             }},
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
  bool const only_case = std::find(candidates.begin(), candidates.end(), lower) != candidates.end();
  std::string_view const meant = only_case ? std::string_view(lower) : tracing::internal::nearest(value, candidates);
  return meant.empty() ? std::string() : "; did you mean \"" + std::string(meant) + "\"?";
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = is_control(c) ? '?' : c;
  return out;
}

}  // namespace

std::span<Variable const> variables() noexcept { return kVariables; }

std::string BadValue::report() const {
  std::string out = "testlog: ";
  out.append(variable->name).append("=").append(printable(value));
  if (piece != value) out.append(": \"").append(printable(piece)).append("\"");
  out.append(" is none of ").append(variable->values);
  std::string const hint = did_you_mean(piece, variable->values);
  out.append(hint.empty() ? "." : hint);
  return out.append(" Using ").append(variable->default_value).append(".\n");
}

Environment read_environment(char const* (*get)(char const* name), std::vector<BadValue>& bad) {
  Environment environment;
  for (Variable const& variable : kVariables) {
    char const* const value = get(variable.name);
    if (value == nullptr || *value == '\0') continue;
    if (auto const wrong = variable.set(environment, value)) bad.push_back({&variable, value, std::string(*wrong)});
  }
  return environment;
}

}  // namespace testlog::inline v1
