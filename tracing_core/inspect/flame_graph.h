// Declares FlameGraph, the frames of a flame graph, and FlameBuilder, which makes it of folded stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracing::inline v1 {

/// Which frames there are.
enum class FlameKind {
  graph,     ///< stacks of the same name are one frame; neighbours stand in the order of their names' bytes
  reversed,  ///< a graph of the stacks turned round: by what was called, upon it who called it
  chart,     ///< the order of the lines is kept, time runs from left to right; only neighbouring lines are joined
  chart_last_first,  ///< the last line stands at the left, as inferno-flamegraph --flamechart draws it
};

/// What the width of a frame shows, where two runs are compared.
enum class FlameWidth { after, before };

/// One frame: something that was counted, from `start` on, and `width` of it. All are sums of the lines' counts.
struct FlameFrame {
  std::uint32_t name = 0;         ///< FlameGraph::names
  std::uint32_t depth = 0;        ///< 0: the frame of everything
  std::uint64_t start = 0;        ///< what stands left of it
  std::uint64_t width = 0;        ///< what was counted after, or before for FlameWidth::before
  std::uint64_t count = 0;        ///< its own and that of all frames upon it
  std::uint64_t self = 0;         ///< its own
  std::uint64_t before = 0;       ///< `count` of the earlier run
  std::uint64_t self_before = 0;  ///< `self` of the earlier run
};

/// Plain data; owns its names.
struct FlameGraph {
  /// By depth, then from the left. The first is the frame of everything, which has no name of its own (""). Empty where
  /// nothing was counted.
  std::vector<FlameFrame> frames;
  std::vector<std::string> names;
  FlameWidth width = FlameWidth::after;
  bool is_differential = false;
  std::size_t only_in_other = 0;  ///< frames without width that the run has whose counts are not the widths

  std::uint64_t total() const noexcept { return frames.empty() ? 0 : frames.front().width; }
};

/// What a differential flame graph compares.
struct FlameDifference {
  FlameWidth width = FlameWidth::after;
  /// Multiplies each `before` and `self_before` so that both runs have the same total, and rounds it to the nearest
  /// whole number, halves upwards: for runs of different lengths. Changes no width.
  bool normalise = false;
};

/// Collects stacks, of any number of files. Memory grows with the number of different stacks, in a chart with the
/// number of lines. Single-thread.
class FlameBuilder {
 public:
  explicit FlameBuilder(FlameKind kind);
  ~FlameBuilder();
  FlameBuilder(FlameBuilder&&) noexcept;
  FlameBuilder& operator=(FlameBuilder&&) noexcept;

  /// Adds what was counted for a stack, `outer;inner`, and what was counted before. Returns why that cannot be, where
  /// the sum of all would not fit a number; then nothing was added. REQUIRES: before == 0 for charts.
  std::string_view add(std::string_view stack, std::uint64_t count, std::uint64_t before = 0);

  /// The frames. REQUIRES: called once, last.
  FlameGraph build() &&;
  /// Those of a differential flame graph. REQUIRES: no chart; called once, last.
  FlameGraph build(FlameDifference const& difference) &&;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracing::inline v1
