// printed(): the text that a print layer makes of what a test emits.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"

namespace tracing_test {

/// Calls `emit` under a print layer with these options and returns the printed text.
template <class F>
std::string printed(tracing::PrintOptions options, F emit) {
  std::string text;
  options.writer = tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view line) { text.append(line); }));
  tracing::with_default(tracing::RegistryBuilder().with(tracing::print_layer(std::move(options))).build(), emit);
  return text;
}

}  // namespace tracing_test
