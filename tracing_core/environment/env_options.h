// EnvOptions: the settings of the TRACE_ variables that every program reads.
#pragma once

#include <cstdint>
#include <string>

#include "tracing_core/environment/perf_settings.h"
#include "tracing_core/export/print.h"
#include "tracing_core/model/redaction.h"

namespace tracing { inline namespace v1 {

// The enumerators of a setting have the order of the values in variables.inc.
enum class TimeStyle : std::uint8_t { utc, local, uptime, none };
/// The lines of text that name their thread.
enum class ThreadLabels : std::uint8_t {
  automatic,  ///< all but lines of the thread that called init_from_env() or runs the tests
  on,         ///< all lines
  off,        ///< no line
};

/// Each member is the default of the variable in its comment: docs/environment.md describes their values.
///
///     tracing::init_from_env({.filter = "mylib=debug", .format = tracing::FormatKind::compact})
struct EnvOptions {
  std::string filter = "info";                     ///< TRACE_FILTER: directives
  FormatKind format = FormatKind::full;            ///< TRACE_FORMAT
  SpanEvents span_events = SpanEvents::none;       ///< TRACE_SPAN_EVENTS
  TimeStyle time = TimeStyle::utc;                 ///< TRACE_TIME
  ThreadLabels threads = ThreadLabels::automatic;  ///< TRACE_THREADS
  ColorChoice color = ColorChoice::automatic;      ///< TRACE_COLOR
  std::string output = "stderr";                   ///< TRACE_OUTPUT: stderr, stdout or a path with %p and %t
  std::string chrome{};                            ///< TRACE_CHROME: a path with %p and %t, or a folder; empty: off
  std::string flame{};                             ///< TRACE_FLAME: likewise
  bool flame_idle = false;                         ///< TRACE_FLAME_IDLE
  std::string perfetto{};                          ///< TRACE_PERFETTO: likewise
  std::string xplane{};                            ///< TRACE_XPLANE: likewise
  std::string record{};                            ///< TRACE_RECORD: a path with %p and %t, or a folder; empty: off
  std::uint64_t record_limit = std::uint64_t{64} << 20;  ///< TRACE_RECORD_LIMIT, in bytes
  std::string redact{};                                  ///< TRACE_REDACT: names separated by commas
  std::string redact_token{kRedactionToken};             ///< TRACE_REDACT_TOKEN
  PerfSettings perf{};                                   ///< TRACE_PERF and the variables whose names begin with it

  // Settings that only the environment has.
  bool flame_tests = false;         ///< TRACE_FLAME_TESTS, of test programs
  std::string cuda_device_times{};  ///< TRACE_CUDA_DEVICE_TIMES; read by tracing::cuda
  bool cuda_source = false;         ///< TRACE_CUDA_SOURCE; read by tracing::cuda
  std::string profile{};            ///< TRACE_PROFILE
  bool filter_is_set = false;       ///< `filter` is TRACE_FILTER
  bool filter_help = false;         ///< TRACE_FILTER=help
  bool no_color = false;            ///< NO_COLOR
  bool force_color = false;         ///< CLICOLOR_FORCE, unless 0
  std::string traceparent{};        ///< TRACEPARENT
  std::string tracestate{};         ///< TRACESTATE
};

namespace environment {

/// Returns the timer from which text, or a report, gets its time; null for TimeStyle::none.
std::shared_ptr<Timer const> timer_of(TimeStyle style);

/// Decides about colours by the first of these that is set: TRACE_COLOR, NO_COLOR, CLICOLOR_FORCE, `fallback`, whether
/// the output is a terminal. A ColorChoice counts as set unless it is `automatic`.
bool use_color(EnvOptions const& options, bool is_terminal, ColorChoice fallback = ColorChoice::automatic);

}  // namespace environment
}}  // namespace tracing::v1
