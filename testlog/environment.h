// Environment: the settings that the TRACE_ variables make in a test program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "testlog/perturb/perturbation.h"
#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/environment/variables.h"

namespace testlog { inline namespace v1 {

using tracing::ThreadLabels;
using tracing::environment::Output;

// The enumerators of a setting have the order of the values in variables.inc.

/// When text is printed.
enum class Show : std::uint8_t {
  live,    ///< as it happens; a failing test prints the rest at its end
  failed,  ///< only failing tests, at their end
  all,     ///< every test, at its end
  none,    ///< nothing
};
/// The work of testlog::cuda after each test.
enum class DeviceCheck : std::uint8_t {
  on,    ///< checks the devices; the first test that broke one fails
  stop,  ///< checks as `on` does, and runs no test after a test that broke a device
  off,   ///< nothing
};

/// What passes between testlog and NVTX.
enum class Nvtx : std::uint8_t { in, out, both, off };

/// The recordings that stay when the program ends.
enum class RecordKeep : std::uint8_t {
  failed,  ///< of processes in which a test failed, or that did not end by themselves
  all,
  automatic  ///< not a value of the variable: depends on the variable that named the file
};

/// How the lines of a failure report name their spans.
enum class ReportForm : std::uint8_t {
  shortened,  ///< as tracing::SpanPrefix decides
  lines,      ///< with all fields in every line
};

/// Which fields of spans lines have that are printed as they happen.
enum class SpanFields : std::uint8_t {
  shortened,  ///< as tracing::RepeatedFields decides
  all,
};

/// The CI service to which a run is reported. `testlog` reports to all but CDash, whose files test programs name.
enum class Ci : std::uint8_t { automatic, github, gitlab, azure, teamcity, buildkite, cdash, off };

/// The tests whose spans `testlog` sends at the end of a ctest.
enum class OtlpTests : std::uint8_t { off, failed, all };

/// The settings of a process. Directives are kept as text in which at least one directive is valid.
struct Environment : tracing::EnvOptions {
  Show show = Show::live;                                    ///< TRACE_SHOW
  std::string capture = "trace";                             ///< TRACE_CAPTURE, unless it selects nothing
  bool capture_off = false;                                  ///< TRACE_CAPTURE selects nothing
  std::optional<std::uint64_t> hang_after_ns{};              ///< TRACE_HANG_AFTER; 0: off
  std::uint64_t hang_after_default_ns = 0;                   ///< TRACE_HANG_AFTER_DEFAULT; 0: none
  std::uint64_t long_after_ns = 0;                           ///< TRACE_LONG_AFTER; 0: off
  ReportForm report = ReportForm::shortened;                 ///< TRACE_REPORT
  std::uint64_t report_lines = 200;                          ///< TRACE_REPORT_LINES; zero: all
  std::uint64_t equal_lines = 5;                             ///< TRACE_EQUAL_LINES; zero: all
  SpanFields span_fields = SpanFields::shortened;            ///< TRACE_SPAN_FIELDS
  std::string record_default{};                              ///< TRACE_RECORD_DEFAULT; empty: none
  RecordKeep record_keep = RecordKeep::automatic;            ///< TRACE_RECORD_KEEP
  std::uint64_t record_passed = 3;                           ///< TRACE_RECORD_PASSED
  tracing::LevelFilter fail_on = tracing::LevelFilter::off;  ///< TRACE_FAIL_ON
  bool spdlog = true;                                        ///< TRACE_SPDLOG
  std::optional<Perturbation> perturb{};                     ///< TRACE_PERTURB
  DeviceCheck device_check = DeviceCheck::on;                ///< TRACE_CUDA_HEALTH
  Nvtx nvtx = Nvtx::off;                                     ///< TRACE_NVTX
  Ci ci = Ci::automatic;                                     ///< TRACE_CI
  std::string ci_root{}, ci_artifact{}, junit{};             ///< TRACE_CI_ROOT, ...: read by `testlog` alone
  OtlpTests otlp = OtlpTests::off;                           ///< TRACE_OTLP: read by `testlog` alone
};

/// The variables that only test programs read, in the order of variables.inc.
tracing::environment::VariableTable test_variables() noexcept;

/// Reads all variables by `get`, as tracing::environment::read_variables() does.
Environment read_environment(char const* (*get)(char const* name), std::string& reports);

}}  // namespace testlog::v1
