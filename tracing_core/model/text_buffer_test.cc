#include "tracing_core/model/text_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tracing { namespace {

TEST(TextBuffer, GrowsOutOfItsInlineStorage) {
  InlineTextBuffer<8> buffer;
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    buffer.append("0123456789");
    buffer.push_back('|');
    buffer.append(3, '-');
    expected += "0123456789|---";
  }
  EXPECT_EQ(buffer.view(), expected);
  EXPECT_FALSE(buffer.truncated());
}

TEST(TextBuffer, DropsTextAndIsTruncatedIfMemoryRunsOut) {
  TextBuffer buffer;
  buffer.append("kept");
  EXPECT_EQ(buffer.reserve(std::numeric_limits<std::size_t>::max() / 2), nullptr);
  EXPECT_EQ(buffer.reserve(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_TRUE(buffer.truncated());
  EXPECT_EQ(buffer.view(), "kept");
  buffer.clear();
  EXPECT_FALSE(buffer.truncated());
}

TEST(TextBuffer, AppendsIntegersOfEveryLength) {
  std::uint64_t value = 0;
  for (int digits = 1; digits <= 20; ++digits) {
    for (std::uint64_t near : {value - 1, value, value + 1}) {
      InlineTextBuffer<32> buffer;
      buffer.append_uint(near);
      EXPECT_EQ(buffer.view(), std::to_string(near));
      buffer.clear();
      buffer.append_int(static_cast<std::int64_t>(near));
      EXPECT_EQ(buffer.view(), std::to_string(static_cast<std::int64_t>(near)));
    }
    value = value == 0 ? 10 : value * 10;
  }
}

TEST(TextBuffer, AppendsTheExtremeIntegers) {
  InlineTextBuffer<96> buffer;
  buffer.append_int(std::numeric_limits<std::int64_t>::min());
  buffer.push_back(' ');
  buffer.append_int(std::numeric_limits<std::int64_t>::max());
  buffer.push_back(' ');
  buffer.append_uint(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(buffer.view(), "-9223372036854775808 9223372036854775807 18446744073709551615");
}

}}  // namespace tracing
