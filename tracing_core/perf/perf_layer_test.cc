#include "tracing_core/perf/perf_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/approval.h"
#include "tests/support/resident_memory.h"
#include "tests/support/temporary_file.h"
#include "tracing_core/collect/record_ring.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/tracing.h"

namespace lib {

void ldg(int bytes) { TRACE_PERF("cpu_ldg", bytes); }

void program(int blocks) {
  TRACE_PERF_AT(info, "cpu_execute_program", blocks);
  ldg(4);
  ldg(8);
}

struct Machine {
  static void run() {
    TRACE_SPAN(warn, "launch", tracing::kv("stream", 7));
    program(2);
  }
};

}  // namespace lib

namespace tracing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A registry with a layer that prints and perf spans as `options` say, in force while it lives.
class Collected {
 public:
  explicit Collected(PerfOptions options = {}, FormatKind kind = FormatKind::full, std::unique_ptr<Filter> print_filter = nullptr,
                     bool ansi = false) {
    PrintOptions print;
    print.format.kind = kind;
    print.format.timer = nullptr;
    print.format.ansi = ansi;
    print.format.file = false;
    print.format.line_number = false;
    print.writer = to_sink(make_sink([this](Level, std::string_view line) { text_ += line; }));
    auto [layer, filter, statistics] = perf_layer(std::move(options));
    statistics_ = statistics;
    registry_ = RegistryBuilder().with(print_layer(std::move(print)), std::move(print_filter)).with(std::move(layer), std::move(filter)).build();
    scope_.emplace(registry_);
  }

  std::shared_ptr<Registry> const& registry() const { return registry_; }
  std::string take() { return std::exchange(text_, {}); }
  // What was printed, each duration as `<us>` and `<ms>`.
  std::string take_without_durations() {
    return std::regex_replace(take(), std::regex("duration_us=[0-9]+ duration_ms=[0-9]+\\.[0-9]+"), "duration_us=<us> duration_ms=<ms>");
  }
  PerfSummary summary() const { return statistics_->summary(); }

 private:
  std::string text_;
  std::shared_ptr<PerfStatistics const> statistics_;
  std::shared_ptr<Registry> registry_;
  std::optional<ScopedDefault> scope_;
};

WriterPtr to_text(std::string& text) {
  return to_sink(make_sink([&text](Level, std::string_view line) { text += line; }));
}

// Perf spans whose durations a test chooses.
template <std::size_t kFields>
struct Fixed {
  std::string text;
  internal::FieldEntry fields[kFields + 1];
  Metadata metadata;
  Callsite callsite{metadata};

  Fixed(std::string_view name, std::array<std::string_view, kFields> const& names)
      : metadata([&] {
          internal::MetadataParts parts;
          text.append(name).append("hologram_tracing::performance").append("run");
          for (std::size_t i = 0; i < kFields; ++i) {
            auto const offset = static_cast<std::uint32_t>(text.size());
            text.append(names[i]);
            fields[i] = internal::field_entry(offset, names[i].data(), names[i].size(), static_cast<std::uint8_t>(i));
          }
          parts.text = text.data();
          parts.fields = fields;
          parts.name_size = static_cast<std::uint32_t>(name.size());
          parts.target_size = 29;
          parts.function_size = 3;
          parts.field_count = parts.value_count = kFields;
          parts.level = Level::debug;
          parts.kind = Kind::span;
          parts.max_level = LevelFilter::trace;
          parts.is_perf = true;
          return parts;
        }()) {}

  OpenSpan open(std::array<Value, kFields> const& values) {
    Verdict const verdict = callsite.enabled();
    return verdict == 0 ? OpenSpan{} : current_subscriber()->open_scope(metadata, verdict, values.data());
  }
  static void close(OpenSpan span, std::uint64_t duration_ns, std::uint64_t self_ns) {
    if (span.id) span.subscriber->close_timed_scope(span.id, {duration_ns, self_ns, Timing::kNoThreshold});
  }
};

