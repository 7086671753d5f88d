// read_trees(): reads the runs of tests in a recording as trees.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "testlog/why/span_tree.h"
#include "tracing_core/record/recording.h"

namespace testlog::why {

/// One run of a test.
struct RunTree {
  std::string file{};      ///< of the recording
  std::string test{};      ///< empty for a program without tests
  std::string result{};    ///< passed, failed or skipped; empty if the test did not end, or is a program
  std::uint64_t lost = 0;  ///< records that are not in the recording
  SpanTree tree;
};

/// What the trees of the runs of one test share.
struct Names {
  Sites& sites;
  ValueTexts& texts;
};

/// Calls `add` for each run in the recording whose test `names_of` knows; it returns null for others.
void read_trees(tracing::recording::Recording& recording, std::string const& file,
                std::function<Names const*(std::string const& test)> const& names_of,
                std::function<void(RunTree)> const& add);

}  // namespace testlog::why
