// SpanTimes: how often the spans of a recording were entered, and for how long.
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
  std::uint64_t children_ns = 0;   ///< inside of other spans
  std::uint64_t max_ns = 0;        ///< the longest time
  std::uint64_t open = 0;          ///< how many did not end; they count until the last record
  std::vector<std::unique_ptr<SpanNode>> children{};  ///< in the order in which they were first entered

  std::uint64_t self_ns() const noexcept { return total_ns - children_ns; }
  SpanNode& child(std::string_view child_name);
};

struct SpanTimes {
  RecordedTests tests;
  std::map<std::uint32_t, SpanNode> roots;  ///< by the test in which the outermost span was entered; 0: outside any
};

/// Reads the spans that the directives select.
SpanTimes times_of(RecordingFile& file, tracing::EnvFilter filter);

/// `850 ns`, `12.3 us`, `1.204 ms` or `12.345 s`.
std::string text_of_ns(std::uint64_t ns);

}  // namespace testlog::cli
