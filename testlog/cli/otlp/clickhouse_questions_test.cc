// The views of clickhouse.sql answer questions about runs of six weeks, whose answers are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testlog/cli/otlp/clickhouse_test_support.h"
#include "testlog/why/test_recorder_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace testlog::cli::otlp { namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using tracing::kv;
using why::TestRecorder;

void work_for(std::uint64_t us) { tracing::support::simulate_time(tracing::support::simulated_ns + us * 1000); }

// What differs from run to run.
struct Job {
  int days_ago = 0;
  char const* revision = "";
  bool is_stale = false;     // then Pool.Drains fails
  bool has_old_bug = false;  // then Cache.Warms does
  int driver_error = 0;      // if it is not 0, two tests fail by it
  std::uint64_t load_us = 1000;
};

// Runs that passed until the revision c, with which Pool.Drains began to fail sometimes; with d a driver failed, and
// loading became slower.
constexpr Job kJobs[] = {
    {.days_ago = 40, .revision = "a", .has_old_bug = true},
    {.days_ago = 39, .revision = "a", .has_old_bug = true},
    {.days_ago = 20, .revision = "b"},
    {.days_ago = 19, .revision = "b"},
    {.days_ago = 18, .revision = "b"},
    {.days_ago = 12, .revision = "c", .is_stale = true},
    {.days_ago = 11, .revision = "c"},
    {.days_ago = 4, .revision = "d", .driver_error = 700, .load_us = 3000},
    {.days_ago = 3, .revision = "d", .is_stale = true, .driver_error = 700, .load_us = 3000},
    {.days_ago = 2, .revision = "d", .driver_error = 719, .load_us = 3000},
};

std::string drain(TestRecorder& recorder, Job const& job) {
  TRACE_SPAN(info, "drain", kv("id", job.days_ago * 7919));
  TRACE_DEBUG("found entry {}", job.days_ago, kv("is_stale", job.is_stale), kv("size", 4));
  if (job.is_stale)
    TRACE_DEBUG("reloading");
  else
    TRACE_DEBUG("using it");
  work_for(500);
  if (!job.is_stale) return "passed";
  recorder.fail("Expected: pool.drain()");
  return "failed";
}

std::string warm(TestRecorder& recorder, Job const& job) {
  {
    TRACE_SPAN(debug, "load", kv("files", 3));
    work_for(job.load_us);
  }
  {
    TRACE_SPAN(debug, "parse");
    work_for(700);
  }
  if (!job.has_old_bug) return "passed";
  recorder.fail("Expected: is_warm()");
  return "failed";
}

std::string solve(TestRecorder& recorder, Job const& job) {
  TRACE_SPAN(info, "solve");
  work_for(200);
  if (job.driver_error == 0) return "passed";
  TRACE_ERROR("driver: error {}", job.driver_error);
  recorder.fail("Expected: solver.run()");
  return "failed";
}

void record(std::string const& path, Job const& job, int number) {
  TestRecorder recorder(path);
  recorder.ci(job.revision, std::to_string(number));
  recorder.run("Pool.Drains", [&] { return drain(recorder, job); });
  recorder.run("Solver.Converges", [&] { return solve(recorder, job); });
  recorder.run("Solver.Restarts", [&] { return solve(recorder, job); });
  recorder.run("Cache.Warms", [&] { return warm(recorder, job); });
  recorder.run("Needs.AGpu", [] { return "skipped"; });
}

class ClickhouseQuestions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!has_packages()) return;
    tracing_test::TemporaryFolder const recordings;
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    int number = 0;
    for (Job const& job : kJobs) {
      // In a child process, whose clock is simulated.
      pid_t const child = fork();
      if (child == 0) {
        auto const begin = std::chrono::nanoseconds(now) - std::chrono::hours(24 * job.days_ago + 1);
        tracing::support::simulate_time(static_cast<std::uint64_t>(begin.count()));
        record(recordings / std::to_string(number) + ".rec", job, number);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
      ++number;
    }
    database_ = new ClickHouse;
    for (int i = 0; i < 2; ++i) database_->load(recordings / "");  // the second time changes no answer
  }
  static void TearDownTestSuite() { delete database_; }
  void SetUp() override {
    if (!has_packages()) GTEST_SKIP() << kNoPackages;
  }

  static std::vector<json> ask(std::string const& sql) { return database_->ask(sql); }

  static inline ClickHouse* database_ = nullptr;
};

