// Prints how two runs differ, as text and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "testlog/why/tree_diff.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog::why {

/// Two runs that were compared.
struct ComparedRuns {
  RunTree const &a, &b;
  Names names;
  Noise const& noise;
  std::size_t passing = 0;  ///< from so many runs it is known what varies
  Diff diff{};
};

/// Returns two headlines and the first `max_lines` lines of the tree; 0: all.
std::string text_of(ComparedRuns const& runs, std::size_t max_lines, bool is_coloured);
/// Appends an object; docs/diff.md describes it. It has all lines.
void append_json(tracing::TextBuffer& out, ComparedRuns const& runs);

}  // namespace testlog::why
