#include "tracing_core/support/tick_converter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

using tracing::support::ClockPair;
using tracing::support::read_both_clocks;
using tracing::support::start_span_clock;
using tracing::support::system_ns;
using tracing::support::TickConverter;
using tracing::support::ticks_now;

// A larger error means that the thread was interrupted during a reading, as it often is on shared machines.
constexpr std::int64_t kMaxOffNs = 20'000;

class TickConverterTest : public testing::Test {
 protected:
  TickConverterTest() { start_span_clock(); }
};

void wait_us(int count) { std::this_thread::sleep_for(std::chrono::microseconds(count)); }

// Counts the readings between two calibrations that are off.
int count_off(int rounds) {
  int off = 0;
  ClockPair const start = read_both_clocks();
  TickConverter converter;
  wait_us(2000);
  converter.calibrate();
  for (int i = 0; i < rounds; ++i) {
    wait_us(300);
    ClockPair const between = read_both_clocks();
    wait_us(300);
    converter.calibrate();
    std::int64_t const expected = static_cast<std::int64_t>(between.ns - start.ns);
    off += std::abs(converter.ns_at(between.ticks) - expected) > kMaxOffNs;
  }
  return off;
}

TEST_F(TickConverterTest, InterpolatesTheSystemsClock) {
  constexpr int kRounds = 50, kMaxTries = 5;  // if the reading at the start is off, all readings are
  int off = kRounds;
  for (int i = 0; i < kMaxTries && off >= kRounds / 5; ++i) off = count_off(kRounds);
  EXPECT_LT(off, kRounds / 5);
}

TEST_F(TickConverterTest, StartsAtItsConstruction) {
  TickConverter converter;
  std::uint64_t const made = ticks_now();
  wait_us(5000);
  converter.calibrate();
  EXPECT_GE(converter.ns_at(made), 0);
  EXPECT_LT(converter.ns_at(made), 1'000'000);
  EXPECT_GE(converter.ns_at(ticks_now()), 5'000'000 - kMaxOffNs);
}

// A new calibration may change a converted time by no more than the error of a reading.
TEST_F(TickConverterTest, DoesNotJumpWhenCalibrated) {
  TickConverter converter;
  wait_us(2000);
  converter.calibrate();
  int jumped = 0;
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    wait_us(1500);
    std::uint64_t const moment = ticks_now();
    std::int64_t const before = converter.ns_at(moment);
    converter.calibrate();
    jumped += std::abs(converter.ns_at(moment) - before) > kMaxOffNs;
    EXPECT_LT(converter.ns_at(moment), converter.ns_at(moment + 1'000'000));
  }
  EXPECT_LT(jumped, kRounds / 5);
}

TEST_F(TickConverterTest, ConvertsDurationsToTicks) {
  TickConverter converter;
  wait_us(5000);
  converter.calibrate();
  std::uint64_t const from = ticks_now();
  for (std::uint64_t const ns :
       {std::uint64_t{1'000'000}, std::uint64_t{1'000'000'000}, std::uint64_t{3'600'000'000'000}}) {
    std::int64_t const counted = converter.ns_at(from + converter.ticks_in(ns)) - converter.ns_at(from);
    EXPECT_NEAR(static_cast<double>(counted), static_cast<double>(ns), 4 + static_cast<double>(ns) * 1e-6);
  }
}

TEST_F(TickConverterTest, ReportsTheCalibratedTime) {
  TickConverter converter;
  EXPECT_EQ(converter.calibrated_ns(), 0u);
  wait_us(2000);
  std::uint64_t const before_calibration = system_ns();
  converter.calibrate();
  EXPECT_GE(converter.calibrated_ns(), 2'000'000u);
  wait_us(100);
  converter.calibrate();  // readings that are far apart begin a new interval
  EXPECT_GE(converter.calibrated_ns(), 100'000u);
  EXPECT_LE(converter.calibrated_ns(), system_ns() - before_calibration);
}

// Before the first calibration a tick counts as a nanosecond.
TEST_F(TickConverterTest, IsMonotonicBeforeItsFirstCalibration) {
  TickConverter const converter;
  std::uint64_t const first = ticks_now();
  EXPECT_GE(converter.ns_at(first), 0);
  EXPECT_LT(converter.ns_at(first), converter.ns_at(first + 100));
  EXPECT_EQ(converter.ticks_in(100), 100u);
}

}  // namespace
