// Declares write_flame_svg(), which draws a flame graph as a picture that a browser zooms and searches by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tracing_core/inspect/flame_graph.h"
#include "tracing_core/inspect/flame_layout.h"

namespace tracing::inline v1 {

/// What the colour of a frame says. The same name has the same colour in every picture. A differential flame graph has its
/// own colours.
enum class FlameColors {
  hot,     ///< nothing: yellow to red
  cool,    ///< nothing: blue to green
  green,   ///< nothing
  grey,    ///< nothing, and prints well
  module,  ///< the namespace or class that the name stands in
  perf,    ///< what perf's collapsers tell: kernel, compiled at run time, inlined, C++, other
};

/// How a picture looks.
struct FlamePicture {
  std::string title = "Flame graph";
  std::string unit = "ns";  ///< of the counts; of ns, us, ms and s durations are shown in a fitting one, too
  FlameColors colors = FlameColors::hot;
  FlameGeometry geometry = {};
};

/// Writes an SVG document in pieces. All that it wants is in it, the script too; without a script it is a picture.
/// Names may hold any bytes: what is no text becomes U+FFFD. The first lines tell the unit, how much was counted, and how
/// many frames were too narrow to be drawn. REQUIRES: !graph.frames.empty(). Throws what `write` throws. Thread-safe.
///
/// A frame of a differential flame graph is red where its own count grew, blue where it shrank, and the stronger the nearer
/// that change is to the largest one of all frames, drawn or not.
void write_flame_svg(FlameGraph const& graph, FlamePicture const& picture,
                     std::function<void(std::string_view)> const& write);

}  // namespace tracing::inline v1
