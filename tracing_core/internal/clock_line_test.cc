#include "tracing_core/internal/clock_line.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

using tracing::internal::ClockLine;
using tracing::internal::ClockPair;
using tracing::internal::look_at_both_clocks;
using tracing::internal::start_span_clock;
using tracing::internal::system_ns;
using tracing::internal::ticks_now;

// Where a thread is interrupted in the middle of a look, that is off; such machines are usual.
constexpr std::int64_t kMostOffNs = 20'000;

class ClockLineTest : public testing::Test {
 protected:
  ClockLineTest() { start_span_clock(); }
  static void wait_us(int count) { std::this_thread::sleep_for(std::chrono::microseconds(count)); }
};

TEST_F(ClockLineTest, SaysWhatTheSystemsClockSaidInBetween) {
  int off = 0;
  constexpr int kRounds = 50;
  ClockPair const start = look_at_both_clocks();
  ClockLine line;
  wait_us(2000);
  line.go_on();
  for (int i = 0; i < kRounds; ++i) {
    wait_us(300);
    ClockPair const between = look_at_both_clocks();
    wait_us(300);
    line.go_on();
    std::int64_t const expected = static_cast<std::int64_t>(between.ns - start.ns);
    off += std::abs(line.ns_at(between.ticks) - expected) > kMostOffNs;
  }
  EXPECT_LT(off, kRounds / 5);
}

TEST_F(ClockLineTest, CountsFromItsMaking) {
  ClockLine line;
  std::uint64_t const made = ticks_now();
  wait_us(5000);
  line.go_on();
  EXPECT_GE(line.ns_at(made), 0);
  EXPECT_LT(line.ns_at(made), 1'000'000);
  EXPECT_GE(line.ns_at(ticks_now()), 5'000'000 - kMostOffNs);
}

// As it is when the clocks are looked at anew: what was said of a moment changes by no more than a look is off.
TEST_F(ClockLineTest, DoesNotJumpWhenItGoesOn) {
  ClockLine line;
  wait_us(2000);
  line.go_on();
  int jumped = 0;
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    wait_us(1500);
    std::uint64_t const moment = ticks_now();
    std::int64_t const before = line.ns_at(moment);
    line.go_on();
    jumped += std::abs(line.ns_at(moment) - before) > kMostOffNs;
    EXPECT_LT(line.ns_at(moment), line.ns_at(moment + 1'000'000));
  }
  EXPECT_LT(jumped, kRounds / 5);
}

TEST_F(ClockLineTest, CountsAsManyTicksInATimeAsThatTakes) {
  ClockLine line;
  wait_us(5000);
  line.go_on();
  std::uint64_t const from = ticks_now();
  for (std::uint64_t const ns : {std::uint64_t{1'000'000}, std::uint64_t{1'000'000'000}, std::uint64_t{3'600'000'000'000}}) {
    std::int64_t const counted = line.ns_at(from + line.ticks_in(ns)) - line.ns_at(from);
    EXPECT_NEAR(static_cast<double>(counted), static_cast<double>(ns), 4 + static_cast<double>(ns) * 1e-6);
  }
}

TEST_F(ClockLineTest, KnowsForHowLongItLooked) {
  ClockLine line;
  EXPECT_EQ(line.known_ns(), 0u);
  wait_us(2000);
  std::uint64_t const before_look = system_ns();
  line.go_on();
  EXPECT_GE(line.known_ns(), 2'000'000u);
  wait_us(100);
  line.go_on();  // looks that are far from each other begin a new piece
  EXPECT_GE(line.known_ns(), 100'000u);
  EXPECT_LE(line.known_ns(), system_ns() - before_look);
}

// Before it knows the pace it takes a tick for a nanosecond.
TEST_F(ClockLineTest, TellsTimeInOrderBeforeItKnowsThePace) {
  ClockLine const line;
  std::uint64_t const first = ticks_now();
  EXPECT_GE(line.ns_at(first), 0);
  EXPECT_LT(line.ns_at(first), line.ns_at(first + 100));
  EXPECT_EQ(line.ticks_in(100), 100u);
}

}  // namespace
