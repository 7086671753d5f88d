// printed() returns the text that a print layer makes of the records that a test emits.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"

namespace tracing_test {

/// Calls `emit` under a print layer with these options and returns the printed text. The directives must leave out the
/// records that other threads make meanwhile.
template <class F>
std::string printed(tracing::PrintOptions options, F emit, std::string_view directives = "trace") {
  std::string text;
  options.writer =
      tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view line) { text.append(line); }));
  auto filter = tracing::to_filter(tracing::EnvFilter::parse_lossy(directives));
  tracing::with_default(
      tracing::RegistryBuilder().with(tracing::print_layer(std::move(options)), std::move(filter)).build(), emit);
  return text;
}

}  // namespace tracing_test
