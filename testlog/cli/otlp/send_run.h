// send_run(): sends the recordings of a run at the end of its ctest.
#pragma once

#include <string>
#include <vector>

#include "testlog/cli/runs/recorded_runs.h"

namespace testlog::cli::otlp {

/// Sends the recordings that TRACE_OTLP asks for. `runs` are the parts of one ctest, one for each folder of recordings.
/// What was sent once is not sent again. Returns lines that say what was sent or why it was not; nothing if TRACE_OTLP
/// is off or no test ran. Takes at most ten seconds. Throws std::runtime_error if TRACE_OTLP has a bad value.
std::string send_run(std::vector<RecordedRun> const& runs);

}  // namespace testlog::cli::otlp
