#include "tracing_core/environment/perf_settings.h"

#include <vector>

#include "tracing_core/filter/directive_scan.h"

namespace tracing { inline namespace v1 { namespace environment {

EnvFilter filter_of(std::string_view directives) {
  std::vector<ParseError> ignored;
  return EnvFilter::parse_lossy(directives, {}, &ignored);
}

bool check_directives(std::string_view directives, std::string_view variable, std::string& reports) {
  std::vector<ParseError> errors;
  bool const any_is_valid = !EnvFilter::parse_lossy(directives, {}, &errors).to_string().empty();
  for (auto const& error : errors) {
    reports.append("testlog: ").append(render(error, directives, variable)).append("\n");
  }
  return any_is_valid;
}

// Reads `off`, `on`, `summary` and directives in any combination; directives without a word mean `on`.
void set_perf(PerfSettings& settings, std::string_view value, std::string& reports) {
  bool off = false, on = false, summary = false;
  std::string directives;
  for (auto const& slice : internal::split_directives(value)) {
    std::string_view const item = value.substr(slice.begin, slice.size);
    off = off || item == "off";
    on = on || item == "on";
    summary = summary || item == "summary";
    if (item == "off" || item == "on" || item == "summary") continue;
    if (!directives.empty()) directives += ',';
    directives += item;
  }
  if (!directives.empty() && !check_directives(directives, "TRACE_PERF", reports)) directives.clear();
  bool const has_word = off || on || summary;
  if (!has_word && directives.empty()) return;  // as if it were not set
  settings.is_set = true;
  settings.report = !off && (on || !has_word);
  settings.summary = !off && summary;
  settings.directives = directives.empty() ? "debug" : directives;
}

}}}  // namespace tracing::v1::environment
