// SpanTimes: how often the spans of a recording were entered, and for how long, as a tree for each test.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"

namespace testlog::cli {

/// All times that threads entered spans of one name inside the same others; the root is no span.
struct SpanNode {
  std::string name;                ///< `target::name`
  std::uint64_t entered = 0;       ///< how often
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;       ///< outside of the spans below
  std::uint64_t open = 0;          ///< how many did not end; they count until the last record
  std::vector<std::unique_ptr<SpanNode>> children{};  ///< in the order in which they were first entered

  SpanNode& child(std::string_view child_name);
};

struct SpanTimes {
  RecordedTests tests;
  std::map<std::uint32_t, SpanNode> roots;  ///< by the test in which the outermost span was entered; 0: outside any
};

/// Reads the spans that the directives select.
SpanTimes times_of(RecordingFile& file, std::unique_ptr<tracing::Filter> filter);

}  // namespace testlog::cli
