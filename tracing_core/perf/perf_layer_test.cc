#include "tracing_core/perf/perf_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/resident_memory.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/perf/perf_test_support.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/record/ring/record_layer.h"

namespace tracing::perf_test { namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(PerfSelection, IgnoresOtherFilters) {
  Collected collected({}, FormatKind::full, to_filter(EnvFilter::parse_lossy("error")));
  {
    TRACE_SPAN(info, "hidden");
    lib::ldg(4);
    TRACE_INFO("hidden, too");
  }
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_ldg\" bytes=4}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSelection, TakesDirectivesWithTheRealName) {
  Collected collected({.directives = "other=trace,[cpu_ldg]=debug"});
  lib::program(1);
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_ldg\" bytes=4}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n"
            "DEBUG perf{name=\"cpu_ldg\" bytes=8}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
  Collected levels({.directives = "info"});
  lib::program(1);
  EXPECT_EQ(levels.take_without_durations(),
            " INFO perf{name=\"cpu_execute_program\" blocks=1}: lib: performance_span_complete duration_us=<us> "
            "duration_ms=<ms>\n");
}

TEST(PerfSelection, LeavesOutLevelTraceByDefault) {
  auto const emit = [] {
    { TRACE_PERF_AT(debug, "usual"); }
    { TRACE_PERF_AT(trace, "detail"); }
  };
  Collected usual;
  emit();
  EXPECT_NE(usual.summary().find("usual"), nullptr);
  EXPECT_EQ(usual.summary().find("detail"), nullptr);
  Collected all({.directives = "trace"});
  emit();
  EXPECT_NE(all.summary().find("detail"), nullptr);
}

TEST(PerfSelection, IsEachLayersOwn) {
  auto [info_layer, info_filter, info] = perf_layer({.directives = "info"});
  auto [load_layer, load_filter, loads] = perf_layer({.directives = "[cpu_ldg]=debug"});
  auto const registry = RegistryBuilder()
                            .with(std::move(info_layer), std::move(info_filter))
                            .with(std::move(load_layer), std::move(load_filter))
                            .build();
  with_default(registry, [] { lib::program(1); });
  EXPECT_THAT(info->summary().rows, SizeIs(1));
  EXPECT_EQ(info->summary().find("cpu_execute_program")->count, 1u);
  EXPECT_THAT(loads->summary().rows, SizeIs(1));
  EXPECT_EQ(loads->summary().find("cpu_ldg")->count, 2u);
}

TEST(PerfSelection, CanNameTheOrdinarySpanAroundPerfSpans) {
  Collected collected({.directives = "[launch{stream=7}]=debug"});
  lib::ldg(1);
  lib::Machine::run();
  EXPECT_THAT(collected.summary().rows, SizeIs(2));
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u);
}

TEST(PerfSelection, SkipsAndReportsInvalidDirectives) {
  std::vector<ParseError> errors;
  auto const perf = perf_layer({.directives = "lib=debgu,lib=debug"}, &errors);
  EXPECT_THAT(errors, SizeIs(1));
  EXPECT_EQ(perf.filter->max_level_hint(), LevelFilter::debug);
}

TEST(PerfSelection, DoesNotTurnOrdinaryRecordsOn) {
  auto [layer, filter, statistics] = perf_layer();
  auto const registry = RegistryBuilder().with(std::move(layer), std::move(filter)).build();
  int evaluated = 0;
  with_default(registry, [&] {
    TRACE_SPAN(error, "ordinary", kv("evaluated", ++evaluated));
    TRACE_ERROR("ordinary {}", ++evaluated);
  });
  EXPECT_EQ(evaluated, 0);
}

