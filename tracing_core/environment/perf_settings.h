// PerfSettings: what TRACE_PERF and the variables that begin like it say about perf spans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/filter/env_filter.h"

namespace tracing::inline v1 {

struct PerfSettings {
  bool report = false;                ///< each perf span prints how long it took
  bool summary = false;               ///< durations are summed up and the sums printed
  std::string directives = "debug";   ///< the perf spans that are measured
  std::uint64_t threshold_us = 0;     ///< TRACE_PERF_THRESHOLD_US
  std::string json{};                 ///< TRACE_PERF_JSON: a path with %p and %t; empty: off
  std::string prometheus{};           ///< TRACE_PERF_PROM: likewise
  bool is_set = false;                ///< by TRACE_PERF or a profile, not by code

  bool any() const noexcept { return report || summary; }
};

namespace internal {

/// Sets what a value of TRACE_PERF says. Appends a line about each wrong directive to `reports`; if all are wrong, the
/// value counts without them.
void set_perf(PerfSettings& settings, std::string_view value, std::string& reports);

/// The filter of the valid directives; wrong ones were reported before.
EnvFilter filter_of(std::string_view directives);

/// Appends a line about each wrong directive of `variable` to `reports`. False if none is valid.
bool check_directives(std::string_view directives, std::string_view variable, std::string& reports);

}  // namespace internal
}  // namespace tracing::inline v1
