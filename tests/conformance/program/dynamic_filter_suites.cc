// The cases of env_filter_dynamic.json and env_filter_values.json: filters that depend on the current spans of threads.
#include <memory>
#include <utility>

#include "filter_text.h"
#include "recorded_values.h"
#include "scenario.h"
#include "suite.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/registry.h"

namespace conformance {
namespace {

using tracing::EnvFilter;

// Counts the spans and events that reach it.
class Observer final : public tracing::Layer {
 public:
  explicit Observer(std::size_t& seen) : seen_(seen) {}
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::new_span | tracing::Hooks::event; }
  void on_new_span(tracing::SpanRef, tracing::NewSpan const&, tracing::Context const&) noexcept override { ++seen_; }
  void on_event(tracing::Event const&, tracing::Context const&) noexcept override { ++seen_; }

 private:
  std::size_t& seen_;
};

// Returns the stage that decides whether a callsite is enabled: the maximum level, or the filter's interest in the
// callsite.
std::string_view stage(EnvFilter& filter, tracing::Metadata const& metadata) {
  if (!(metadata.level() <= filter.max_level_hint())) return "max_level";
  return name_of(filter.callsite_enabled(metadata));
}

enum Part : std::size_t { kGlobal, kPerLayer, kParts };

std::size_t dynamic_parts(Json const&) { return kParts; }

Json dynamic(Json const& input, std::size_t part) {
  ObjectReader reader(input, "the input");
  FilterSettings const settings(reader);
  Scenario& scenario = Scenario::start(reader.at("callsites"));
  Json const& operations = reader.at("ops");
  reader.finish();

  std::size_t seen = 0;
  auto owned = std::make_unique<EnvFilter>(settings.make());
  EnvFilter& filter = *owned;
  auto observer = std::make_unique<Observer>(seen);
  tracing::set_global_default(
      part == kGlobal ? tracing::RegistryBuilder().with_filter(std::move(owned)).with(std::move(observer)).build()
                      : tracing::RegistryBuilder().with(std::move(observer), std::move(owned)).build());

  Json steps = Json::array();
  for (Json const& operation : operations) {
    seen = 0;
    Step const step = scenario.play(operation);
    if (part == kPerLayer) {
      steps.push_back(step.emitted == nullptr ? Json() : Json(seen == 1));
    } else if (step.on_disabled_span) {
      steps.push_back("noop");
    } else {
      steps.push_back(step.emitted == nullptr ? Json() : Json{seen == 1, stage(filter, *step.emitted)});
    }
  }
  if (part == kPerLayer) return {{"per_layer_seen", steps}};
  return {{"display", filter.to_string()}, {"max_level_hint", tracing::name(filter.max_level_hint())}, {"ops", steps}};
}

Json merge(Json&& parts) {
  Json out = Json::object();
  for (Json const& part : parts) out.update(part);
  return out;
}

Json values(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  FilterSettings const settings(reader);
  Json const& list = reader.at("values");
  reader.finish();

  EnvFilter const filter = settings.make();
  std::size_t seen = 0;
  tracing::ScopedDefault const scope(tracing::RegistryBuilder()
                                         .with_filter(std::make_unique<EnvFilter>(settings.make()))
                                         .with(std::make_unique<Observer>(seen))
                                         .build());
  tracing::RuntimeCallsite const span(
      {.kind = tracing::Kind::span, .name = "span", .target = "app", .level = tracing::Level::info, .fields = {"x"}});
  tracing::RuntimeCallsite const event({.target = "app", .level = tracing::Level::debug, .fields = {"message"}});
  Json const text = Json::array({{"message", {{"args", "m"}}}});
  RecordedValues const message(text, event.metadata());
  Json matched = Json::array();
  for (Json const& value : list) {
    Json const recorded = Json::array({{"x", value}});
    auto const inside =
        tracing::Span::make(span.callsite(), RecordedValues(recorded, span.metadata()).data()).entered();
    seen = 0;
    tracing::emit_event(event.callsite(), message.data());
    matched.push_back(seen == 1);
  }
  return {{"display", filter.to_string()},
          {"max_level_hint", tracing::name(filter.max_level_hint())},
          {"matched", matched}};
}

}  // namespace

constinit Suite const kEnvFilterDynamic{
    .file = "env_filter_dynamic", .tasks_per_process = 1, .parts = dynamic_parts, .answer = dynamic, .join = merge};
constinit Suite const kEnvFilterValues{.file = "env_filter_values", .tasks_per_process = 8, .answer = values};

}  // namespace conformance
