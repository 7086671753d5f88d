// diff_of(): in what two runs differ, as one tree.
//
// Children of two spans are paired by align(): equal ones, then those of the same site. Two subtrees are equal if their
// hashes are: of sites, of values that Noise does not mask, and of what is inside. Threads inside a span are paired by
// their groups and, of one group, first those that did the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "testlog/why/noise.h"
#include "testlog/why/tree_reader.h"

namespace testlog::why {

enum class Mark : std::uint8_t {
  context,  ///< in both runs; something in it differs
  changed,  ///< in both runs, with other values, or another duration, or in one of both still open
  removed,  ///< only in the first run
  added,    ///< only in the second run
  equal,    ///< stands for spans and events that are equal, or that vary in runs that pass
  more,     ///< stands for further spans or events of the site of the line before, which are in the same run only
};

struct DiffLine {
  Mark mark = Mark::context;
  std::uint32_t depth = 0;
  NodeId a = kNone, b = kNone;  ///< kNone: not in this run
  bool has_other_duration = false;
  std::uint64_t count = 0;  ///< of Mark::equal and Mark::more
  std::uint64_t varying =
      0;  ///< of Mark::equal: how many are in one run only, but their number varies in runs that pass
};

struct Diff {
  std::vector<DiffLine> lines{};
  std::size_t differences = 0;  ///< lines that are changed, removed or added, with what Mark::more stands for
};

/// Sets TreeNode::hash of both trees.
Diff diff_of(SpanTree& a, SpanTree& b, ValueTexts const& texts, Noise const& noise);

}  // namespace testlog::why
