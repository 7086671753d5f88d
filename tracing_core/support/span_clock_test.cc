#include "tracing_core/support/span_clock.h"

#include <gtest/gtest.h>

#include "tracing_core/model/instant.h"
#include "tracing_core/support/tick_converter.h"

namespace {

using tracing::Instant;
using tracing::support::ns_between;
using tracing::support::simulate_time;
using tracing::support::TickConverter;
using tracing::support::ticks_now;

TEST(SpanClock, ShowsSimulatedTime) {
  constexpr std::uint64_t kStart = 1'767'916'569'977'977'000;
  simulate_time(kStart);
  TickConverter converter;
  std::uint64_t const begin = ticks_now();
  simulate_time(kStart + 83'000);
  std::uint64_t const end = ticks_now();
  converter.calibrate();
  EXPECT_EQ(ns_between(begin, end), 83'000U);
  EXPECT_EQ(converter.ns_at(end), 83'000);
  EXPECT_EQ(Instant::now().ns, static_cast<std::int64_t>(kStart + 83'000));

  simulate_time(0);
  EXPECT_GT(Instant::now().ns, static_cast<std::int64_t>(kStart + 83'000)) << "the real time is later";
  EXPECT_LT(ns_between(ticks_now(), ticks_now()), 1'000'000'000U);
}

}  // namespace