TEST_F(ClickhouseQuestions, WhyTestsAreRed) {
  EXPECT_THAT(ask("SELECT Cause, Tests, Failures, Revisions, Examples FROM testlog_causes(days = 30)"),
              ElementsAre(json{{"Cause", "testlog::cli::otlp: driver: error 719"},
                               {"Tests", 2},
                               {"Failures", 6},
                               {"Revisions", 1},
                               {"Examples", {"Solver.Converges", "Solver.Restarts"}}},
                          json{{"Cause", "failed at pool_test.cc:21"},
                               {"Tests", 1},
                               {"Failures", 2},
                               {"Revisions", 2},
                               {"Examples", {"Pool.Drains"}}}));
}

TEST_F(ClickhouseQuestions, SinceWhenTestsAreFlaky) {
  EXPECT_THAT(ask("SELECT * EXCEPT Since FROM testlog_flaky(days = 30)"), ElementsAre(json{{"Program", "pool_test"},
                                                                                           {"Test", "Pool.Drains"},
                                                                                           {"Failures", 2},
                                                                                           {"Passes", 6},
                                                                                           {"FirstBadRevision", "c"},
                                                                                           {"LastGoodRevision", "b"}}));
}

TEST_F(ClickhouseQuestions, WhatFailingRunsHave) {
  auto const row = [](char const* kind, char const* site, char const* field, char const* here, char const* there,
                      int failing, json before) {
    return json{{"Kind", kind},     {"Site", std::string("testlog::cli::otlp ") + site},
                {"Field", field},   {"Here", here},
                {"There", there},   {"Failing", failing},
                {"FailingRuns", 2}, {"Passing", failing == 0 ? 6 : 0},
                {"PassingRuns", 6}, {"BeforeFailureNs", before},
                {"Score", 0.762}};
  };
  EXPECT_THAT(ask("SELECT * FROM testlog_why(days = 30, test = 'Pool.Drains')"),
              ElementsAre(row("value", "\"found entry 0\"", "is_stale", "true", "false", 2, 500'000),
                          row("occurs", "\"reloading\"", "", "", "", 2, 500'000),
                          row("missing", "\"using it\"", "", "", "", 0, nullptr)));
  EXPECT_THAT(ask("SELECT * FROM testlog_why(days = 30, test = 'Cache.Warms')"), IsEmpty()) << "it passed";
}

TEST_F(ClickhouseQuestions, WhichSpansGrew) {
  EXPECT_THAT(ask("SELECT * FROM testlog_slower(days = 7, before = 30)"),
              ElementsAre(json{{"Program", "pool_test"},
                               {"Test", "Cache.Warms"},
                               {"Span", "load"},
                               {"Count", 3},
                               {"MedianBeforeNs", 1'000'000},
                               {"MedianNs", 3'000'000},
                               {"Growth", 3}}));
  EXPECT_THAT(ask("SELECT * FROM testlog_slower(days = 7, before = 2)"), IsEmpty());
}

TEST_F(ClickhouseQuestions, HowTestsEnded) {
  EXPECT_THAT(ask("SELECT Test, Result, Revision, Run FROM testlog_tests(days = 3) ORDER BY Test"),
              ElementsAre(json{{"Test", "Cache.Warms"}, {"Result", "passed"}, {"Revision", "d"}, {"Run", "9"}},
                          json{{"Test", "Needs.AGpu"}, {"Result", "skipped"}, {"Revision", "d"}, {"Run", "9"}},
                          json{{"Test", "Pool.Drains"}, {"Result", "passed"}, {"Revision", "d"}, {"Run", "9"}},
                          json{{"Test", "Solver.Converges"}, {"Result", "failed"}, {"Revision", "d"}, {"Run", "9"}},
                          json{{"Test", "Solver.Restarts"}, {"Result", "failed"}, {"Revision", "d"}, {"Run", "9"}}));
}

}}  // namespace testlog::cli::otlp
