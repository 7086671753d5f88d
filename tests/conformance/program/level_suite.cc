// The cases of levels.json: texts parsed as a level and as a level filter.
#include "tracing_core/model/level.h"

#include "object_reader.h"
#include "suite.h"

namespace conformance {
namespace {

// Returns "Info" for "INFO", as the reference's Debug writes it.
std::string capitalised(std::string_view name) {
  std::string out(name);
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = static_cast<char>(out[i] + ('a' - 'A'));
  return out;
}

std::string upper_case(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = static_cast<char>(c - ('a' - 'A'));
  return out;
}

Json failed(std::string_view error) { return {{"ok", false}, {"error", error}}; }

Json read_level(std::string const& text) {
  std::string_view error;
  auto const level = tracing::parse_level(text, &error);
  if (!level) return failed(error);
  std::string_view const name = tracing::name(*level);
  return {{"ok", true}, {"display", name}, {"debug", "Level(" + capitalised(name) + ")"}};
}

Json read_level_filter(std::string const& text) {
  std::string_view error;
  auto const filter = tracing::parse_level_filter(text, &error);
  if (!filter) return failed(error);
  std::string_view const name = tracing::name(*filter);
  return {{"ok", true}, {"display", name}, {"debug", "LevelFilter::" + upper_case(name)}};
}

Json answer(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  auto const text = reader.get<std::string>("text");
  reader.finish();
  return {{"level", read_level(text)}, {"level_filter", read_level_filter(text)}};
}

}  // namespace

constinit Suite const kLevels{.file = "levels", .tasks_per_process = 64, .answer = answer};

}  // namespace conformance
