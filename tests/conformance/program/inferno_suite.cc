// The cases of inferno.json: where the frames of a flame graph stand, what their titles say, how large the picture is.
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "object_reader.h"
#include "suite.h"
#include "tracing_core/inspect/flame_graph.h"
#include "tracing_core/inspect/flame_layout.h"
#include "tracing_core/inspect/folded.h"

namespace conformance {
namespace {

struct Options {
  tracing::FlameKind kind = tracing::FlameKind::graph;
  tracing::FlameGeometry geometry;
};

double number_of(std::string const& text) {
  double number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) throw BadCase("not a number: " + text);
  return number;
}

Options read_options(Json const& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string const word = words[i].get<std::string>();
    bool const takes_value = word == "--title" || word == "--min-width";
    if (takes_value && i + 1 == words.size()) throw BadCase("no value behind " + word);
    if (word == "--reverse") {
      options.kind = tracing::FlameKind::reversed;
    } else if (word == "--flamechart") {
      options.kind = tracing::FlameKind::chart_last_first;
    } else if (word == "--title") {
      ++i;  // moves nothing
    } else if (word == "--min-width") {
      options.geometry.min_width_percent = number_of(words[++i].get<std::string>());
    } else {
      throw BadCase("unknown option: " + word);
    }
  }
  return options;
}

Json frames_of(tracing::FlameGraph const& graph, tracing::FlameLayout const& layout) {
  Json frames = Json::array();
  // From the top down, as the cases have them.
  for (std::size_t end = layout.frames.size(); end > 0;) {
    std::size_t begin = end;
    while (begin > 0 && layout.frames[begin - 1].y == layout.frames[end - 1].y) --begin;
    for (std::size_t i = begin; i < end; ++i) {
      tracing::PlacedFrame const& placed = layout.frames[i];
      frames.push_back({describe(graph, *placed.frame, "samples"), fmt::format("{:.4f}%", placed.x_percent), placed.y,
                        fmt::format("{:.4f}%", placed.width_percent)});
    }
    end = begin;
  }
  return frames;
}

Json inferno(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  Json const& lines = reader.at("lines");
  Options const options = read_options(reader.at("options"));
  reader.finish();

  tracing::FlameBuilder builder(options.kind);
  for (Json const& line : lines) {
    std::string const text = line.get<std::string>();
    tracing::FoldedLine const parsed = tracing::parse_folded_line(text);
    if (parsed.kind == tracing::FoldedLine::Kind::stack) builder.add(parsed.stack, parsed.count);
  }
  tracing::FlameGraph const graph = std::move(builder).build();
  if (graph.frames.empty()) return {{"ok", false}};
  tracing::FlameLayout const layout = place_frames(graph, options.geometry);
  return {{"ok", true}, {"width", layout.width}, {"height", layout.height}, {"frames", frames_of(graph, layout)}};
}

// How it says that there is nothing to draw is its own affair.
void without_words(Json& answer) {
  if (answer.value("ok", true)) return;
  answer.erase("error");
  answer.erase("svg_message");
}

}  // namespace

constinit Suite const kInferno{
    .file = "inferno", .tasks_per_process = 100, .answer = inferno, .normalise = without_words};

}  // namespace conformance
