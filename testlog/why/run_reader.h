// Reads the runs of tests in recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "testlog/why/run_features.h"
#include "tracing_core/record/recording.h"

namespace testlog::why {

using NameOfTest = std::function<std::string(std::uint32_t tag)>;

/// Adds the runs in a recording that failed or did not end, of the tests for which `is_wanted` returns true. A
/// recording without tests is one run, which failed at its end. `unended` is the result of a test whose end is not
/// recorded: `failed` for a test of this process that is about to end, or nothing. `name_of` returns the name of a test
/// by its tag; it is asked if the recording lacks the beginning of the test.
void add_failing_runs(ComparedTests& tests, tracing::recording::Recording& recording, std::string const& file,
                      std::function<bool(std::string_view)> const& is_wanted, std::string_view unended = {},
                      NameOfTest const& name_of = {});
/// Adds the runs in a recording that passed, of the tests that have failing runs. REQUIRES: all failing runs were added
/// before.
void add_passing_runs(ComparedTests& tests, tracing::recording::Recording& recording, std::string const& file);

}  // namespace testlog::why
