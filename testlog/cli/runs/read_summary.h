// read_summary(): reads from the log of runs and from recordings what a RunSummary has.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

struct ReadOptions {
  std::size_t max_recordings = 1000;  ///< of tests that failed; each takes some 0.1 ms
  /// Also reads the compressed recordings of tests that passed: their exact names, and whether they were skipped. It
  /// takes some 1 ms for each.
  bool passed = false;
};

/// For reports outside of the terminal: of ten thousand failures, each is there.
inline constexpr ReadOptions kReadAll{.max_recordings = 20'000};
inline constexpr std::size_t kMaxExplained = 10;  ///< causes that are compared with passing runs
inline constexpr std::size_t kMaxWhyLines = 3;
/// A JUnit file has the tests that passed, too.
inline constexpr ReadOptions kReadForJunit{.max_recordings = kReadAll.max_recordings, .passed = true};

summary::RunSummary read_summary(RecordedRun const& run, ReadOptions const& options = {});

/// Returns the tests of a recording. Those that did not end, as after a crash, have the spans in which the process
/// ended.
std::vector<summary::TestOutcome> outcomes_in(OpenedRecording& file);

/// Sets Cause::why of the first `max_causes` causes, by their first tests, and names `testlog why` in
/// RunSummary::commands if it has an answer. Compares recordings, so it takes the time of `testlog why`.
void explain_causes(summary::RunSummary& run, std::size_t max_causes, std::size_t max_lines = 1);
/// Returns the first lines of `testlog why` for a failure; empty if it has no answer or no passing runs to compare
/// with.
std::vector<std::string> differences_of(summary::TestOutcome const& failure, std::size_t max_lines);

/// Calls `f` with each line that `testlog show` prints of the test; with none if it has no recording. Reads the
/// recording. Each line is at most 4 KiB and has no control characters.
void for_each_line_of_report(summary::TestOutcome const& test, std::function<void(std::string_view line)> const& f);
/// Returns the last of these lines.
std::vector<std::string> report_of(summary::TestOutcome const& test, std::size_t max_lines);
inline std::vector<std::string> report_end_of(summary::TestOutcome const& test) { return report_of(test, 40); }

}  // namespace testlog::cli
