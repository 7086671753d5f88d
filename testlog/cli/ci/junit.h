// JUnit files: the tests of a run, for CI services and tools that show them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/ci/ci_service.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// GitLab refuses files of 30 MB, or with more than 250,000 elements, attributes, texts, and blanks between elements.
struct JunitLimits {
  std::size_t max_bytes = 29'000'000;
  std::size_t max_objects = 250'000;
};

/// Passes the lines of a test's report to `add`, in their order.
using ReportLines =
    std::function<void(summary::TestOutcome const& test, std::function<void(std::string_view line)> const& add)>;

/// Returns a file with a case for each test. A test that failed has its report, and so has each earlier attempt that
/// failed. Reports of more than 64 KiB lose their middle. If the file would be too large, reports lose more of their
/// middle; if that is not enough, further reports are left out, then tests that passed, then other tests. The file says
/// what is left out where it is missing.
std::string junit_of(std::vector<summary::TestOutcome> const& tests, CiSettings const& settings,
                     ReportLines const& report, JunitLimits const& limits = {});

/// Writes the file. `path` may be a folder, or end in `/`: then the file is `TEST-testlog-<folder of the run>.xml` in
/// it. Throws std::runtime_error if it cannot be written.
void write_junit(summary::RunSummary const& run, CiSettings const& settings, ReportLines const& report,
                 std::string const& path);

}  // namespace testlog::cli