// Callsites are never destroyed.
auto& program_span() {
  static auto& span = *new Fixed<3>("cpu_execute_program", {"instructions", "grid_size", "block_size"});
  return span;
}
auto& load_span() {
  static auto& span = *new Fixed<1>("cpu_ldg", {"bytes"});
  return span;
}

void load(std::uint64_t ns) {
  load_span().close(load_span().open({Value::of_i64(4)}), ns, ns);
}
void run_program() {
  OpenSpan const span = program_span().open({Value::of_i64(3), Value::of_i64(1), Value::of_i64(1)});
  load(3'210);
  load(1'999);
  program_span().close(span, 83'400, 83'400 - 3'210 - 1'999);
}

// ---- off ----

TEST(PerfSpan, IsOffWhereNothingCollectsPerfSpans) {
  std::string text;
  auto const registry = RegistryBuilder().with(print_layer({.writer = to_text(text)})).build();
  int evaluated = 0;
  with_default(registry, [&] {
    TRACE_PERF("cpu_ldg", kv("evaluated", ++evaluated));
    TRACE_PERF_EVENT("hits {}", ++evaluated);
    lib::Machine::run();
  });
  EXPECT_EQ(text, "");
  EXPECT_EQ(evaluated, 0);
}

TEST(PerfSpan, IsOffAtAnyLevelOfOrdinaryFilters) {
  std::string text;
  auto const registry = RegistryBuilder()
                            .with(print_layer({.writer = to_text(text)}), boxed(EnvFilter::parse_lossy("trace,[cpu_ldg]=trace")))
                            .with_filter(boxed(EnvFilter::parse_lossy("trace")))
                            .build();
  with_default(registry, [] { lib::ldg(4); });
  EXPECT_EQ(text, "");
}

TEST(PerfSpan, ElapsedIsZeroWhileItIsOff) {
  TRACE_PERF_AS(load, "load");
  EXPECT_EQ(load.elapsed_ns(), 0u);
}

// ---- the line ----

TEST(PerfSpan, PrintsOneLineWhenItEnds) {
  Collected collected;
  lib::ldg(4);
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_ldg\" bytes=4}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSpan, NestsInOrdinarySpansAndInPerfSpans) {
  Collected collected;
  lib::Machine::run();
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG launch{stream=7}:perf{name=\"cpu_execute_program\" blocks=2}:perf{name=\"cpu_ldg\" bytes=4}: lib: "
            "performance_span_complete duration_us=<us> duration_ms=<ms>\n"
            "DEBUG launch{stream=7}:perf{name=\"cpu_execute_program\" blocks=2}:perf{name=\"cpu_ldg\" bytes=8}: lib: "
            "performance_span_complete duration_us=<us> duration_ms=<ms>\n"
            " INFO launch{stream=7}:perf{name=\"cpu_execute_program\" blocks=2}: lib: performance_span_complete duration_us=<us> "
            "duration_ms=<ms>\n");
}

TEST(PerfSpan, IsContextOfOrdinaryEvents) {
  Collected collected;
  {
    TRACE_PERF("cpu_sts", kv("bytes", 8), target("machine"));
    TRACE_INFO("inside", target("machine"));
  }
  EXPECT_EQ(collected.take_without_durations(),
            " INFO perf{name=\"cpu_sts\" bytes=8}: machine: inside\n"
            "DEBUG perf{name=\"cpu_sts\" bytes=8}: machine: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSpan, LooksAsApprovedInEveryFormat) {
  std::string text;
  for (auto const& [kind, ansi] : std::vector<std::pair<FormatKind, bool>>{{FormatKind::full, false},
                                                                           {FormatKind::full, true},
                                                                           {FormatKind::compact, false},
                                                                           {FormatKind::pretty, false},
                                                                           {FormatKind::json, false}}) {
    Collected collected({}, kind, nullptr, ansi);
    run_program();
    text += collected.take() + "\n";
  }
  tracing::testing::expect_approved("perf_formats.txt", text);
}

TEST(PerfSpan, MillisecondsHaveThreeDecimalsWithoutTrailingZerosButOne) {
  Collected collected;
  std::string text;
  for (std::uint64_t const us : {0ULL, 3ULL, 80ULL, 100ULL, 999ULL, 1'000ULL, 1'500ULL, 1'234'567ULL, 86'400'000'000ULL}) {
    load(us * 1000 + 999);
    std::string const line = collected.take();
    text += line.substr(line.find("duration_us"));
  }
  EXPECT_EQ(text,
            "duration_us=0 duration_ms=0.0\nduration_us=3 duration_ms=0.003\nduration_us=80 duration_ms=0.08\n"
            "duration_us=100 duration_ms=0.1\nduration_us=999 duration_ms=0.999\nduration_us=1000 duration_ms=1.0\n"
            "duration_us=1500 duration_ms=1.5\nduration_us=1234567 duration_ms=1234.567\n"
            "duration_us=86400000000 duration_ms=86400000.0\n");
}

TEST(PerfSpan, WithoutFieldsOrValuesShowsItsNameAlone) {
  Collected collected;
  { TRACE_PERF("cpu_exit"); }
  { TRACE_PERF("cpu_ret", kv("to", nullptr)); }
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_exit\"}: tracing::PerfSpan_WithoutFieldsOrValuesShowsItsNameAlone_Test: performance_span_complete "
            "duration_us=<us> duration_ms=<ms>\n"
            "DEBUG perf{name=\"cpu_ret\"}: tracing::PerfSpan_WithoutFieldsOrValuesShowsItsNameAlone_Test: performance_span_complete "
            "duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSpan, ReportsWhenAnExceptionUnwindsIt) {
  Collected collected;
  try {
    TRACE_PERF("cpu_call", target("lib"));
    throw std::runtime_error("trap");
  } catch (std::runtime_error const&) {
  }
  EXPECT_THAT(collected.take_without_durations(), HasSubstr("perf{name=\"cpu_call\"}: lib: performance_span_complete"));
  EXPECT_EQ(collected.summary().find("cpu_call")->count, 1u);
}

TEST(PerfSpan, MeasuresWithTheClock) {
  Collected collected;
  {
    TRACE_PERF_AS(nap, "nap");
    std::this_thread::sleep_for(20ms);
    EXPECT_GE(nap.elapsed_ns(), 19'000'000u);
  }
  auto const began = std::chrono::steady_clock::now();
  {
    TRACE_PERF("sleep");
    std::this_thread::sleep_for(30ms);
  }
  auto const took = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began).count();
  PerfSummary const summary = collected.summary();
  EXPECT_GE(summary.find("sleep")->total_ns, 29'900'000u);
  EXPECT_LE(summary.find("sleep")->total_ns, static_cast<std::uint64_t>(took) + 100'000);
}

// ---- selection ----

TEST(PerfSelection, IsByItselfWhateverOtherFiltersSay) {
  Collected collected({}, FormatKind::full, boxed(EnvFilter::parse_lossy("error")));
  {
    TRACE_SPAN(info, "hidden");
    lib::ldg(4);
    TRACE_INFO("hidden, too");
  }
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_ldg\" bytes=4}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSelection, TakesDirectivesThatKnowTheRealName) {
  Collected collected({.directives = "other=trace,[cpu_ldg]=debug"});
  lib::program(1);
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_ldg\" bytes=4}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n"
            "DEBUG perf{name=\"cpu_ldg\" bytes=8}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
  Collected levels({.directives = "info"});
  lib::program(1);
  EXPECT_EQ(levels.take_without_durations(),
            " INFO perf{name=\"cpu_execute_program\" blocks=1}: lib: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSelection, CanNameTheOrdinarySpanAroundThem) {
  Collected collected({.directives = "[launch{stream=7}]=debug"});
  lib::ldg(1);
  lib::Machine::run();
  EXPECT_THAT(collected.summary().rows, SizeIs(2));
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u);
}

TEST(PerfSelection, WrongDirectivesAreLeftOutAndTold) {
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

TEST(PerfThreshold, HidesTheShorterOnesAndSumsAllUp) {
  Collected collected({.threshold = 500us});
  load(499'999);
  load(500'000);
  EXPECT_THAT(collected.take(), ::testing::MatchesRegex(".*duration_us=500 duration_ms=0.5\n"));
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u);
}

TEST(PerfThreshold, OfTheSpanItselfCountsInPlaceOfTheOther) {
  Collected collected({.threshold = 1h});
  { TRACE_PERF("always", threshold(0us), target("t")); }
  { TRACE_PERF("never", target("t")); }
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"always\"}: t: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
  Collected without;
  { TRACE_PERF("long", threshold(std::chrono::hours(1)), target("t")); }
  EXPECT_EQ(without.take(), "");
}

TEST(PerfEvent, IsOnWherePerfSpansAre) {
  std::string json;
  Collected collected({.json = to_text(json)}, FormatKind::full, boxed(EnvFilter::parse_lossy("off")));
  TRACE_PERF_EVENT("cache {}", "cold", kv("misses", 3), target("t"));
  EXPECT_EQ(collected.take(), "DEBUG t: cache cold misses=3\n");
  EXPECT_EQ(json.substr(json.find("\"level\"")), "\"level\":\"DEBUG\",\"fields\":{\"event\":\"cache cold\",\"misses\":3}}\n");
}

// ---- who sees what ----

// Notes names and events.
class Noting final : public Layer {
 public:
  explicit Noting(std::vector<std::string>& notes) : notes_(notes) {}
  Hooks hooks() const noexcept override { return Hooks::new_span | Hooks::event | Hooks::close; }
  void on_new_span(SpanRef span, NewSpan const&, Context const&) noexcept override { notes_.push_back("new " + std::string(span.metadata().name())); }
  void on_event(Event const& event, Context const& context) noexcept override {
    SpanRef const span = context.current_span();
    notes_.push_back("event in " + (span ? std::string(span.metadata().name()) : "nothing") + " of " + std::string(event.metadata().target()));
  }
  void on_close(SpanRef span, Context const&) noexcept override { notes_.push_back("close " + std::string(span.metadata().name())); }

 private:
  std::vector<std::string>& notes_;
};

TEST(PerfSpan, IsKnownToOtherLayersByItsRealName) {
  std::vector<std::string> notes;
  auto [layer, filter, statistics] = perf_layer();
  auto const registry =
      RegistryBuilder().with(std::make_unique<Noting>(notes), level_filter(LevelFilter::off)).with(std::move(layer), std::move(filter)).build();
  with_default(registry, [] { lib::ldg(4); });
  EXPECT_THAT(notes, ElementsAre("new cpu_ldg", "event in cpu_ldg of lib", "close cpu_ldg"));
}

TEST(PerfSummaryMode, IsSeenByNoOtherLayer) {
  Collected collected({.report = false});
  lib::Machine::run();
  { TRACE_PERF("outer"); TRACE_INFO("inside", target("t")); }
  EXPECT_EQ(collected.take(), " INFO t: inside\n");
  EXPECT_EQ(collected.summary().find("cpu_ldg")->count, 2u);
}

TEST(PerfSpan, IsPrintedFromARingAsItWasLive) {
  auto const ring = RecordRing::make();
  auto [layer, filter, statistics] = perf_layer();
  std::string live, replayed;
  auto const print = [](std::string& text) { return print_layer({.format = {.timer = nullptr}, .writer = to_text(text)}); };
  auto const registry =
      RegistryBuilder().with(print(live)).with(ring->make_layer()).with(std::move(layer), std::move(filter)).build();
  with_default(registry, lib::Machine::run);
  ring->snapshot().replay(*RegistryBuilder().with(print(replayed), with_perf_spans(nullptr)).build());
  EXPECT_EQ(replayed, live);
  EXPECT_THAT(live, HasSubstr("perf{name=\"cpu_ldg\" bytes=4}"));
}

// ---- the summary ----

TEST(PerfSummary, KnowsCountTotalSelfExtremesQuantilesAndShare) {
  Collected collected;
  run_program();
  PerfSummary const summary = collected.summary();
  ASSERT_THAT(summary.rows, SizeIs(2));
  PerfRow const& program = summary.rows[0];
  PerfRow const& load = summary.rows[1];
  EXPECT_EQ(program.name, "cpu_execute_program");
  EXPECT_EQ(program.count, 1u);
  EXPECT_EQ(program.total_ns, 83'400u);
  EXPECT_EQ(program.self_ns, 78'191u);
  EXPECT_EQ(load.count, 2u);
  EXPECT_EQ(load.total_ns, 5'209u);
  EXPECT_EQ(load.min_ns, 1'999u);
  EXPECT_EQ(load.max_ns, 3'210u);
  EXPECT_NEAR(static_cast<double>(load.quantile_ns(0.5)), 1'999, 1'999 / 64.0);
  EXPECT_EQ(program.quantile_ns(0.5), 83'400u);  // the only one
  EXPECT_NEAR(program.share + load.share, 1, 1e-12);
  EXPECT_NEAR(load.share, 5'209 / 83'400.0, 1e-12);
}

TEST(PerfSummary, SelfTimesAreThoseOfTheClock) {
  Collected collected({.report = false});
  {
    TRACE_PERF("outer");
    std::this_thread::sleep_for(5ms);
    for (int i = 0; i < 3; ++i) {
      TRACE_SPAN(info, "ordinary");
      TRACE_PERF("inner");
      std::this_thread::sleep_for(5ms);
    }
    std::thread([] { TRACE_PERF("elsewhere"); }).join();
  }
  PerfSummary const summary = collected.summary();
  PerfRow const& outer = *summary.find("outer");
  PerfRow const& inner = *summary.find("inner");
  EXPECT_EQ(outer.self_ns, outer.total_ns - inner.total_ns);
  EXPECT_EQ(inner.self_ns, inner.total_ns);
}

TEST(PerfSummary, AddsThreadsUpAndTheirMemoryIsUsedAgain) {
  Collected collected({.report = false});
  for (int round = 0; round < 40; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&collected] {
        ScopedDefault const here(collected.registry());
        for (int j = 0; j < 100; ++j) lib::program(1);
      });
    }
    PerfSummary const meanwhile = collected.summary();
    for (std::thread& thread : threads) thread.join();
  }
  PerfSummary const summary = collected.summary();
  EXPECT_EQ(summary.find("cpu_ldg")->count, 64'000u);
  EXPECT_EQ(summary.find("cpu_ldg")->durations->count(), 64'000u);
  EXPECT_EQ(summary.find("cpu_execute_program")->count, 32'000u);
}

TEST(PerfSummary, OneNameIsOneRowWhereverItStands) {
  Collected collected({.report = false});
  { TRACE_PERF("same"); }
  { TRACE_PERF("same", kv("other", 1)); }
  EXPECT_EQ(collected.summary().find("same")->count, 2u);
}

TEST(PerfSummary, NamesBeyondTheMostShareARow) {
  Collected collected({.report = false, .most_names = 2});
  { TRACE_PERF("first"); }
  { TRACE_PERF("second"); }
  for (int i = 0; i < 3; ++i) { TRACE_PERF("third"); TRACE_PERF("fourth"); }
  { TRACE_PERF("first", kv("again", 1)); }
  PerfSummary const summary = collected.summary();
  EXPECT_EQ(summary.find("first")->count, 2u);
  EXPECT_EQ(summary.find("second")->count, 1u);
  EXPECT_EQ(summary.find(PerfSummary::kOthers)->count, 6u);
  EXPECT_THAT(summary.rows, SizeIs(3));
}

TEST(PerfSummary, SinceAnEarlierOneHoldsWhatCameAfter) {
  Collected collected({.report = false});
  load(1'000'000);
  load(100);
  PerfSummary const earlier = collected.summary();
  run_program();
  load(50);
  PerfSummary const since = collected.summary().since(earlier);
  PerfRow const& row = *since.find("cpu_ldg");
  EXPECT_EQ(row.count, 3u);
  EXPECT_EQ(row.total_ns, 3'210u + 1'999u + 50u);
  EXPECT_EQ(row.min_ns, 50u);
  EXPECT_NEAR(static_cast<double>(row.max_ns), 3'210, 3'210 / 64.0);
  EXPECT_EQ(since.find("cpu_execute_program")->count, 1u);
  EXPECT_THAT(collected.summary().since(collected.summary()).rows, IsEmpty());
}

TEST(PerfSummary, TextsAreAsApproved) {
  Collected collected({.report = false, .most_names = 3});
  for (int i = 0; i < 3; ++i) run_program();
  for (int i = 0; i < 97; ++i) load(150 + static_cast<std::uint64_t>(i));
  static auto& odd = *new Fixed<0>("a \"quoted\"\\ name\nof \xC2\xB5 and \xFF", {});
  odd.close(odd.open({}), 2'500'000'000, 2'500'000'000);
  static auto& late = *new Fixed<0>("late", {});
  late.close(late.open({}), 12, 12);
  InlineTextBuffer<1024> text;
  append_perf_table(text, collected.summary());
  text.push_back('\n');
  append_perf_prometheus(text, collected.summary());
  text.push_back('\n');
  append_perf_json(text, collected.summary(), Instant{1'767'916'569'977'977'000});
  tracing::testing::expect_approved("perf_summary.txt", text.view());
}

TEST(PerfSummary, OfNothingIsAnEmptyTable) {
  InlineTextBuffer<64> text;
  append_perf_table(text, {});
  append_perf_json(text, {}, {});
  EXPECT_EQ(text.view(), "");
}

TEST(PerfSummary, ReadsAsPrometheusText) {
  Collected collected({.report = false});
  run_program();
  InlineTextBuffer<1024> text;
  append_perf_prometheus(text, collected.summary());
  std::istringstream lines{std::string(text.view())};
  std::regex const comment("# (HELP [a-z_]+ .+|TYPE [a-z_]+ (summary|counter|gauge))");
  std::regex const sample("[a-z_]+\\{name=\"[^\"]*\"(,quantile=\"0\\.[0-9]+\")?\\} [0-9]+(\\.[0-9]+)?(e[-+][0-9]+)?");
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::regex_match(line, comment) || std::regex_match(line, sample)) << line;
  }
  EXPECT_EQ(text.view().back(), '\n');
}

// ---- JSON ----

TEST(PerfJson, IsTheLineThatIsPromised) {
  std::string json;
  Collected collected({.json = to_text(json)});
  OpenSpan const span = program_span().open({Value::of_i64(3), Value::of_i64(1), Value::of_i64(1)});
  program_span().close(span, 83'999, 83'999);
  std::regex const time("20[-0-9]+T[:.0-9]+Z");
  tracing::testing::expect_approved("perf_json.txt", std::regex_replace(json, time, "2026-01-08T23:56:09.977977Z"));
}

TEST(PerfJson, IsOneValidObjectOnALineWhateverTheFieldsAre) {
  std::string json;
  Collected collected({.json = to_text(json)});
  std::string const large(1 << 20, 'x');
  {
    TRACE_PERF("odd \"name\"\n", kv("name", "mine"), kv("a b", "line\nend \xFF \x1b"), kv("none", nullptr), kv("large", large));
  }
  std::istringstream lines(json);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  auto const object = nlohmann::json::parse(line);
  EXPECT_EQ(object["fields"]["name"], "odd \"name\"\n");
  EXPECT_EQ(object["fields"]["fields.name"], "mine");
  EXPECT_EQ(object["fields"]["large"], large);
  EXPECT_FALSE(object["fields"].contains("none"));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(PerfJson, AForkedChildWritesNothingToItsParentsFile) {
  tracing_test::TemporaryFile const file;
  std::error_code error;
  Collected collected({.json = to_sink(FdSink::append_to(file.path(), error))});
  load(1);
  std::string const before = file.text();
  pid_t const child = fork();
  if (child == 0) {
    load(2);
    std::string const text = collected.take();
    _exit(text.find("duration_us") != text.npos && collected.summary().find("cpu_ldg")->count == 2 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(file.text(), before);
  load(3);
  EXPECT_NE(file.text(), before);
}

// ---- bounds ----

TEST(PerfSpan, AMillionOfThemTakeNoMemory) {
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

}  // namespace
}  // namespace tracing
