// Declares Environment, what the TRACE_ variables say, and the one table of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/export/print.h"
#include "tracing_core/model/redaction.h"

namespace testlog::inline v1 {

/// When text is printed.
enum class Show : std::uint8_t {
  live,    ///< as it happens; a failing test prints at its end what was not shown
  failed,  ///< only failing tests, at their end
  all,     ///< every test, at its end
  none,    ///< nothing
};
/// What testlog::cuda does after each test.
enum class CudaHealth : std::uint8_t {
  on,    ///< asks the devices whether all is well; the first test that broke one fails
  stop,  ///< the same, and no test runs after that one
  off,   ///< nothing
};
enum class TimeStyle : std::uint8_t { utc, local, uptime, none };

/// What becomes of perf spans.
struct PerfSettings {
  bool is_set = false;    ///< TRACE_PERF is, by itself or by a profile
  bool report = false;    ///< each prints how long it took
  bool summary = false;   ///< they are summed up, and the sums printed
  std::string directives = "trace";
  std::string wrong;      ///< directives of TRACE_PERF of which none is right: all of this holds without them
  std::uint64_t threshold_us = 0;  ///< TRACE_PERF_THRESHOLD_US
  std::string json;                ///< TRACE_PERF_JSON: a path with %p and %t; empty: off
  std::string prometheus;          ///< TRACE_PERF_PROM: likewise

  bool any() const noexcept { return report || summary; }
};

/// The value of TRACE_PERF that says what holds: `on,summary`.
std::string in_words(PerfSettings const& settings);

/// What the variables say. Texts of directives are kept as they were given: who makes a filter of them reports what is wrong.
struct Environment {
  std::string profile = "local";       ///< TRACE_PROFILE
  std::optional<std::string> filter;   ///< TRACE_FILTER, unless `help`
  std::string default_filter = "info";  ///< in place of TRACE_FILTER: what the profile says
  bool filter_help = false;            ///< TRACE_FILTER=help
  Show show = Show::live;              ///< TRACE_SHOW
  std::optional<std::string> capture;  ///< TRACE_CAPTURE, unless `off`
  bool capture_off = false;            ///< TRACE_CAPTURE=off
  tracing::FormatKind format = tracing::FormatKind::full;              ///< TRACE_FORMAT
  tracing::SpanEvents span_events = tracing::SpanEvents::none;         ///< TRACE_SPAN_EVENTS
  TimeStyle time = TimeStyle::utc;     ///< TRACE_TIME
  tracing::ColorChoice color = tracing::ColorChoice::automatic;        ///< TRACE_COLOR
  bool no_color = false;                                               ///< NO_COLOR
  bool force_color = false;                                            ///< CLICOLOR_FORCE, unless 0
  std::string output = "stderr";       ///< TRACE_OUTPUT: stderr, stdout or a path with %p and %t
  std::string chrome;                  ///< TRACE_CHROME: the same, or a folder; empty: off
  bool spdlog = true;                  ///< TRACE_SPDLOG: what is logged with spdlog is recorded
  CudaHealth cuda_health = CudaHealth::on;  ///< TRACE_CUDA_HEALTH
  std::string flame;                   ///< TRACE_FLAME: likewise
  std::string redact;                  ///< TRACE_REDACT: names with commas between them
  std::string redact_token{tracing::kRedactionToken};  ///< TRACE_REDACT_TOKEN
  PerfSettings perf;                   ///< TRACE_PERF and those that begin like it
};

/// One variable, as documented.
struct Variable {
  char const* name;
  char const* values;         ///< what it takes
  char const* default_value;  ///< what holds where it is not set, or empty
  /// Takes a value that is not empty over; where it is none of `values`, returns the part of it that is wrong.
  std::optional<std::string_view> (*set)(Environment& environment, std::string_view value);
};

/// Every variable that is read, in the order of the documentation.
std::span<Variable const> variables() noexcept;

/// What a profile sets: one of the variables above, unless that is set itself.
struct ProfileSetting {
  char const* profile;
  char const* variable;
  char const* value;
};

/// Everything that profiles set, in the order of the documentation. The profile `local` sets nothing.
std::span<ProfileSetting const> profile_settings() noexcept;

/// A value that a variable does not take; nothing was set by it, but for names to hide, which are hidden as they stand.
struct BadValue {
  Variable const* variable;
  std::string value;
  std::string piece;  ///< the part of it that is wrong
  std::string used;   ///< what holds in its place

  /// `testlog: TRACE_SHOW=alive is none of live, failed, all, none; did you mean "live"? Using live.` and a newline.
  std::string report() const;
};

/// Reads all variables by `get`, which gives null where one is not set. Empty is as unset. Never fails: bad values are
/// added to `bad`.
Environment read_environment(char const* (*get)(char const* name), std::vector<BadValue>& bad);

}  // namespace testlog::inline v1
