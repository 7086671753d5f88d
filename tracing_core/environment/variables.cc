#include "tracing_core/environment/variables.h"

#include <stdlib.h>
#include <sys/auxv.h>

#include <algorithm>
#include <charconv>

#include "tracing_core/filter/nearest.h"
#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 { namespace environment {
namespace {

bool is_control_character(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), is_control_character, '?');
  return out;
}

bool is_set(char const* value) noexcept { return value != nullptr && *value != '\0'; }

Variable const* find(std::initializer_list<VariableTable> tables, std::string_view name) {
  for (VariableTable const& table : tables) {
    for (Variable const& variable : table.variables) {
      if (variable.name == name) return &variable;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view values) {
  std::vector<std::string_view> words;
  for (std::size_t begin; (begin = values.find('`')) != values.npos;) {
    std::size_t const end = values.find('`', begin + 1);
    words.push_back(values.substr(begin + 1, end - begin - 1));
    values.remove_prefix(end + 1);
  }
  return words;
}

void VariableInput::reject(std::string_view piece, std::string_view what, std::string_view hint) const {
  reports.append("testlog: ").append(variable.name).append("=").append(printable(value)).append(": ").append(what);
  if (piece != value) reports.append(" \"").append(printable(piece)).append("\"");
  auto const words = words_of(variable.values);
  std::string expected = variable.values;
  std::erase(expected, '`');
  reports.append(variable.values[0] == '`' ? "; expected one of " : "; expected ").append(expected);
  std::string_view const meant = internal::nearest(piece, words);
  if (!meant.empty()) {
    reports.append(" (did you mean ").append(meant).append("?)");
  } else if (!hint.empty()) {
    reports.append("; ").append(hint);
  }
  reports += '\n';
}

std::optional<std::uint64_t> VariableInput::read_size() const {
  std::string_view const text = trimmed(value);
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view const unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unsigned const shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  bool const is_unit = unit.empty() || shift != 0;
  if (error == std::errc() && is_unit && number != 0 && number <= (std::uint64_t{1} << 40 >> shift))
    return number << shift;
  reject(value, "not a valid size");
  return std::nullopt;
}

std::optional<std::uint64_t> VariableInput::read_seconds() const {
  constexpr double kMax = 1e9;
  double seconds = 0;
  char const* const last = value.data() + value.size();
  auto const [end, error] = std::from_chars(value.data(), last, seconds, std::chars_format::fixed);
  bool const is_number = error == std::errc() && end == last && seconds >= 0 && seconds <= kMax;
  if (is_number || value == "off") return static_cast<std::uint64_t>(seconds * 1e9);
  reject(value, "not a valid time");
  return std::nullopt;
}

void read_variables(std::initializer_list<VariableTable> tables, char const* (*get)(char const* name),
                    EnvOptions& options, std::string& reports) {
  auto const set = [&](Variable const& variable, char const* value) {
    if (is_set(value)) variable.parse(options, VariableInput{variable, value, reports});
  };
  constexpr std::string_view kProfile = "TRACE_PROFILE";
  if (is_set(get("CI"))) options.profile = "ci";
  set(*find(tables, kProfile), get(kProfile.data()));
  char const* const forced = get("CLICOLOR_FORCE");
  bool const is_forced = forced != nullptr && formatting::forces_color(forced);
  for (VariableTable const& table : tables) {
    for (ProfileSetting const& setting : table.profile_settings) {
      bool const is_overruled = is_forced && setting.variable == std::string_view("TRACE_COLOR");
      if (options.profile == setting.profile && !is_overruled) set(*find(tables, setting.variable), setting.value);
    }
  }
  options.filter_is_set = false;  // the filter of a profile yields to the .default_filter of a test
  for (VariableTable const& table : tables) {
    for (Variable const& variable : table.variables) {
      if (variable.name != kProfile) set(variable, get(variable.name));
    }
  }
  PerfSettings& perf = options.perf;
  if (!perf.is_set && (!perf.json.empty() || !perf.prometheus.empty())) perf.summary = true;
}

void report_misspelt_variables(std::initializer_list<VariableTable> tables, char const* const* environment,
                               std::string& reports) {
  constexpr std::string_view kPrefix = "TRACE_";
  std::vector<std::string_view> known;  // without the prefix, which would make all of them similar
  for (VariableTable const& table : tables) {
    for (Variable const& variable : table.variables) {
      std::string_view const name = variable.name;
      if (name.starts_with(kPrefix)) known.push_back(name.substr(kPrefix.size()));
    }
  }
  for (; *environment != nullptr; ++environment) {
    std::string_view const entry = *environment;
    std::size_t const end = entry.find('=');
    if (!entry.starts_with(kPrefix) || end >= entry.size() - 1) continue;  // an empty variable counts as unset
    std::string_view const name = entry.substr(kPrefix.size(), end - kPrefix.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string_view const meant = internal::nearest(name, known);
    if (meant.empty()) continue;
    reports.append("testlog: ").append(kPrefix).append(printable(name)).append(": unknown variable; did you mean ");
    reports.append(kPrefix).append(meant).append("?\n");
  }
}

char const* environment_variable(char const* name) noexcept { return secure_getenv(name); }

void report_ignored_variables(std::initializer_list<VariableTable> tables, char const* const* environment,
                              std::string& reports) {
  if (getauxval(AT_SECURE) == 0) return;
  for (; *environment != nullptr; ++environment) {
    std::string_view const name = std::string_view(*environment).substr(0, std::string_view(*environment).find('='));
    if (find(tables, name) == nullptr || !name.starts_with("TRACE_")) continue;
    reports.append("testlog: ")
        .append(name)
        .append(
            " and other variables are ignored: the program has rights that its user lacks "
            "(set-user-ID, set-group-ID or capabilities)\n");
    return;
  }
}

}}}  // namespace tracing::v1::environment
