// Environment: the settings that the TRACE_ variables make. The table of variables is variables.inc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "testlog/perf_settings.h"
#include "tracing_core/export/print.h"
#include "tracing_core/model/redaction.h"

namespace testlog::inline v1 {

// The enumerators of a setting have the order of the values in variables.inc.

/// When text is printed.
enum class Show : std::uint8_t {
  live,    ///< as it happens; a failing test prints the rest at its end
  failed,  ///< only failing tests, at their end
  all,     ///< every test, at its end
  none,    ///< nothing
};
/// What testlog::cuda does after each test.
enum class DeviceCheck : std::uint8_t {
  on,    ///< checks the devices; the first test that broke one fails
  stop,  ///< the same, and no test runs after that one
  off,   ///< nothing
};
enum class TimeStyle : std::uint8_t { utc, local, uptime, none };
/// Which lines of text name their thread.
enum class ThreadLabels : std::uint8_t {
  automatic,  ///< those of threads other than the one that runs the tests
  on,         ///< all
  off,        ///< none
};

/// The settings of a process. Directives are kept as text, of which at least one directive is valid.
struct Environment {
  std::string profile = "local";                                 ///< TRACE_PROFILE
  std::optional<std::string> filter;                             ///< TRACE_FILTER, unless `help`
  std::string default_filter = "info";                           ///< the filter if TRACE_FILTER is unset
  bool filter_help = false;                                      ///< TRACE_FILTER=help
  Show show = Show::live;                                        ///< TRACE_SHOW
  std::string capture = "trace";                                 ///< TRACE_CAPTURE, unless it selects nothing
  bool capture_off = false;                                      ///< TRACE_CAPTURE selects nothing
  tracing::LevelFilter fail_on = tracing::LevelFilter::off;      ///< TRACE_FAIL_ON
  tracing::FormatKind format = tracing::FormatKind::full;        ///< TRACE_FORMAT
  tracing::SpanEvents span_events = tracing::SpanEvents::none;   ///< TRACE_SPAN_EVENTS
  TimeStyle time = TimeStyle::utc;                               ///< TRACE_TIME
  ThreadLabels threads = ThreadLabels::automatic;                ///< TRACE_THREADS
  tracing::ColorChoice color = tracing::ColorChoice::automatic;  ///< TRACE_COLOR
  bool no_color = false;                                         ///< NO_COLOR
  bool force_color = false;                                      ///< CLICOLOR_FORCE, unless 0
  std::string output = "stderr";                       ///< TRACE_OUTPUT: stderr, stdout or a path with %p and %t
  std::string chrome;                                  ///< TRACE_CHROME: a path with %p and %t, or a folder
  std::string flame;                                   ///< TRACE_FLAME: likewise
  bool flame_idle = false;                             ///< TRACE_FLAME_IDLE
  bool spdlog = true;                                  ///< TRACE_SPDLOG
  DeviceCheck device_check = DeviceCheck::on;          ///< TRACE_CUDA_HEALTH
  std::string redact;                                  ///< TRACE_REDACT: names separated by commas
  std::string redact_token{tracing::kRedactionToken};  ///< TRACE_REDACT_TOKEN
  PerfSettings perf;                                   ///< TRACE_PERF, TRACE_PERF_THRESHOLD_US, ...
};

/// A value that is being read, and where to report that it is wrong.
struct Input;

/// A row of variables.inc. The texts are Markdown.
struct Variable {
  char const* name;
  char const* values;  ///< the words it takes, each in backticks, or a description
  char const* default_value;
  char const* help;
  void (*parse)(Environment& environment, Input const& input);
};

/// Every variable that is read, in the order of variables.inc.
std::span<Variable const> variables() noexcept;

/// A variable that a profile sets, unless the environment sets it.
struct ProfileSetting {
  char const* profile;
  char const* variable;
  char const* value;
};

/// Everything that profiles set.
std::span<ProfileSetting const> profile_settings() noexcept;

/// Reads all variables by `get`, which returns null for one that is not set. An empty variable, and one with a bad
/// value, counts as unset. Appends a line about each bad value to `reports`: `testlog: TRACE_SHOW=alive: unknown value;
/// expected one of live, failed, all, none (did you mean live?)`
Environment read_environment(char const* (*get)(char const* name), std::string& reports);

/// Appends a line about each variable in `environment`, which is like environ, that begins with TRACE_, is not read, but
/// nearly has the name of one that is: `testlog: TRACE_FITLER: unknown variable; did you mean TRACE_FILTER?` Others may
/// belong to other programs.
void report_misspelt_variables(char const* const* environment, std::string& reports);

}  // namespace testlog::inline v1
