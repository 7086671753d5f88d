// The cases of fmt_scenarios.json and values.json: printed text, byte for byte.
#include <memory>
#include <string>
#include <utility>

#include "printed_text.h"
#include "recorded_values.h"
#include "scenario.h"
#include "suite.h"
#include "tracing_core/export/print.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/record/ring/record_layer.h"

namespace conformance {
namespace {

using tracing::FormatKind;
using tracing::SpanEvents;
using tracing::internal::RecordStore;

template <class T, std::size_t kCount>
T look_up(std::pair<char const*, T> const (&names)[kCount], std::string const& what, std::string const& text) {
  for (auto const& [name, value] : names) {
    if (text == name) return value;
  }
  throw BadCase("unknown " + what + ": " + text);
}

FormatKind format_kind(std::string const& text) {
  static constexpr std::pair<char const*, FormatKind> kNames[] = {{"full", FormatKind::full},
                                                                  {"compact", FormatKind::compact},
                                                                  {"pretty", FormatKind::pretty},
                                                                  {"json", FormatKind::json}};
  return look_up(kNames, "format", text);
}

SpanEvents span_events(Json const& list) {
  static constexpr std::pair<char const*, SpanEvents> kNames[] = {
      {"NEW", SpanEvents::new_span}, {"ENTER", SpanEvents::enter},   {"EXIT", SpanEvents::exit},
      {"CLOSE", SpanEvents::close},  {"ACTIVE", SpanEvents::active}, {"FULL", SpanEvents::full},
      {"NONE", SpanEvents::none}};
  if (!list.is_array()) throw BadCase("`span_events` is not a list");
  SpanEvents all = SpanEvents::none;
  for (Json const& one : list)
    all = all | look_up(kNames, "span event", one.is_string() ? one.get<std::string>() : one.dump());
  return all;
}

enum class TimeKind { fixed, none, fail };

std::shared_ptr<tracing::Timer const> timer(std::string const& text) {
  static constexpr std::pair<char const*, TimeKind> kNames[] = {
      {"fixed", TimeKind::fixed}, {"none", TimeKind::none}, {"fail", TimeKind::fail}};
  switch (look_up(kNames, "time", text)) {
    case TimeKind::none: return nullptr;
    case TimeKind::fail: return tracing::make_timer([](tracing::TextBuffer&, tracing::Instant) { return false; });
    case TimeKind::fixed: break;
  }
  return tracing::make_timer([utc = tracing::utc_timer()](tracing::TextBuffer& out, tracing::Instant) {
    return utc->append(out, tracing::Instant{1'767'916'569'977'977'000});
  });
}

tracing::PrintOptions print_options(Json const& config) {
  ObjectReader reader(config, "the config");
  tracing::PrintOptions options;
  tracing::FormatOptions& format = options.format;
  format.kind = format_kind(reader.get<std::string>("format"));
  format.name_sanitization = false;  // the reference prints names unchanged
  format.all_values = true;          // prints each value of a field
  format.repeated_names = true;      // prints two members of one name in an object
  format.timer = timer(reader.get_or<std::string>("time", "fixed"));
  for (auto const& [key, option] : {std::pair{"ansi", &format.ansi},
                                    {"ansi_sanitization", &format.ansi_sanitization},
                                    {"target", &format.target},
                                    {"level", &format.level},
                                    {"thread_ids", &format.thread_ids},
                                    {"thread_names", &format.thread_names},
                                    {"flatten_event", &format.flatten_event},
                                    {"current_span", &format.current_span},
                                    {"span_list", &format.span_list}}) {
    *option = reader.get_or(key, *option);
  }
  if (reader.find("file") != nullptr) format.file = reader.get<bool>("file");
  if (reader.find("line_number") != nullptr) format.line_number = reader.get<bool>("line_number");
  if (Json const* const list = reader.find("span_events")) options.span_events = span_events(*list);
  reader.finish();
  return options;
}

std::size_t scenario_parts(Json const& input) {
  auto const configs = input.find("configs");
  if (configs == input.end() || !configs->is_array()) throw BadCase("the input has no list `configs`");
  return configs->size();
}

// Returns the text that `testlog show` would print.
std::string text_of_recording(RecordStore const& recorded, tracing::PrintOptions options) {
  std::string text;
  auto const recording = tracing::recording::read_region(recorded.region());
  auto const registry = printing_registry(std::move(options), text);
  tracing::recording::replay(*recording, *registry, [](tracing::recording::Entry const&) { return true; });
  for (std::string const& problem : recording->problems()) text += "problem: " + problem + "\n";
  return text;
}

// The recording of each scenario, replayed, must print the text that was printed at once, including durations. But the
// names of threads are as wide as the longest name that the process has printed.
Json scenario(Json const& input, std::size_t part) {
  ObjectReader reader(input, "the input");
  Scenario& scenario = Scenario::start(reader.at("callsites"));
  Json const& operations = reader.at("ops");
  Json const& config = reader.at("configs").at(part);
  reader.finish();

  auto& text = *new std::string;  // never destroyed, like the registry
  auto const recorded = std::make_shared<RecordStore>(tracing::internal::Region::make_anonymous(1 << 20));
  tracing::set_global_default(tracing::RegistryBuilder()
                                  .with(std::make_unique<tracing::internal::RecordLayer>(recorded))
                                  .with(printing_layer(print_options(config), text))
                                  .build());
  for (Json const& operation : operations) scenario.play(operation);
  if (config.value("thread_names", false)) return without_durations(text);
  std::string const replayed = text_of_recording(*recorded, print_options(config));
  if (replayed != text) throw BadCase("its recording prints otherwise: " + replayed);
  return without_durations(text);
}

Json outputs(Json&& parts) { return {{"outputs", std::move(parts)}}; }

tracing::PrintOptions bare(FormatKind kind) {
  tracing::PrintOptions options;
  options.format.kind = kind;
  options.format.timer = nullptr;
  options.format.level = false;
  options.format.target = false;
  options.format.span_list = false;
  return options;
}

// Returns the line of an event with this field alone.
std::string event_line(FormatKind kind, char const* field, Json const& value) {
  std::string text;
  tracing::ScopedDefault const scope(printing_registry(bare(kind), text));
  tracing::RuntimeCallsite const event({.target = "app", .fields = {field}});
  Json const list = Json::array({{field, value}});
  tracing::emit_event(event.callsite(), RecordedValues(list, event.metadata()).data());
  return text;
}

// Returns the line of an event without fields in a span with the field.
std::string line_in_span(FormatKind kind, Json const& value) {
  std::string text;
  tracing::ScopedDefault const scope(printing_registry(bare(kind), text));
  tracing::RuntimeCallsite const span({.kind = tracing::Kind::span, .name = "s", .target = "app", .fields = {"x"}});
  tracing::RuntimeCallsite const event({.target = "app"});
  Json const list = Json::array({{"x", value}});
  auto const inside = tracing::Span::make(span.callsite(), RecordedValues(list, span.metadata()).data()).entered();
  tracing::emit_event(event.callsite(), nullptr);
  return text;
}

Json values(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  Json const& value = reader.at("value");
  reader.finish();
  return {{"full_field", event_line(FormatKind::full, "x", value)},
          {"full_message", event_line(FormatKind::full, "message", value)},
          {"json_field", event_line(FormatKind::json, "x", value)},
          {"json_span_field", line_in_span(FormatKind::json, value)}};
}

}  // namespace

constinit Suite const kFmtScenarios{
    .file = "fmt_scenarios", .tasks_per_process = 1, .parts = scenario_parts, .answer = scenario, .join = outputs};
constinit Suite const kValues{.file = "values", .tasks_per_process = 32, .answer = values};

}  // namespace conformance
