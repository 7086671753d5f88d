// compare(): how a failing run of a test differed from runs that passed, as `testlog why` and `testlog diff` print it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "testlog/cli/page/page_index.h"
#include "testlog/cli/page/run_tests.h"

namespace testlog::cli::page {

struct Comparison {
  std::vector<PageDifference> why{};  ///< empty with fewer than two passing runs
  /// Rows of `testlog diff` against the last passing run: `-`, `+`, `~` (both) or a blank, then the texts of both runs.
  std::vector<std::array<std::string, 3>> diff{};
};

/// Compares the newest attempt that failed with `sources.passing` and, if there are none, with attempts that passed.
Comparison compare(std::string const& test, TestSources const& sources);

}  // namespace testlog::cli::page
