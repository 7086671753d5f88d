#include "tracing_core/inspect/flame_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "tracing_core/inspect/grouped.h"

namespace tracing::inline v1 {
namespace {

using internal::grouped;

std::string change(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "the same";
  return after > before ? '+' + grouped(after - before) : '-' + grouped(before - after);
}

}  // namespace

FlameLayout place_frames(FlameGraph const& graph, FlameGeometry const& geometry) {
  double const percent_of_one = 100.0 / static_cast<double>(graph.total());
  double const narrowest = geometry.min_width_percent / percent_of_one;
  FlameLayout layout{.frames = {}, .width = geometry.width};
  std::uint32_t depth = 0;
  for (FlameFrame const& frame : graph.frames) {
    if (static_cast<double>(frame.width) < narrowest) continue;
    depth = std::max(depth, frame.depth);
    double const begin = static_cast<double>(frame.start) * percent_of_one;
    double const end = static_cast<double>(frame.start + frame.width) * percent_of_one;
    layout.frames.push_back({.frame = &frame, .x_percent = begin, .width_percent = end - begin});
  }
  int const lowest = geometry.top + static_cast<int>(depth) * geometry.frame_height;
  layout.height = lowest + geometry.frame_height + geometry.bottom;
  for (PlacedFrame& placed : layout.frames) {
    // The line of pixels above a frame is the gap to the next.
    placed.y = lowest - static_cast<int>(placed.frame->depth) * geometry.frame_height + 1;
  }
  return layout;
}

std::string_view without_mark(std::string_view name) noexcept {
  if (name.size() < 4 || name.back() != ']' || name.substr(name.size() - 4, 2) != "_[") return name;
  bool const is_mark = std::string_view("kijw").find(name[name.size() - 2]) != name.npos;
  return is_mark ? name.substr(0, name.size() - 4) : name;
}

std::string describe(FlameGraph const& graph, FlameFrame const& frame, std::string_view unit) {
  std::string text = frame.depth == 0 ? "all" : std::string(without_mark(graph.names[frame.name]));
  text += fmt::format(" ({} {}", grouped(graph.width == FlameWidth::after ? frame.count : frame.before), unit);
  if (frame.depth == 0) {
    text += ", 100%";
  } else {
    // In this order: the last digit depends on it.
    text += fmt::format(", {:.2f}%", 100.0 * static_cast<double>(frame.width) / static_cast<double>(graph.total()));
  }
  if (graph.is_differential) {
    text += fmt::format("; before {}, after {}: {}; own before {}, after {}: {}", grouped(frame.before),
                        grouped(frame.count), change(frame.before, frame.count), grouped(frame.self_before),
                        grouped(frame.self), change(frame.self_before, frame.self));
  }
  text += ')';
  return text;
}

}  // namespace tracing::inline v1
