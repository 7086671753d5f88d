#include "tracing_core/perf/perf_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/approval.h"
#include "tracing_core/perf/perf_test_support.h"

namespace tracing::perf_test { namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PerfSummary, HasCountTotalSelfMinMaxQuantilesAndShare) {
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

TEST(PerfSummary, SelfTimeExcludesInnerPerfSpans) {
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

TEST(PerfSummary, AddsUpThreadsAndReusesTheirMemory) {
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

TEST(PerfSummary, OneNameIsOneRow) {
  Collected collected({.report = false});
  { TRACE_PERF("same"); }
  { TRACE_PERF("same", kv("other", 1)); }
  EXPECT_EQ(collected.summary().find("same")->count, 2u);
}

TEST(PerfSummary, SinceHoldsTheDifference) {
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

TEST(PerfSummary, PrintsAsApproved) {
  Collected collected({.report = false});
  for (int i = 0; i < 3; ++i) run_program();
  for (int i = 0; i < 97; ++i) load(150 + static_cast<std::uint64_t>(i));
  static auto& odd = *new Fixed<0>("a \"quoted\"\\ name\nof \xC2\xB5", {});
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

TEST(PerfSummary, PrintsNothingIfEmpty) {
  InlineTextBuffer<64> text;
  append_perf_table(text, {});
  append_perf_json(text, {}, {});
  EXPECT_EQ(text.view(), "");
}

TEST(PerfSummary, IsValidPrometheusText) {
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

}}  // namespace tracing::perf_test
