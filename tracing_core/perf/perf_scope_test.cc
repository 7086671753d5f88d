#include "tracing_core/perf/perf_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/approval.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/perf/perf_test_support.h"

namespace tracing::perf_test { namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// ---- off ----

TEST(PerfSpan, IsOffWithoutAPerfLayer) {
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

TEST(PerfSpan, IsNotTurnedOnByOrdinaryFilters) {
  std::string text;
  auto const registry =
      RegistryBuilder()
          .with(print_layer({.writer = to_text(text)}), to_filter(EnvFilter::parse_lossy("trace,[cpu_ldg]=trace")))
          .with_filter(to_filter(EnvFilter::parse_lossy("trace")))
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
            " INFO launch{stream=7}:perf{name=\"cpu_execute_program\" blocks=2}: lib: performance_span_complete "
            "duration_us=<us> "
            "duration_ms=<ms>\n");
}

TEST(PerfSpan, IsContextOfOrdinaryEvents) {
  Collected collected;
  {
    TRACE_PERF("cpu_sts", kv("bytes", 8), target("machine"));
    TRACE_INFO("inside", target("machine"));
  }
  EXPECT_EQ(
      collected.take_without_durations(),
      " INFO perf{name=\"cpu_sts\" bytes=8}: machine: inside\n"
      "DEBUG perf{name=\"cpu_sts\" bytes=8}: machine: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
}

TEST(PerfSpan, PrintsAsApprovedInEachFormat) {
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

TEST(PerfSpan, MillisecondsHaveOneToThreeDecimals) {
  Collected collected;
  std::string text;
  for (std::uint64_t const us :
       {0ULL, 3ULL, 80ULL, 100ULL, 999ULL, 1'000ULL, 1'500ULL, 1'234'567ULL, 86'400'000'000ULL}) {
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

// These spans do not fit the fast path for short names and integers.
TEST(PerfSpan, PrintsRareFieldsLikeCommonOnes) {
  Collected collected;
  { TRACE_PERF("a", kv("half", -0.5), kv("less", -7), kv("most", ~std::uint64_t{0}), target("t")); }
  { TRACE_PERF("b", kv("yes", true), kv("r#type", 1), target("t")); }
  { TRACE_PERF("c", kv("a_name_that_is_longer_than_most_are", 1), kv("text", "of\nlines"), target("t")); }
  { TRACE_PERF("q\"d", kv("n", 1), target("t")); }
  EXPECT_EQ(
      collected.take_without_durations(),
      "DEBUG perf{name=\"a\" half=-0.5 less=-7 most=18446744073709551615}: t: performance_span_complete "
      "duration_us=<us> "
      "duration_ms=<ms>\n"
      "DEBUG perf{name=\"b\" yes=true type=1}: t: performance_span_complete duration_us=<us> duration_ms=<ms>\n"
      "DEBUG perf{name=\"c\" a_name_that_is_longer_than_most_are=1 text=\"of\\nlines\"}: t: performance_span_complete "
      "duration_us=<us> duration_ms=<ms>\n"
      "DEBUG perf{name=\"q\\\"d\" n=1}: t: performance_span_complete duration_us=<us> duration_ms=<ms>\n");

  load(~std::uint64_t{0});
  EXPECT_THAT(collected.take(), HasSubstr(" duration_us=18446744073709551 duration_ms=18446744073709.55\n"));
}

TEST(PerfSpan, WithoutValuesPrintsItsNameAlone) {
  Collected collected;
  { TRACE_PERF("cpu_exit", target("t")); }
  { TRACE_PERF("cpu_ret", kv("to", nullptr), target("t")); }
  EXPECT_EQ(collected.take_without_durations(),
            "DEBUG perf{name=\"cpu_exit\"}: t: performance_span_complete duration_us=<us> duration_ms=<ms>\n"
            "DEBUG perf{name=\"cpu_ret\"}: t: performance_span_complete duration_us=<us> duration_ms=<ms>\n");
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
  auto const took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began).count();
  PerfSummary const summary = collected.summary();
  EXPECT_GE(summary.find("sleep")->total_ns, 29'900'000u);
  EXPECT_LE(summary.find("sleep")->total_ns, static_cast<std::uint64_t>(took) + static_cast<std::uint64_t>(took) / 50)
      << "the rates of both clocks differ by less";
}

}}  // namespace tracing::perf_test
