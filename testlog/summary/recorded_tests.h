// tests_in(): reads from a recording how its tests ended; and functions that describe a failure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "testlog/summary/run_summary.h"
#include "tracing_core/record/recording.h"

namespace testlog::summary {

/// Returns the tests of a recording in the order in which they began, and before them what failed outside of tests.
/// Reads the recording once.
std::vector<TestOutcome> tests_in(tracing::recording::Recording& recording, std::string const& file);

/// Set the members of a failure from an assertion, from the spans around it, and from an event of level ERROR.
void set_failure(TestOutcome& test, std::string_view file, int line, std::string_view message);
void set_span_path(TestOutcome& test, std::string path);
void set_error(TestOutcome& test, tracing::recording::Entry const& event);

}  // namespace testlog::summary
