// report_to_ci(): reports a run to a CI service.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <system_error>

#include "testlog/cli/ci/annotations.h"
#include "testlog/cli/ci/ci_service.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// Returns lines for the log, and writes the job summary: GitHub's, which others may have begun, and for Azure and
/// Buildkite the file `ci_summary.md` in the folder of the recordings. Throws std::runtime_error if the summary cannot
/// be written. Does nothing for a run in which nothing failed.
std::string report_to_ci(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of);

/// Appends what `make(max_bytes)` returns to a file that other processes may append to at the same time. The file grows
/// to at most 1000 KiB, since GitHub drops a longer one whole.
std::error_code append_summary(std::string const& path, std::function<std::string(std::size_t max_bytes)> const& make);

}  // namespace testlog::cli
