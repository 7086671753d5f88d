// job_summary(): the Markdown that a CI service shows on the page of a job.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "testlog/cli/ci/annotations.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// GitHub and Buildkite drop a summary of more than 1 MiB whole.
inline constexpr std::size_t kMaxSummaryBytes = std::size_t{900} << 10;

/// Returns the counts, the causes with their tests, the flaky and the slowest tests, and how to go on, in at most
/// `max_bytes`. Each cause has the end of the reports of its first tests. If not all of this fits, the shortest causes
/// keep it; the others have their tests' names; and those for which there is no room are counted. Empty if nothing
/// failed, or if there is no room for the counts.
std::string job_summary(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                        std::size_t max_bytes = kMaxSummaryBytes);

/// Returns a text of which Markdown and HTML make nothing else: punctuation as character references.
std::string markdown_text(std::string_view text);

}  // namespace testlog::cli
