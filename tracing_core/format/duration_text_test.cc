#include "tracing_core/format/duration_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace tracing {
namespace {

std::string duration_text(std::uint64_t nanoseconds) {
  TextBuffer buffer;
  append_duration(buffer, nanoseconds);
  return std::string(buffer.view());
}

TEST(AppendDuration, ChoosesUnitAndDecimals) {
  struct Case {
    std::uint64_t nanoseconds;
    std::string_view expected;
  };
  Case const cases[] = {
      {0, "0.00ns"},
      {9, "9.00ns"},
      {11, "11.0ns"},
      {999, "999ns"},
      {1'000, "1.00µs"},
      {9'995, "9.99µs"},  // as a double 9.995 is a little less
      {9'999, "10.00µs"},
      {10'000, "10.0µs"},
      {99'999, "100.0µs"},
      {100'500, "100µs"},  // a tie goes to the even digit
      {101'500, "102µs"},
      {999'999, "1000µs"},
      {1'234'567, "1.23ms"},
      {99'000'000, "99.0ms"},
      {1'000'000'000, "1.00s"},
      {999'500'000'000, "1000s"},
      {1'000'500'000'000, "1000s"},
      {1'000'000'000'000'000, "1000000s"},
      {std::numeric_limits<std::uint64_t>::max(), "18446744074s"},
  };
  for (auto const& [nanoseconds, expected] : cases) EXPECT_EQ(duration_text(nanoseconds), expected) << nanoseconds;
}

// The floating-point way of the reference, spelled with printf.
std::string slow_duration_text(std::uint64_t nanoseconds) {
  auto value = static_cast<double>(nanoseconds);
  char text[64];
  for (char const* unit : {"ns", "µs", "ms", "s"}) {
    if (value < 1000) {
      std::snprintf(text, sizeof text, "%.*f%s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
      return text;
    }
    value /= 1000;
  }
  std::snprintf(text, sizeof text, "%.0fs", value * 1000);
  return text;
}

TEST(AppendDuration, AgreesWithFloatingPointAroundEveryTie) {
  for (std::uint64_t scale = 1; scale <= 1'000'000'000; scale *= 10) {
    for (std::uint64_t step = 1; step < 3'000; ++step) {
      for (std::int64_t offset : {-1, 0, 1}) {
        auto const nanoseconds = step * scale * 5 + static_cast<std::uint64_t>(offset);
        ASSERT_EQ(duration_text(nanoseconds), slow_duration_text(nanoseconds)) << nanoseconds;
      }
    }
  }
}

}  // namespace
}  // namespace tracing
