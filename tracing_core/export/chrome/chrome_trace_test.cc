// Chrome traces of recordings.
#include "tracing_core/export/chrome/chrome_trace.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

using namespace internal;

TEST(ChromeTrace, HasOnlyWhatIsWanted) {
  auto const store = std::make_shared<RecordStore>(Region::make_anonymous(1 << 20));
  with_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(), [] {
    for (int i = 0; i < 1000; ++i) {
      TRACE_SPAN(info, "step", i);
    }
  });
  auto const recording = read_region(store->region());
  TraceSource one(*recording);
  one.process = "a process";
  int seen = 0;
  one.is_wanted = [&seen](Entry const&) { return ++seen <= 4; };  // two spans
  std::string plain;
  write_chrome(std::move(one), {}, [&plain](std::string_view text) { plain += text; });
  std::string phases;
  for (auto const& event : nlohmann::json::parse(plain)) phases += event["ph"];
  EXPECT_EQ(phases, "MMBEBE");
}

TEST(ChromeTraceOfAProfile, HasNoEndOfASpanThatBeganBefore) {
  auto const store = std::make_shared<RecordStore>(Region::make_anonymous(1 << 20));
  std::uint64_t start = 0;
  with_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(), [&start] {
    auto const held = TRACE_MAKE_SPAN(info, "held").entered();
    TRACE_SPAN(info, "request");
    start = ticks_now();
    TRACE_SPAN(info, "query");
  });
  auto const recording = read_region(store->region());
  recording->start_at(start);
  std::string text;
  write_chrome(TraceSource(*recording), {}, [&text](std::string_view part) { text += part; });
  std::string slices;
  for (auto const& event : nlohmann::json::parse(text)) {
    if (event["ph"] != "M") slices += event["ph"].get<std::string>() + " " + event["name"].get<std::string>() + "|";
  }
  EXPECT_EQ(slices, "B query|E query|");
}

}}  // namespace tracing::recording
