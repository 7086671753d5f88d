// Reads any bytes as folded lines and draws them in every way.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/inspect/flame_graph.h"
#include "tracing_core/inspect/flame_svg.h"
#include "tracing_core/inspect/folded.h"

namespace {

using tracing::FlameBuilder;
using tracing::FlameGraph;
using tracing::FlameKind;
using tracing::FoldedLine;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(FlameGraph const& graph) {
  for (auto const& frame : graph.frames) {
    require(frame.start <= graph.total() && frame.width <= graph.total() - frame.start);
  }
  if (!graph.frames.empty()) write_flame_svg(graph, {}, [](std::string_view text) { require(!text.empty()); });
}

template <class OnLine>
void for_each_line(std::string_view text, OnLine on_line) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    std::string_view const line = text.substr(0, text.find('\n'));
    FoldedLine const parsed = tracing::parse_folded_line(line);
    require((parsed.kind == FoldedLine::Kind::bad) == !parsed.problem.empty());
    if (parsed.kind == FoldedLine::Kind::bad) {
      require(to_string(tracing::BadFoldedLine{"f", number, parsed.piece, parsed.problem}).find('\x1b') ==
              std::string::npos);
    }
    if (parsed.kind == FoldedLine::Kind::stack) {
      require(!parsed.stack.empty());
      on_line(parsed);
    }
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<char const*>(data), size);
  for (FlameKind const kind : {FlameKind::graph, FlameKind::reversed, FlameKind::chart, FlameKind::chart_last_first}) {
    FlameBuilder builder(kind);
    for_each_line(text, [&](FoldedLine const& line) { builder.add(line.stack, line.count); });
    check(std::move(builder).build());
  }
  FlameBuilder builder(FlameKind::graph);
  for_each_line(text, [&](FoldedLine const& line) { builder.add(line.stack, line.count, line.count / 2); });
  check(std::move(builder).build(tracing::FlameDifference{}));
  return 0;
}
