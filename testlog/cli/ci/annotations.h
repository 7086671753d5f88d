// Annotations: what a CI service shows beside the source, in its list of tests, or in sections of its log.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "testlog/cli/ci/ci_service.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// Returns the last lines of a test's report.
using ReportOf = std::function<std::vector<std::string>(summary::TestOutcome const&)>;

/// The most annotations of a kind that a service shows of one step. The last says how many more there are.
inline constexpr std::size_t kMaxAnnotations = 10;
inline constexpr std::size_t kMaxMessageBytes = 4096;

/// Returns the lines of log that make the service show the failures:
///
/// * GitHub and Azure: an error for each cause, at the place of its first test, and a warning for each flaky test
/// * TeamCity: the tests that failed or are flaky; at most 1000
/// * GitLab: a collapsed section for each cause, with the end of the first report, within 256 KiB
/// * others: nothing
///
/// `now` is for GitLab's sections.
std::string annotations_of(summary::RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                           std::time_t now);

/// Returns the title and the text of a cause, or of a flaky test: the assertion, `in` its spans, and the first line of
/// `testlog why`.
std::string title_of(summary::RunSummary const& run, summary::Cause const& cause);
std::string message_of(summary::RunSummary const& run, summary::Cause const& cause);
std::string message_of(summary::TestOutcome const& test);

}  // namespace testlog::cli
