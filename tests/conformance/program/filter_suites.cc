// The cases of env_filter_parse.json, env_filter_static.json and targets.json: parsing of filters, and their decisions
// about callsites when no span is open.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filter_text.h"
#include "object_reader.h"
#include "scenario.h"
#include "suite.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/filter/targets.h"

namespace conformance {
namespace {

using tracing::EnvFilter;
using tracing::ParseError;

Json description_of(tracing::Filter const& filter, std::string const& text) {
  return {{"display", text}, {"max_level_hint", tracing::name(filter.max_level_hint())}};
}

Json description_of(EnvFilter const& filter) { return description_of(filter, filter.to_string()); }

Json error_answer(ParseError const& error) { return {{"ok", false}, {"error", error.message}}; }

Json parse(std::string const& text, tracing::EnvFilterOptions const& options) {
  ParseError error;
  auto const filter = EnvFilter::parse(text, options, &error);
  if (!filter) return error_answer(error);
  Json out = description_of(*filter);
  out["ok"] = true;
  return out;
}

// Writes errors as the reference writes them to standard error, without the position and the expected text that our
// messages have.
Json parse_lossy(std::string const& text, tracing::EnvFilterOptions const& options) {
  std::vector<ParseError> errors;
  Json out = description_of(EnvFilter::parse_lossy(text, options, &errors));
  std::string lines;
  for (ParseError const& error : errors) lines += "ignoring `" + error.piece + "`: " + error.message + "\n";
  out["stderr"] = lines;
  return out;
}

Json env_filter_parse(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  auto const text = reader.get<std::string>("filter");
  tracing::EnvFilterOptions options{.literal_text = false};
  bool const has_default = reader.find("default_directive") != nullptr;
  if (has_default) options.default_directive = directive_of(reader.get<std::string>("default_directive"));
  reader.finish();

  Json out;
  for (bool const regex : {true, false}) {
    options.regex = regex;
    out[regex ? "regex" : "no_regex"] = {{"parse", parse(text, options)}, {"parse_lossy", parse_lossy(text, options)}};
  }
  if (has_default) return out;
  {
    StderrCapture const capture;
    out["new"] = description_of(
        EnvFilter::parse_lossy(text, {.default_directive = tracing::Directive::parse("error"), .literal_text = false}));
  }
  ParseError error;
  auto const directive = tracing::Directive::parse(text, &error, tracing::ValueSyntax::regex);
  out["directive"] = directive ? Json{{"ok", true}, {"display", directive->to_string()}} : error_answer(error);
  return out;
}

// Errors in patterns are worded unlike the reference's: cuts each line where such an error begins.
void cut_pattern_errors(Json& answer) {
  if (answer.is_structured()) {
    for (Json& inner : answer) cut_pattern_errors(inner);
  } else if (answer.is_string()) {
    constexpr std::string_view kBeginning = "invalid field filter:";
    auto text = answer.get<std::string>();
    for (std::size_t at = text.find(kBeginning); at != text.npos; at = text.find(kBeginning, at)) {
      at += kBeginning.size();
      text.erase(at, text.find('\n', at) - at);
    }
    answer = std::move(text);
  }
}

tracing::RuntimeCallsite queried_callsite(Json const& query) {
  ObjectReader reader(query, "the query");
  Json const callsite = {{"kind", reader.get<bool>("is_span") ? "span" : "event"},
                         {"target", reader.at("target")},
                         {"name", reader.at("name")},
                         {"level", reader.at("level")},
                         {"fields", reader.at("fields")}};
  reader.finish();
  return make_callsite(callsite, "the query");
}

Json env_filter_static(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  FilterSettings const settings(reader);
  Json const& queries = reader.at("queries");
  reader.finish();

  EnvFilter filter = settings.make();
  tracing::ScopedDefault const scope(
      tracing::RegistryBuilder().with_filter(std::make_unique<EnvFilter>(settings.make())).build());
  Json out = description_of(filter);
  out["decisions"] = Json::array();
  for (Json const& query : queries) {
    auto const callsite = queried_callsite(query);
    out["decisions"].push_back({{"interest", name_of(filter.callsite_enabled(callsite.metadata()))},
                                {"enabled", filter.enabled(callsite.metadata())},
                                {"macro_enabled", callsite.callsite().enabled() != 0}});
  }
  return out;
}

Json targets(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  auto const text = reader.get<std::string>("filter");
  Json const& queries = reader.at("queries");
  reader.finish();

  ParseError error;
  auto filter = tracing::Targets::parse(text, &error);
  if (!filter) return error_answer(error);
  Json out = description_of(*filter, filter->to_string());
  out["ok"] = true;
  auto const default_level = filter->default_level();
  out["default_level"] = default_level ? Json(tracing::name(*default_level)) : Json();
  out["iter"] = Json::array();
  for (auto const& [target, level] : filter->targets()) out["iter"].push_back({target, tracing::name(level)});
  out["would_enable"] = Json::array();
  out["interest"] = Json::array();
  for (Json const& query : queries) {
    auto const callsite = queried_callsite(query);
    auto const& metadata = callsite.metadata();
    out["would_enable"].push_back(filter->would_enable(metadata.target(), metadata.level()));
    out["interest"].push_back(name_of(filter->callsite_enabled(metadata)));
  }
  return out;
}

}  // namespace

constinit Suite const kEnvFilterParse{
    .file = "env_filter_parse", .tasks_per_process = 64, .answer = env_filter_parse, .normalise = cut_pattern_errors};
constinit Suite const kEnvFilterStatic{
    .file = "env_filter_static", .tasks_per_process = 16, .answer = env_filter_static};
constinit Suite const kTargets{.file = "targets", .tasks_per_process = 64, .answer = targets};

}  // namespace conformance
