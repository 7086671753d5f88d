// FlameGraph: the frames of a flame graph; FlameBuilder: makes a FlameGraph from folded stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Selects how stacks become frames.
enum class FlameKind {
  graph,             ///< equal stacks are one frame; neighbours are sorted by the bytes of their names
  reversed,          ///< a graph of the reversed stacks: callers on top of what they called
  chart,             ///< keeps the order of the lines, time runs from left to right; joins only neighbouring lines
  chart_last_first,  ///< the last line is at the left, as in inferno-flamegraph --flamechart
};

/// The run whose counts are the widths of frames in a comparison.
enum class FlameWidth { after, before };

/// A frame. All numbers are sums of the lines' counts.
struct FlameFrame {
  std::uint32_t name = 0;         ///< FlameGraph::names
  std::uint32_t depth = 0;        ///< 0: the root
  std::uint64_t start = 0;        ///< the width to the left of the frame
  std::uint64_t width = 0;        ///< `count`, or `before` for FlameWidth::before
  std::uint64_t count = 0;        ///< its own count plus the counts of all frames on top of it
  std::uint64_t self = 0;         ///< its own count, without the frames on top of it
  std::uint64_t before = 0;       ///< `count` of the earlier run
  std::uint64_t self_before = 0;  ///< `self` of the earlier run
};

/// The frames of a flame graph. Plain data; owns its names.
struct FlameGraph {
  /// Sorted by depth, then from the left. The first frame is the root, whose name is "". Empty if nothing was counted.
  std::vector<FlameFrame> frames;
  std::vector<std::string> names;
  FlameWidth width = FlameWidth::after;
  bool is_differential = false;
  std::size_t only_in_other = 0;  ///< frames without width, which only the other run has

  std::uint64_t total() const noexcept { return frames.empty() ? 0 : frames.front().width; }
};

/// Options of a comparison of two runs.
struct FlameDifference {
  FlameWidth width = FlameWidth::after;
  /// For runs of different lengths: scales each `before` and `self_before` so that the totals of both runs are equal.
  /// Rounds to the nearest integer, halves upwards. Changes no width.
  bool normalise = false;
};

/// Collects stacks from any number of files. Memory grows with the number of different stacks or, in a chart, with the
/// number of lines. Single-thread.
class FlameBuilder {
 public:
  explicit FlameBuilder(FlameKind kind);
  ~FlameBuilder();
  FlameBuilder(FlameBuilder&&) noexcept;
  FlameBuilder& operator=(FlameBuilder&&) noexcept;

  /// Adds a stack, `outer;inner`, with its count in the later run and its count `before` in the earlier run. If the
  /// total would overflow, adds nothing and returns the problem. REQUIRES: before == 0 for charts.
  std::string_view add(std::string_view stack, std::uint64_t count, std::uint64_t before = 0);

  /// Returns the frames. REQUIRES: called once, last.
  FlameGraph build() &&;
  /// Returns the frames of a differential flame graph. REQUIRES: not a chart; called once, last.
  FlameGraph build(FlameDifference const& difference) &&;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}}  // namespace tracing::v1
