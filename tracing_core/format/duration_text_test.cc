#include "tracing_core/format/duration_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tracing { namespace {

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

TEST(AppendRelativeTime, IsSignedAndAligned) {
  struct Case {
    std::int64_t nanoseconds;
    std::string_view expected;
  };
  Case const cases[] = {
      {0, "  +0.000 ms"},
      {999, "  +0.000 ms"},
      {1'204'567, "  +1.204 ms"},
      {-1'204'567, "  -1.204 ms"},
      {999'999'999, "+999.999 ms"},
      {61'000'001'000, "+61000.001 ms"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036854.775 ms"},
  };
  for (auto const& [nanoseconds, expected] : cases) {
    InlineTextBuffer<64> text;
    append_relative_time(text, nanoseconds);
    EXPECT_EQ(text.view(), expected) << nanoseconds;
  }
  InlineTextBuffer<64> narrow;
  append_relative_time(narrow, 42'000, 0);
  EXPECT_EQ(narrow.view(), "+0.042 ms");
}

}}  // namespace tracing
