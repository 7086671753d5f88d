// JUnit files: the tests of a run, for CI services and tools that show them.
#pragma once

#include <cstddef>
#include <string>

#include "testlog/cli/ci/annotations.h"
#include "testlog/cli/ci/ci_service.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// GitLab refuses files of 30 MB, or with more than 250,000 elements, attributes and texts.
struct JunitLimits {
  std::size_t max_bytes = 29'000'000;
  std::size_t max_objects = 250'000;
};

/// Returns a file with a case for each test. A test that failed has the end of its report, one that is flaky the
/// failure of each attempt. Tests that passed have no text. If not all fits, first reports are left out, then tests
/// that passed, then further tests; the counts of the suites include them, and `<testsuites>` says how many are left
/// out.
std::string junit_of(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                     JunitLimits const& limits = {});

/// Writes the file. `path` may be a folder, or end in `/`: then the file is `TEST-testlog-<folder of the run>.xml` in
/// it. Throws std::runtime_error if it cannot be written.
void write_junit(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                 std::string const& path);

}  // namespace testlog::cli
