// read_tests(): the tests that a page shows, and where their records are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testlog/cli/selection.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli::page {

/// One run of a test in a recording.
struct Source {
  std::string file;           ///< empty: it was not kept
  std::uint32_t tag = 0;      ///< of its records; 0: records outside of tests
  std::string result{};       ///< `passed`, `failed`, `did not end`, ...
  std::int64_t began_ms = 0;  ///< since 1970; 0: not known
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

}  // namespace testlog::cli::page
