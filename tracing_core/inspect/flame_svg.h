// write_flame_svg(): draws a flame graph as an SVG picture that can be zoomed and searched in a browser.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tracing_core/inspect/flame_graph.h"

namespace tracing { inline namespace v1 {

/// The meaning of a frame's colour. A name has the same colour in every picture. A differential flame graph has its own
/// colours.
enum class FlameColors {
  hot,     ///< the colour has no meaning: yellow to red
  module,  ///< the namespace or class of the name
};

/// The look of a picture.
struct FlamePicture {
  std::string title = "Flame graph";
  std::string unit = "ns";  ///< of the counts; times in ns, us, ms and s are also shown in a larger unit that fits
  FlameColors colors = FlameColors::hot;
  bool inverted = false;  ///< the root at the top, an icicle graph
  int width = 1200;       ///< in pixels; the height depends on the number of rows
  /// Frames narrower than this, in percent of the total width, are left out. A smaller number makes larger files.
  double min_width_percent = 0.01;
};

/// Writes an SVG document in pieces, laid out as by inferno-flamegraph: the root at the bottom, callees on top of their
/// callers, unless the picture is inverted. It contains its script, and is a plain picture where scripts do not run.
/// Names may have any bytes: invalid bytes become U+FFFD. The first lines of the picture say the unit, the total, and
/// how many frames were too narrow to be drawn. REQUIRES: !graph.frames.empty(). Throws what `write` throws.
/// Thread-safe.
///
/// In a differential flame graph a frame is red if its own count grew and blue if it shrank. The colour is the
/// stronger, the nearer this change is to the largest change of all frames, drawn or not.
void write_flame_svg(FlameGraph const& graph, FlamePicture const& picture,
                     std::function<void(std::string_view)> const& write);

}}  // namespace tracing::v1
