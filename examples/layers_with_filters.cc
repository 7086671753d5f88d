// Each layer has its own filter: a short text for people, everything as JSON for a program.
#include <string_view>

#include <tracing_core/tracing.h>

#include "collect.h"

namespace store {
void save(std::string_view key) {
  TRACE_SPAN(debug, "save", key);
  TRACE_DEBUG("hashing");
  TRACE_INFO("saved");
}
}  // namespace store

int main() {
  using tracing::FormatKind;
  using tracing::LevelFilter;

  // filter_all(), filter_any() and filter_none() combine filters.
  auto not_hashing = tracing::filter_all(tracing::Targets().with_target("store", LevelFilter::debug),
                                         tracing::filter_none(tracing::filter_fn([](tracing::Metadata const& m) {
                                           return m.is_event() && m.level() == tracing::Level::debug;
                                         })));

  tracing::set_global_default(
      tracing::RegistryBuilder()
          .with(tracing::print_layer({.format = {.timer = nullptr}, .writer = examples::standard_output()}),
                tracing::to_filter(LevelFilter::info))
          .with(tracing::print_layer({.format = {.kind = FormatKind::compact}, .writer = examples::standard_output()}),
                std::move(not_hashing))
          .with(tracing::print_layer(
              {.format = {.kind = FormatKind::json, .current_span = false}, .writer = examples::standard_output()}))
          .build());
  store::save("alpha");
}
