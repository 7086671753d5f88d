// Tests that record perf spans.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <testlog/matchers.h>
#include <testlog/perf.h>
#include <testlog/testlog.h>
#include <tracing_core/perf/recorders.h>
#include <tracing_core/support/span_clock.h>
#include <tracing_core/tracing.h>

namespace {

using testing::Contains;
using testing::Not;
using testlog::Event;
using testlog::HasField;
using testlog::HasMessage;
using testlog::InSpan;
using testlog::records;
using testlog::Span;

// With SCENARIO_SIMULATED_TIME, time passes in simulate_us() only.
bool const is_time_simulated = [] {
  if (std::getenv("SCENARIO_SIMULATED_TIME") == nullptr) return false;
  tracing::support::simulate_time(1'767'916'569'977'977'000);
  return true;
}();
void simulate_us(unsigned count) {
  if (is_time_simulated) tracing::support::simulate_time(tracing::support::simulated_ns + count * 1000);
}

void load() {
  TRACE_PERF("cpu_ldg", tracing::kv("bytes", 4), tracing::target("machine"));
  simulate_us(83);
}
void execute() {
  TRACE_SPAN(info, "launch", tracing::target("machine"));
  TRACE_PERF_AT(info, "cpu_execute_program", tracing::target("machine"));
  usleep(2000);  // to be the longest span on any machine
  simulate_us(300);
  load();
  load();
}

TEST(Perf, Passes) {
  execute();
  simulate_us(1);  // what was recorded before this moment is not of the next test
}
TEST(Perf, PassesOnceMore) {
  load();
  simulate_us(1);
}
TEST(Perf, Fails) {
  execute();
  simulate_us(1);
  ADD_FAILURE();
}
TEST(Perf, CapturesThem) {
  execute();
  EXPECT_THAT(records(), Contains(Event(HasMessage("performance_span_complete"),
                                        InSpan("cpu_ldg", HasField("bytes", 4)), InSpan("cpu_execute_program"))));
  EXPECT_EQ(testlog::perf_summary().find("cpu_ldg")->count, 2u);
}
TEST(Perf, CapturesNone) {
  execute();
  EXPECT_THAT(records(), Not(Contains(Span("cpu_ldg"))));
  EXPECT_THAT(records(), Not(Contains(Event(HasMessage("performance_span_complete")))));
}
TEST(Perf, FailsInside) {
  TRACE_PERF("cpu_bra", tracing::kv("to", 4));
  ADD_FAILURE();
}
TEST(Perf, DiesInside) {
  TRACE_PERF("cpu_bra", tracing::kv("to", 4));
  raise(SIGSEGV);
}
TEST(Perf, ManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) load();
    });
  }
  for (std::thread& thread : threads) thread.join();
}
TEST(PerfOfEachLevel, Passes) {
  { TRACE_PERF_AT(debug, "usual"); }
  { TRACE_PERF_AT(trace, "detail"); }
}
TEST_LOG(PerfOfEachLevel, IsOn, .perf = true) {
  { TRACE_PERF_AT(debug, "usual"); }
  { TRACE_PERF_AT(trace, "detail"); }
}
TEST(Perf, OddNames) {
  { TRACE_PERF("a \"quoted\"} 1\\"); }
  { TRACE_PERF("two\nlines\r"); }
  { TRACE_PERF("\x01\t\x7f"); }
}
TEST(Perf, Forks) {
  execute();
  pid_t const child = fork();
  if (child == 0) {
    load();
    std::exit(0);
  }
  waitpid(child, nullptr, 0);
}

auto const is_measured = Contains(Event(HasMessage("performance_span_complete"), InSpan("cpu_ldg")));

TEST_LOG(PerfOfATest, IsOn, .perf = true) {
  execute();
  EXPECT_THAT(records(), is_measured);
  EXPECT_EQ(testlog::perf_summary().find("cpu_ldg")->count, 2u);
}
TEST(PerfOfATest, IsOffAgain) {
  execute();
  EXPECT_THAT(records(), Not(is_measured));
  EXPECT_TRUE(testlog::perf_summary().empty());
}
TEST_LOG_SUITE(PerfOfASuite, .perf = true);
TEST(PerfOfASuite, IsOn) {
  load();
  EXPECT_THAT(records(), is_measured);
}
TEST_LOG(PerfOfASuite, MayBeOff, .perf = false) {
  load();
  EXPECT_THAT(records(), Not(is_measured));
}
TEST(PerfRecorders, Record) {
  using namespace std::chrono_literals;
  TRACE_PERF_EXECUTION("short", 499us);
  TRACE_PERF_EXECUTION("long", 500us);
  TRACE_PERF_ALLOCATION(4096, "pool");
}

TEST(PerfDeathTest, Dies) {
  execute();
  EXPECT_EXIT((load(), std::exit(3)), testing::ExitedWithCode(3), "^$");
}

}  // namespace
