// Declares perf_summary(), how long the running test's perf spans took.
#pragma once

#include "tracing_core/perf/perf_summary.h"

namespace testlog::inline v1 {

/// How long the perf spans took that ended since the running test began; since the program began where none runs. Empty where
/// TRACE_PERF is off.
tracing::PerfSummary perf_summary();

}  // namespace testlog::inline v1
