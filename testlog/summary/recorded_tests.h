// tests_in(): reads from a recording how its tests ended.
#pragma once

#include <string>
#include <vector>

#include "testlog/summary/run_summary.h"
#include "tracing_core/record/recording.h"

namespace testlog::summary {

/// Returns the tests of a recording in the order in which they began, and before them what failed outside of tests.
/// Reads the recording once.
std::vector<TestOutcome> tests_in(tracing::recording::Recording& recording, std::string const& file);

}  // namespace testlog::summary
