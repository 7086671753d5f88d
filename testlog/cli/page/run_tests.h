// read_tests(): the tests that a page shows, and where their records are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testlog/cli/selection.h"
#include "testlog/summary/run_summary.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli::page {

/// One run of a test in a recording.
struct Source {
  std::string file;                    ///< empty: it was not kept
  std::optional<std::uint32_t> tag{};  ///< of its records, 0 for records outside of tests; empty: find_tag() finds it
  std::string result{};                ///< `passed`, `failed`, `did not end`, ...
  std::int64_t began_ms = 0;           ///< since 1970; 0: not known
};

struct TestSources {
  std::vector<Source> attempts{};  ///< the newest first
  std::vector<Source> passing{};   ///< earlier runs that passed, the newest first
};

struct RunTests {
  summary::RunSummary run{};
  std::vector<TestSources> sources{};  ///< of each of `run.tests`
  bool is_complete = true;             ///< all recordings could be read
};

/// Reads the tests of a run, or those of recordings that `inputs` names. Of several recordings of a test, the last
/// decides how it ended. Prints errors to standard error; throws as files_of() does.
RunTests read_tests(Selection const& selection);

/// Returns the tag of a test in a recording: of several with this name the last that failed or, if none failed, the
/// last. Empty if the test is not there.
std::optional<std::uint32_t> find_tag(tracing::recording::Recording& recording, std::string const& name);

}  // namespace testlog::cli::page
