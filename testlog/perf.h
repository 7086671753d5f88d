// perf_summary(): the durations of the running test's perf spans.
#pragma once

#include "tracing_core/perf/perf_summary.h"

namespace testlog { inline namespace v1 {

/// Returns the durations of the perf spans that ended since the running test began, or since the program began if no
/// test runs. Empty if TRACE_PERF is off.
tracing::PerfSummary perf_summary();

}}  // namespace testlog::v1
