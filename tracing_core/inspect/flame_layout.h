// Declares place_frames(), which says where each frame of a flame graph stands in its picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/inspect/flame_graph.h"

namespace tracing::inline v1 {

/// The sizes of a picture. Lengths are in pixels.
struct FlameGeometry {
  int width = 1200;
  /// Of everything's width, in percent: a frame that is narrower is left out. Less makes larger files.
  double min_width_percent = 0.01;
  int frame_height = 16;
  int top = 36;     ///< above the highest frame: the title
  int bottom = 34;  ///< below the lowest: details
  int side = 10;    ///< left and right of the frames
};

/// A frame and its left upper corner; the width counts from there.
struct PlacedFrame {
  FlameFrame const* frame = nullptr;
  double x_percent = 0;  ///< of the width that frames have
  double width_percent = 0;
  int y = 0;
};

/// Where frames stand. Refers to the graph.
struct FlameLayout {
  std::vector<PlacedFrame> frames;  ///< in the graph's order
  int width = 0;
  int height = 0;  ///< as high as the deepest frame that is not left out wants
};

/// Places frames as inferno-flamegraph does: everything at the bottom, what was called upon it.
FlameLayout place_frames(FlameGraph const& graph, FlameGeometry const& geometry = {});

/// A name without the mark `_[k]` (kernel), `_[i]` (inlined), `_[j]` (compiled at run time) or `_[w]` (waker) that
/// perf's collapsers put behind it.
std::string_view without_mark(std::string_view name) noexcept;

/// What is told of a frame: `launch (1,200 ns, 28.57%)`; of a differential flame graph
/// `launch (1,200 ns, 28.57%; before 1,000, after 1,200: +200; own before 800, after 700: -100)`.
std::string describe(FlameGraph const& graph, FlameFrame const& frame, std::string_view unit);

}  // namespace tracing::inline v1
