// Helpers for tests of folded lines.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/tracing.h"

namespace flame_test {

using tracing::flame_layer;
using tracing::FlameOptions;
using tracing::Registry;
using tracing::RegistryBuilder;

struct Folded {
  std::string stack;
  std::uint64_t ns = 0;
};

// Parses a complete file. A line that cannot be parsed fails the test.
inline std::vector<Folded> parse(std::string const& text) {
  std::vector<Folded> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    std::string const line = text.substr(begin, end - begin);
    std::size_t const blank = line.rfind(' ');
    Folded folded{line.substr(0, blank), 0};
    char const* const last = line.data() + line.size();
    bool const is_line = blank != line.npos && blank > 0 && blank + 1 < line.size() &&
                         std::from_chars(line.data() + blank + 1, last, folded.ns).ptr == last;
    EXPECT_TRUE(is_line) << line;
    if (is_line) lines.push_back(std::move(folded));
  }
  EXPECT_EQ(begin, text.size()) << "the last line is broken: " << text.substr(begin);
  return lines;
}

inline std::vector<std::string> stacks(std::string const& text) {
  std::vector<std::string> names;
  for (Folded& line : parse(text)) names.push_back(std::move(line.stack));
  return names;
}

// Returns this thread's root, as the layer writes it.
inline std::string this_thread() {
  std::string text;
  {
    auto [layer, guard] =
        flame_layer(tracing::to_sink(tracing::make_sink([&](tracing::Level, std::string_view t) { text += t; })));
    tracing::with_default(RegistryBuilder().with(std::move(layer)).build(), [] { TRACE_SPAN(info, "a"); });
  }
  return stacks(text).at(0);
}

// A registry with a flame layer that writes to `text`.
struct Recorder {
  explicit Recorder(FlameOptions const& options = {}, std::unique_ptr<tracing::Filter> filter = nullptr) {
    auto [layer, made_guard] =
        flame_layer(tracing::to_sink(tracing::make_sink([this](tracing::Level, std::string_view block) {
                      blocks.emplace_back(block);
                      text += block;
                    })),
                    options);
    guard = std::move(made_guard);
    registry = RegistryBuilder().with(std::move(layer), std::move(filter)).build();
  }

  // Returns the stacks that `f()` makes, without this thread's root.
  template <class F>
  std::vector<std::string> stacks_of(F&& f) {
    tracing::with_default(registry, f);
    guard.flush();
    std::vector<std::string> all = stacks(text);
    for (std::string& one : all) one.erase(0, std::min(one.size(), this_thread().size()));
    return all;
  }

  std::string text;
  std::vector<std::string> blocks;
  tracing::FlameGuard guard;
  std::shared_ptr<Registry> registry;
};

using Stacks = std::vector<std::string>;

inline void outer_and_inner() {
  TRACE_SPAN(info, "outer");
  { TRACE_SPAN(debug, "inner", tracing::kv("field", 1)); }
  TRACE_INFO("events are not written");
}

}  // namespace flame_test
