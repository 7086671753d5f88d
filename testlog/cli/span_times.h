// SpanTimes: counts how often, and for how long, the spans of a recording were entered, as a tree for each test.
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

/// The sums for one path of spans: for all spans with this name inside the same outer spans. The root stands for a
/// test, not for a span.
struct SpanNode {
  SpanNode() = default;
  explicit SpanNode(std::string_view with_name) : name(with_name) {}
  SpanNode(SpanNode&&) = default;
  SpanNode& operator=(SpanNode&&) = default;
  ~SpanNode();  // not recursive, since a tree may have any depth

  std::string_view name{};    ///< `target::name`; refers to SpanTimes::names
  std::uint64_t entered = 0;  ///< how often threads entered the span
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;  ///< without the time in spans below
  std::uint64_t open = 0;     ///< stays that did not end; they count until the last record
  std::uint64_t cut = 0;      ///< stays whose beginning was overwritten; they count from the first record left
  std::vector<std::unique_ptr<SpanNode>> children{};  ///< in the order in which they were first entered

  SpanNode& child(std::string_view child_name, std::unordered_set<std::string>& names);

 private:
  std::unordered_map<std::string_view, SpanNode*> by_name_{};  // the children, if they are many; otherwise empty
};

struct SpanTimes {
  RecordedTests tests;
  std::unordered_set<std::string> names;    ///< of the spans
  std::map<std::uint32_t, SpanNode> roots;  ///< by the test's tag when the outermost span was entered; 0: no test
};

/// Reads the spans that the filter selects.
SpanTimes times_of(OpenedRecording& file, std::unique_ptr<tracing::Filter> filter);

}  // namespace testlog::cli
