// PerfSettings: the settings of TRACE_PERF and of the variables whose names begin with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/filter/env_filter.h"

namespace tracing { inline namespace v1 {

struct PerfSettings {
  bool report = false;               ///< each perf span prints how long it took
  bool summary = false;              ///< durations are summed up and the sums printed
  std::string directives = "debug";  ///< the perf spans that are measured
  std::uint64_t threshold_us = 0;    ///< TRACE_PERF_THRESHOLD_US
  std::string json{};                ///< TRACE_PERF_JSON: a path with %p and %t; empty: off
  std::string prometheus{};          ///< TRACE_PERF_PROM: likewise
  bool is_set = false;               ///< set by TRACE_PERF or a profile, not by code

  bool any() const noexcept { return report || summary; }
};

namespace environment {

/// Sets what a value of TRACE_PERF says. Appends a line about each wrong directive to `reports`; if all directives are
/// wrong, the value counts as if it had none.
void set_perf(PerfSettings& settings, std::string_view value, std::string& reports);

/// Returns the filter of the valid directives. Wrong directives were reported before.
EnvFilter filter_of(std::string_view directives);

/// Appends a line about each wrong directive of `variable` to `reports`. Returns false if no directive is valid.
bool check_directives(std::string_view directives, std::string_view variable, std::string& reports);

}  // namespace environment
}}  // namespace tracing::v1