TEST(PerfThreshold, HidesShorterSpansAndSumsUpAll) {
  Collected collected({.threshold = 500us});
  load(499'999);
  load(500'000);
  EXPECT_THAT(collected.take(), ::testing::MatchesRegex(".*duration_us=500 duration_ms=0.5\n"));
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u);
}

TEST(PerfThreshold, YieldsToTheThresholdOfTheSpan) {
  Collected collected({.threshold = 1h});
  { TRACE_PERF("always", threshold(0us), target("t")); }
  { TRACE_PERF("never", target("t")); }
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"always\"}: t: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
  Collected without;
  { TRACE_PERF("long", threshold(std::chrono::hours(1)), target("t")); }
  EXPECT_EQ(without.take(), "");
}

// The maxima of these durations do not fit into 64 bits of nanoseconds.
TEST(PerfThreshold, MayBeTheMaximumOfADuration) {
  Collected collected;
  { TRACE_PERF("seconds", threshold(std::chrono::seconds::max()), target("t")); }
  { TRACE_PERF("hours", threshold(std::chrono::hours::max()), target("t")); }
  { TRACE_PERF("microseconds", threshold(std::chrono::microseconds::max()), target("t")); }
  { TRACE_PERF("nanoseconds", threshold(std::chrono::nanoseconds::max()), target("t")); }
  {
    TRACE_PERF("infinite", threshold(std::chrono::duration<double>(std::numeric_limits<double>::infinity())),
               target("t"));
  }
  EXPECT_EQ(collected.take(), "");
  using Seconds = std::chrono::duration<double>;
  constexpr std::uint64_t kLongest = ~std::uint64_t{0} - 1;
  static_assert(threshold(std::chrono::hours::max()).ns == kLongest);
  static_assert(threshold(Seconds(18446744073.709552)).ns == kLongest);  // 2^64 ns
  static_assert(threshold(Seconds(18446744073.7)).ns < kLongest);
  static_assert(threshold(std::chrono::nanoseconds::max()).ns == std::uint64_t{1} << 63);
  static_assert(threshold(std::chrono::hours::min()).ns == 0 && threshold(-1ns).ns == 0);
  EXPECT_EQ(threshold(Seconds(std::numeric_limits<double>::quiet_NaN())).ns, 0u);
  EXPECT_EQ(threshold(Seconds(-std::numeric_limits<double>::infinity())).ns, 0u);
}

TEST(PerfEvent, IsOnIfPerfSpansAre) {
  std::string json;
  Collected collected({.json = to_text(json)}, FormatKind::full, to_filter(EnvFilter::parse_lossy("off")));
  TRACE_PERF_EVENT("cache {}", "cold", kv("misses", 3), target("t"));
  EXPECT_EQ(collected.take(), "DEBUG t: cache cold misses=3\n");
  EXPECT_EQ(json.substr(json.find("\"level\"")),
            "\"level\":\"DEBUG\",\"fields\":{\"event\":\"cache cold\",\"misses\":3}}\n");
}

// Notes the names of spans and the places of events.
class Noting final : public Layer {
 public:
  explicit Noting(std::vector<std::string>& notes) : notes_(notes) {}
  Hooks hooks() const noexcept override { return Hooks::new_span | Hooks::event | Hooks::close; }
  void on_new_span(SpanRef span, NewSpan const&, Context const&) noexcept override {
    notes_.push_back("new " + std::string(span.metadata().name()));
  }
  void on_event(Event const& event, Context const& context) noexcept override {
    SpanRef const span = context.current_span();
    notes_.push_back("event in " + (span ? std::string(span.metadata().name()) : "nothing") + " of " +
                     std::string(event.metadata().target()));
  }
  void on_close(SpanRef span, Context const&) noexcept override {
    notes_.push_back("close " + std::string(span.metadata().name()));
  }

 private:
  std::vector<std::string>& notes_;
};

TEST(PerfSpan, IsKnownToOtherLayersByItsRealName) {
  std::vector<std::string> notes;
  auto [layer, filter, statistics] = perf_layer();
  auto const registry = RegistryBuilder()
                            .with(std::make_unique<Noting>(notes), level_filter(LevelFilter::off))
                            .with(std::move(layer), std::move(filter))
                            .build();
  with_default(registry, [] { lib::ldg(4); });
  EXPECT_THAT(notes, ElementsAre("new cpu_ldg", "event in cpu_ldg of lib", "close cpu_ldg"));
}

TEST(PerfSummaryMode, IsSeenByNoOtherLayer) {
  Collected collected({.report = false});
  lib::Machine::run();
  {
    TRACE_PERF("outer");
    TRACE_INFO("inside", target("t"));
  }
  EXPECT_EQ(collected.take(), " INFO t: inside\n");
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u);
}

// No perf events: so their arguments, such as counts of a kernel's instructions, are not computed.
TEST(PerfSummaryMode, MakesNoPerfEvents) {
  int evaluated = 0;
  {
    Collected sums({.report = false});
    TRACE_PERF_EVENT("counted", kv("count", ++evaluated), target("t"));
    EXPECT_EQ(sums.take(), "");
  }
  EXPECT_EQ(evaluated, 0);
  std::string json;
  Collected with_file({.report = false, .json = to_text(json)});
  TRACE_PERF_EVENT("counted", kv("count", ++evaluated), target("t"));
  EXPECT_EQ(evaluated, 1) << "a file receives them";
}

TEST(PerfSpan, PrintsTheSameLiveAndFromARecording) {
  auto const store = std::make_shared<internal::RecordStore>(internal::Region::make_anonymous(1 << 20));
  auto [layer, filter, statistics] = perf_layer();
  std::string live, replayed;
  auto const print = [](std::string& text) {
    PrintOptions options;
    options.format.timer = nullptr;
    options.writer = to_text(text);
    return print_layer(std::move(options));
  };
  auto const registry = RegistryBuilder()
                            .with(print(live))
                            .with(std::make_unique<internal::RecordLayer>(store))
                            .with(std::move(layer), std::move(filter))
                            .build();
  with_default(registry, lib::Machine::run);
  auto const recording = recording::read_region(store->region());
  recording::replay(*recording, *RegistryBuilder().with(print(replayed), with_perf_spans(nullptr)).build(),
                    [](recording::Entry const&) { return true; });
  EXPECT_EQ(replayed, live);
  EXPECT_THAT(live, HasSubstr("perf{name=\"cpu_ldg\" bytes=4}"));
}

TEST(PerfSpan, MemoryDoesNotGrowWithTheirNumber) {
  Collected collected({.threshold = 1h});
  for (int i = 0; i < 1000; ++i) lib::program(i);
  std::size_t const before = tracing_test::resident_kib();
  for (int i = 0; i < 333'333; ++i) lib::program(i);
  EXPECT_LE(tracing_test::resident_kib(), before + 512);
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u * 334'333);
}

TEST(PerfSpan, OutlivesItsRegistryAndKeepsItsStatistics) {
  std::shared_ptr<PerfStatistics const> kept;
  {
    auto [layer, filter, statistics] = perf_layer({.report = false});
    kept = statistics;
    auto registry = RegistryBuilder().with(std::move(layer), std::move(filter)).build();
    auto scope = std::make_unique<ScopedDefault>(registry);
    TRACE_PERF("open");
    registry.reset();
    scope.reset();
  }
  EXPECT_EQ(kept->summary().find("open")->count, 1u);
}

}}  // namespace tracing::perf_test
