// The cases of flame.json: folded stacks, byte for byte except durations.
#include <string>
#include <string_view>

#include "object_reader.h"
#include "scenario.h"
#include "suite.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/line_sink.h"

namespace conformance {
namespace {

tracing::FlameOptions flame_options(ObjectReader& input) {
  tracing::FlameOptions options;
  options.as_tracing_flame = true;
  Json const* const config = input.find("config");
  if (config == nullptr) return options;
  ObjectReader reader(*config, "the config");
  options.empty_samples = reader.get_or("empty_samples", options.empty_samples);
  options.threads_collapsed = reader.get_or("threads_collapsed", options.threads_collapsed);
  options.module_path = reader.get_or("module_path", options.module_path);
  options.file_and_line = reader.get_or("file_and_line", options.file_and_line);
  reader.finish();
  return options;
}

// Returns the lines of `text` with `<ns>` for the number at their end; marks a last line without a line end.
Json lines_of(std::string const& text) {
  Json lines = Json::array();
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    std::string line = text.substr(begin, end - begin);
    std::size_t const number = line.find_last_not_of("0123456789") + 1;
    if (number > 0 && number < line.size() && line[number - 1] == ' ') line.replace(number, line.npos, "<ns>");
    lines.push_back(std::move(line));
  }
  if (begin < text.size()) lines.push_back(text.substr(begin) + " (a line without an end)");
  return lines;
}

Json flame(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  Scenario& scenario = Scenario::start(reader.at("callsites"));
  Json const& operations = reader.at("ops");
  tracing::FlameOptions const options = flame_options(reader);
  reader.finish();

  auto& text = *new std::string;  // never destroyed, like the registry
  auto [layer, guard] = tracing::flame_layer(
      tracing::to_sink(tracing::make_sink([&text](tracing::Level, std::string_view block) { text += block; })),
      options);
  tracing::set_global_default(tracing::RegistryBuilder().with(std::move(layer)).build());
  for (Json const& operation : operations) scenario.play(operation);
  guard.flush();
  return {{"lines", lines_of(text)}};
}

}  // namespace

constinit Suite const kFlame{.file = "flame", .tasks_per_process = 1, .answer = flame};

}  // namespace conformance
