// The cases of inferno.json: positions and titles of the frames of a flame graph, and the size of the picture.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "object_reader.h"
#include "suite.h"
#include "tracing_core/inspect/flame_graph.h"
#include "tracing_core/inspect/flame_svg.h"
#include "tracing_core/inspect/folded.h"

namespace conformance {
namespace {

struct Options {
  tracing::FlameKind kind = tracing::FlameKind::graph;
  tracing::FlamePicture picture{.title = "", .unit = "samples"};
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
    if (takes_value && i + 1 == words.size()) throw BadCase("no value after " + word);
    if (word == "--reverse") {
      options.kind = tracing::FlameKind::reversed;
    } else if (word == "--flamechart") {
      options.kind = tracing::FlameKind::chart_last_first;
    } else if (word == "--title") {
      options.picture.title = words[++i].get<std::string>();
    } else if (word == "--min-width") {
      options.picture.min_width_percent = number_of(words[++i].get<std::string>());
    } else {
      throw BadCase("unknown option: " + word);
    }
  }
  return options;
}

// Returns the text between `before` and `after`, searched from `at` on; sets `at` to its end.
std::string between(std::string const& text, std::string_view before, std::string_view after, std::size_t& at) {
  std::size_t const begin = text.find(before, at);
  std::size_t const end = begin == text.npos ? begin : text.find(after, begin + before.size());
  if (end == text.npos) throw BadCase("the picture has no " + std::string(before));
  at = end;
  return text.substr(begin + before.size(), end - begin - before.size());
}

std::string without_escapes(std::string text) {
  constexpr std::pair<std::string_view, char> kEscapes[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}};
  for (auto const& [escape, character] : kEscapes) {
    for (std::size_t at = 0; (at = text.find(escape, at)) != text.npos; ++at)
      text.replace(at, escape.size(), 1, character);
  }
  return text;
}

// Returns the frames in the picture, sorted by y, then by x, as in the cases.
Json frames_in(std::string const& svg) {
  std::vector<std::tuple<int, double, Json>> frames;
  for (std::size_t at = 0; (at = svg.find("<g class=\"f\"", at)) != svg.npos;) {
    std::string const title = without_escapes(between(svg, "<title>", "</title>", at));
    std::string const x = between(svg, " x=\"", "\"", at);
    int const y = std::stoi(between(svg, " y=\"", "\"", at));
    frames.emplace_back(y, std::stod(x), Json{title, x, y, between(svg, " width=\"", "\"", at)});
  }
  std::sort(frames.begin(), frames.end());
  Json list = Json::array();
  for (auto& frame : frames) list.push_back(std::move(std::get<Json>(frame)));
  return list;
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
  std::string svg;
  write_flame_svg(graph, options.picture, [&svg](std::string_view piece) { svg += piece; });
  std::size_t at = svg.find("<svg ");
  int const width = std::stoi(between(svg, " width=\"", "\"", at));
  int const height = std::stoi(between(svg, " height=\"", "\"", at));
  return {{"ok", true}, {"width", width}, {"height", height}, {"frames", frames_in(svg)}};
}

// Removes the message for a graph without frames, which is not compared.
void without_words(Json& answer) {
  if (answer.value("ok", true)) return;
  answer.erase("error");
  answer.erase("svg_message");
}

}  // namespace

constinit Suite const kInferno{
    .file = "inferno", .tasks_per_process = 100, .answer = inferno, .normalise = without_words};

}  // namespace conformance
