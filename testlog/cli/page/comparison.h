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
  /// Rows of `testlog diff` against the last passing run: a mark, then the texts of both runs. Marks are `-`, `+`, `~`
  /// (both), `=` (a headline) or none. What the failing run did not reach is at the end.
  std::vector<std::array<std::string, 3>> diff{};
  std::string note{};  ///< what the rows do not say, such as that there are none or that they are cut
};

/// Compares the newest attempt that failed with `sources.passing` and, if there are none, with attempts that passed.
Comparison compare(std::string const& test, TestSources const& sources);

}  // namespace testlog::cli::page
