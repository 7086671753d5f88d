// SpanTimes: how often the spans of a recording were entered, and for how long, as a tree for each test.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"

namespace testlog::cli {

/// All times that threads entered spans of one name inside the same others; the root is no span.
struct SpanNode {
  SpanNode() = default;
  explicit SpanNode(std::string_view with_name) : name(with_name) {}
  SpanNode(SpanNode&&) = default;
  SpanNode& operator=(SpanNode&&) = default;
  ~SpanNode();  // of any depth

  std::string_view name{};         ///< `target::name`; of SpanTimes::names
  std::uint64_t entered = 0;       ///< how often
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;       ///< outside of the spans below
  std::uint64_t open = 0;          ///< how many did not end; they count until the last record
  std::uint64_t cut = 0;           ///< of how many the beginning was overwritten; they count from the first record left
  std::vector<std::unique_ptr<SpanNode>> children{};  ///< in the order in which they were first entered

  SpanNode& child(std::string_view child_name, std::unordered_set<std::string>& names);

 private:
  std::unordered_map<std::string_view, SpanNode*> by_name_{};  // of many children
};

struct SpanTimes {
  RecordedTests tests;
  std::unordered_set<std::string> names;  ///< of the spans
  std::map<std::uint32_t, SpanNode> roots;  ///< by the test in which the outermost span was entered; 0: outside any
};

/// Reads the spans that the directives select.
SpanTimes times_of(RecordingFile& file, std::unique_ptr<tracing::Filter> filter);

}  // namespace testlog::cli
