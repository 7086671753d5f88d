// Helpers for tests of the Chrome layer.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/tracing.h"

namespace tracing::chrome_test {

using Json = nlohmann::json;

inline std::shared_ptr<LineSink> into(std::string& text) {
  return make_sink([&text](Level, std::string_view block) { text += block; });
}

inline void emit_a_little() {
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_INFO("hello {}", "you", tracing::kv("ratio", 0.5));
  TRACE_SPAN(debug, "inner");
}

using RegistryPtr = std::shared_ptr<Registry>;

// Returns the text that a layer writes while `emit` runs. `emit` may take the registry, for other threads.
template <class F>
std::string trace_text(ChromeOptions options, F emit) {
  std::string text;
  options.sink = into(text);
  auto [layer, guard] = chrome_layer(std::move(options));
  RegistryPtr const registry = RegistryBuilder().with(std::move(layer)).build();
  with_default(registry, [&] {
    if constexpr (std::is_invocable_v<F, RegistryPtr const&>) {
      emit(registry);
    } else {
      emit();
    }
  });
  guard = {};
  return text;
}

// Parses the records; fails the test if the text is not strict JSON.
inline std::vector<Json> records_of(std::string const& text) {
  Json const all = Json::parse(text, nullptr, false);
  EXPECT_TRUE(all.is_array()) << text;
  return all.is_array() ? all.get<std::vector<Json>>() : std::vector<Json>();
}

// Returns the records that a layer writes while `emit` runs, without the names of processes and threads.
template <class F>
std::vector<Json> trace(ChromeOptions options, F emit) {
  std::vector<Json> records = records_of(trace_text(std::move(options), emit));
  std::erase_if(records, [](Json const& record) { return record["ph"] == "M"; });
  return records;
}

// Returns `B outer|i hello|E outer`.
inline std::string phases(std::vector<Json> const& records) {
  std::string out;
  for (Json const& record : records) {
    if (!out.empty()) out += '|';
    out += record["ph"].get<std::string>() + ' ' + record["name"].get<std::string>();
  }
  return out;
}

}  // namespace tracing::chrome_test
