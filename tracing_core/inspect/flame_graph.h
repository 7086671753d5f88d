// FlameGraph: the frames of a flame graph; FlameBuilder: makes one from folded stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracing::inline v1 {

/// How stacks become frames.
enum class FlameKind {
  graph,     ///< stacks of the same name are one frame; neighbours are sorted by the bytes of their names
  reversed,  ///< a graph of the reversed stacks: callers on top of what they called
  chart,     ///< keeps the order of the lines, time runs from left to right; joins only neighbouring lines
  chart_last_first,  ///< the last line is at the left, as in inferno-flamegraph --flamechart
};

/// The run whose counts are the widths of frames in a comparison.
enum class FlameWidth { after, before };

/// One frame. All numbers are sums of the lines' counts.
struct FlameFrame {
  std::uint32_t name = 0;         ///< FlameGraph::names
  std::uint32_t depth = 0;        ///< 0: the root
  std::uint64_t start = 0;        ///< the width to the left of it
  std::uint64_t width = 0;        ///< `count`, or `before` for FlameWidth::before
  std::uint64_t count = 0;        ///< its own count and that of all frames on top of it
  std::uint64_t self = 0;         ///< its own count
  std::uint64_t before = 0;       ///< `count` of the earlier run
  std::uint64_t self_before = 0;  ///< `self` of the earlier run
};

/// Plain data; owns its names.
struct FlameGraph {
  /// By depth, then from the left. The first is the root, whose name is "". Empty if nothing was counted.
  std::vector<FlameFrame> frames;
  std::vector<std::string> names;
  FlameWidth width = FlameWidth::after;
  bool is_differential = false;
  std::size_t only_in_other = 0;  ///< frames without width, which only the other run has

  std::uint64_t total() const noexcept { return frames.empty() ? 0 : frames.front().width; }
};

/// How two runs are compared.
struct FlameDifference {
  FlameWidth width = FlameWidth::after;
  /// Scales each `before` and `self_before` so that both runs have the same total, rounded to the nearest integer,
  /// halves upwards: for runs of different lengths. Changes no width.
  bool normalise = false;
};

/// Collects stacks of any number of files. Memory grows with the number of different stacks, in a chart with the number
/// of lines. Single-thread.
class FlameBuilder {
 public:
  explicit FlameBuilder(FlameKind kind);
  ~FlameBuilder();
  FlameBuilder(FlameBuilder&&) noexcept;
  FlameBuilder& operator=(FlameBuilder&&) noexcept;

  /// Adds the counts of a stack, `outer;inner`, in the later and the earlier run. If the total would overflow, adds
  /// nothing and returns the problem. REQUIRES: before == 0 for charts.
  std::string_view add(std::string_view stack, std::uint64_t count, std::uint64_t before = 0);

  /// Returns the frames. REQUIRES: called once, last.
  FlameGraph build() &&;
  /// Returns the frames of a differential flame graph. REQUIRES: not a chart; called once, last.
  FlameGraph build(FlameDifference const& difference) &&;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracing::inline v1
