#include "tracing_core/format/timer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

namespace tracing { namespace {

constexpr Instant kTime{1'767'916'569'977'977'999};

std::string text(Timer const& timer, Instant time) {
  TextBuffer out;
  EXPECT_TRUE(timer.append(out, time));
  return std::string(out.view());
}

TEST(Timer, UtcHasMicroseconds) {
  auto const timer = utc_timer();
  EXPECT_EQ(text(*timer, kTime), "2026-01-08T23:56:09.977977Z");
  EXPECT_EQ(text(*timer, kTime), "2026-01-08T23:56:09.977977Z") << "from the cached second";
  EXPECT_EQ(text(*timer, {}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(text(*timer, {-1}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(text(*timer, {INT64_MIN}), "1677-09-21T00:12:43.145224Z");
  EXPECT_EQ(text(*timer, {INT64_MAX}), "2262-04-11T23:47:16.854775Z");
}

TEST(Timer, LocalHasTheOffset) {
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  EXPECT_EQ(text(*local_timer(), kTime), "2026-01-09T00:56:09.977977+01:00");
  unsetenv("TZ");
  tzset();
}

TEST(Timer, UptimeCountsFromItsStart) {
  auto const timer = uptime_timer(kTime);
  EXPECT_EQ(text(*timer, {kTime.ns + 1'000'000'042}), "   1.000000042s");
  EXPECT_EQ(text(*timer, {kTime.ns + 12'345'000'000'000}), "12345.000000000s");
  EXPECT_EQ(text(*timer, {kTime.ns - 1}), "   0.000000000s") << "earlier times print as zero";
  EXPECT_EQ(text(*uptime_timer({INT64_MIN}), {INT64_MAX}), "18446744073.709551615s");
  EXPECT_LT(text(*uptime_timer(), Instant::now()), "  60.000000000s") << "from the call if no start is given";
}

TEST(Timer, CallsACustomFunction) {
  auto const seconds = make_timer([](TextBuffer& out, Instant time) {
    if (!time) return false;
    out.append_int(time.ns / 1'000'000'000);
    return true;
  });
  EXPECT_EQ(text(*seconds, kTime), "1767916569");
  TextBuffer out;
  EXPECT_FALSE(seconds->append(out, {}));
  EXPECT_TRUE(out.empty());
}

}}  // namespace tracing
