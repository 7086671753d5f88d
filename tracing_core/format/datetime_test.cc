#include "tracing_core/format/datetime.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

namespace tracing { namespace {

std::string utc(std::int64_t seconds, std::uint32_t nanoseconds = 0) {
  TextBuffer buffer;
  append_utc_time(buffer, seconds, nanoseconds);
  return std::string(buffer.view());
}

TEST(AppendUtcTime, WritesYearsOfAnySize) {
  struct Case {
    std::int64_t seconds;
    std::uint32_t nanoseconds;
    std::string_view expected;
  };
  Case const cases[] = {
      {0, 0, "1970-01-01T00:00:00.000000Z"},  // first: a fresh thread must not take 0 for its last second
      {0, 999, "1970-01-01T00:00:00.000000Z"},
      {0, 1'000, "1970-01-01T00:00:00.000001Z"},
      {0, 999'999'999, "1970-01-01T00:00:00.999999Z"},
      {-1, 1, "1969-12-31T23:59:59.000000Z"},
      {86'399, 0, "1970-01-01T23:59:59.000000Z"},
      {951'782'400, 0, "2000-02-29T00:00:00.000000Z"},
      {1'767'916'569, 977'977'000, "2026-01-08T23:56:09.977977Z"},
      {4'107'542'399, 0, "2100-02-28T23:59:59.000000Z"},
      {4'107'542'400, 0, "2100-03-01T00:00:00.000000Z"},
      {253'402'300'799, 999'999'999, "9999-12-31T23:59:59.999999Z"},
      {253'402'300'800, 0, "+10000-01-01T00:00:00.000000Z"},
      {-62'135'596'800, 0, "0001-01-01T00:00:00.000000Z"},
      {-62'167'219'200, 0, "0000-01-01T00:00:00.000000Z"},
      {-62'167'219'201, 0, "-0001-12-31T23:59:59.000000Z"},
      {-377'705'116'800, 0, "-9999-01-01T00:00:00.000000Z"},
      {-377'705'116'801, 0, "-10000-12-31T23:59:59.000000Z"},
      {67'768'036'191'676'799, 0, "+2147485547-12-31T23:59:59.000000Z"},
      {std::numeric_limits<std::int64_t>::max(), 0, "+292277026596-12-04T15:30:07.000000Z"},
      {std::numeric_limits<std::int64_t>::min(), 999'999'999, "-292277022657-01-27T08:29:52.999999Z"},
  };
  for (auto const& [seconds, nanoseconds, expected] : cases) {
    EXPECT_EQ(utc(seconds, nanoseconds), expected) << seconds;
    EXPECT_EQ(utc(seconds, nanoseconds), expected) << seconds << " once more";
  }
}

// Runs on a new thread, as each thread keeps the offset of its last time.
std::string local(char const* zone, std::int64_t seconds, std::uint32_t nanoseconds = 0) {
  std::string result;
  std::thread([&] {
    setenv("TZ", zone, 1);
    tzset();
    TextBuffer buffer;
    append_local_time(buffer, seconds, nanoseconds);
    result = buffer.view();
  }).join();
  unsetenv("TZ");
  tzset();
  return result;
}

TEST(AppendLocalTime, WritesTheOffsetOfTheTimeZone) {
  constexpr std::int64_t kWinter = 1'767'916'569;
  constexpr std::int64_t kSummer = 1'783'555'200;
  constexpr char const* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(local("UTC0", kWinter, 977'977'999), "2026-01-08T23:56:09.977977+00:00");
  EXPECT_EQ(local(kBerlin, kWinter, 977'977'999), "2026-01-09T00:56:09.977977+01:00");
  EXPECT_EQ(local(kBerlin, kSummer), "2026-07-09T02:00:00.000000+02:00");
  EXPECT_EQ(local("EST5", kWinter), "2026-01-08T18:56:09.000000-05:00");
  EXPECT_EQ(local("NST3:30", kWinter), "2026-01-08T20:26:09.000000-03:30");
  EXPECT_EQ(local("<+0545>-5:45", kWinter), "2026-01-09T05:41:09.000000+05:45");
  EXPECT_EQ(local("LMT-0:53:28", 0), "1970-01-01T00:53:00.000000+00:53");
  EXPECT_EQ(local("UTC0", -1), "1969-12-31T23:59:59.000000+00:00");
}

TEST(AppendLocalTime, FollowsTheChangeToSummerTime) {
  constexpr std::int64_t kChange = 1'774'746'000;  // 2026-03-29T01:00:00Z
  std::string before, after;
  std::thread([&] {
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    TextBuffer buffer;
    append_local_time(buffer, kChange - 1, 999'999'999);
    before = buffer.view();
    buffer.clear();
    append_local_time(buffer, kChange, 0);
    after = buffer.view();
  }).join();
  unsetenv("TZ");
  tzset();
  EXPECT_EQ(before, "2026-03-29T01:59:59.999999+01:00");
  EXPECT_EQ(after, "2026-03-29T03:00:00.000000+02:00");
}

TEST(AppendUptime, AlignsTheSecondsToFourCharacters) {
  struct Case {
    std::uint64_t nanoseconds;
    std::string_view expected;
  };
  Case const cases[] = {
      {0, "   0.000000000s"},
      {42, "   0.000000042s"},
      {1'000'000'042, "   1.000000042s"},
      {12'500'000'000, "  12.500000000s"},
      {9'999'999'999'999, "9999.999999999s"},
      {10'000'000'000'000, "10000.000000000s"},
      {std::numeric_limits<std::uint64_t>::max(), "18446744073.709551615s"},
  };
  for (auto const& [nanoseconds, expected] : cases) {
    TextBuffer buffer;
    append_uptime(buffer, nanoseconds);
    EXPECT_EQ(buffer.view(), expected);
  }
}

}}  // namespace tracing
