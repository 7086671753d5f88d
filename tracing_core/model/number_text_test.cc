#include "tracing_core/model/number_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

namespace tracing { namespace {

template <class Value>
std::string text_of(void (*append)(TextBuffer&, Value) noexcept, Value value) {
  TextBuffer buffer;
  append(buffer, value);
  return std::string(buffer.view());
}

template <class Float>
struct FloatCase {
  Float value;
  std::string_view rust;
  std::string_view json;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Float>
void expect_as_fmt(std::initializer_list<Float> values) {
  for (Float const value : values) {
    for (Float const x : {value, -value}) EXPECT_EQ(text_of<Float>(append_fmt_float, x), fmt::format("{}", x));
  }
}

TEST(AppendFmtFloat, AgreesWithFmt) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  expect_as_fmt<double>({0,
                         1,
                         2.5,
                         10,
                         100,
                         0.1,
                         0.1 + 0.2,
                         0.001,
                         0.0001,
                         0.00001,
                         1.000001,
                         999999999.999999,
                         1e9,
                         1e15,
                         1e16,
                         1e21,
                         1.5e300,
                         5e-324,
                         97691191962302.625,
                         kInfinity,
                         kNan});
  expect_as_fmt<float>({0, 1, 2.5F, 999, 1000, 0.1F, 0.125F, 0.001F, 1e-5F, 1e7F, 1e8F, 1e16F, 3.4e38F, 1e-45F,
                        static_cast<float>(kInfinity), static_cast<float>(kNan)});
}

TEST(AppendFloat, WritesDoublesLikeRustAndSerdeJson) {
  FloatCase<double> const cases[] = {
      {0.0, "0.0", "0.0"},
      {-0.0, "-0.0", "-0.0"},
      {1, "1.0", "1.0"},
      {-1.5, "-1.5", "-1.5"},
      {0.1, "0.1", "0.1"},
      {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"},
      {3.141592653589793, "3.141592653589793", "3.141592653589793"},
      {100, "100.0", "100.0"},
      {1.000001, "1.000001", "1.000001"},
      {1.0000001, "1.0000001", "1.0000001"},
      {999999999.999999, "999999999.999999", "999999999.999999"},
      {123456789012.5, "123456789012.5", "123456789012.5"},
      {1e15, "1000000000000000.0", "1000000000000000.0"},
      {9999999999999998, "9999999999999998.0", "9999999999999998.0"},
      {9007199254740992, "9007199254740992.0", "9007199254740992.0"},
      {1e16, "1e16", "1e+16"},
      {1.5e300, "1.5e300", "1.5e+300"},
      {0.001, "0.001", "0.001"},
      {0.0001, "0.0001", "0.0001"},
      {0.00012345, "0.00012345", "0.00012345"},
      {0.00001, "1e-5", "0.00001"},
      {9.999e-5, "9.999e-5", "0.00009999"},
      {-1.2345678901234567e-5, "-1.2345678901234568e-5", "-0.000012345678901234568"},
      {1e-6, "1e-6", "1e-6"},
      {1.25e-7, "1.25e-7", "1.25e-7"},
      {5e-324, "5e-324", "5e-324"},
      {-1.7976931348623157e308, "-1.7976931348623157e308", "-1.7976931348623157e+308"},
      {97691191962302.625, "97691191962302.63", "97691191962302.62"},  // a tie
      {kInfinity, "inf", "null"},
      {-kInfinity, "-inf", "null"},
      {std::nan(""), "NaN", "null"},
      {-std::nan(""), "NaN", "null"},
  };
  for (auto const& [value, rust, json] : cases) {
    EXPECT_EQ(text_of<double>(append_float, value), rust);
    EXPECT_EQ(text_of<double>(append_json_float, value), json);
  }
}

TEST(AppendFloat, WritesTheShortestDigitsOfFloats) {
  FloatCase<float> const cases[] = {
      {0.1f, "0.1", "0.1"},
      {-0.0f, "-0.0", "-0.0"},
      {16777216.0f, "16777216.0", "16777216.0"},
      {123456789.0f, "123456790.0", "123456790.0"},
      {0.3333333433f, "0.33333334", "0.33333334"},
      {999.999f, "999.999", "999.999"},
      {1000.001f, "1000.001", "1000.001"},
      {0.001f, "0.001", "0.001"},
      {1e-4f, "0.0001", "0.0001"},
      {1e-5f, "1e-5", "0.00001"},
      {1e16f, "1e16", "1e+16"},
      {3.4028235e38f, "3.4028235e38", "3.4028235e+38"},
      {1e-45f, "1e-45", "1e-45"},
      {2278536.25f, "2278536.3", "2278536.2"},
      {-2278536.75f, "-2278536.8", "-2278536.8"},
      {std::numeric_limits<float>::infinity(), "inf", "null"},
  };
  for (auto const& [value, rust, json] : cases) {
    EXPECT_EQ(text_of<float>(append_float, value), rust);
    EXPECT_EQ(text_of<float>(append_json_float, value), json);
  }
}

// Compares the fast and the general path with the known shortest digits.
TEST(AppendFloat, WritesTheShortestDigitsOfDecimalNumbers) {
  for (int integer : {0, 1, 9, 10, 99, 12345, 999999}) {
    for (int micros = 1000; micros < 1000000; micros += 997) {
      std::string expected = std::to_string(integer) + '.' + std::to_string(1000000 + micros).substr(1);
      while (expected.back() == '0' && expected[expected.size() - 2] != '.') expected.pop_back();
      EXPECT_EQ(text_of<double>(append_float, std::stod(expected)), expected);
    }
  }
}

// Observed in the reference: the number in an event, and the same number in a span.
TEST(RereadJsonFloat, AgreesWithTheReference) {
  std::pair<double, double> const cases[] = {
      {5.0013538882334163e+17, 5.001353888233416e+17},
      {-1.8450948965097246e-31, -1.8450948965097248e-31},
      {0.23538109429979082, 0.2353810942997908},
      {-186.07556771872441, -186.0755677187244},
      {-974009561.7134563, -974009561.7134564},
      {0.1, 0.1},
      {-0.0, -0.0},
      {1e22, 1e22},
      {3.141592653589793, 3.141592653589793},
      {9999999999999998, 9999999999999998},
      {5e-324, 5e-324},
      {kInfinity, kInfinity},
  };
  for (auto const& [value, expected] : cases) {
    EXPECT_EQ(text_of<double>(append_float, reread_json_float(value)), text_of<double>(append_float, expected));
  }
  EXPECT_TRUE(std::isnan(reread_json_float(std::nan(""))));
}

TEST(AppendInt128, WritesEveryDigit) {
  constexpr Uint128 kMax = ~Uint128{0};
  constexpr Uint128 kTenTo19 = 10000000000000000000u;
  EXPECT_EQ(text_of<Uint128>(append_uint128, 0), "0");
  EXPECT_EQ(text_of<Uint128>(append_uint128, kTenTo19 - 1), "9999999999999999999");
  EXPECT_EQ(text_of<Uint128>(append_uint128, kTenTo19), "10000000000000000000");
  EXPECT_EQ(text_of<Uint128>(append_uint128, kTenTo19 * kTenTo19 + 7), "100000000000000000000000000000000000007");
  EXPECT_EQ(text_of<Uint128>(append_uint128, kMax), "340282366920938463463374607431768211455");
  EXPECT_EQ(text_of<Int128>(append_int128, -1), "-1");
  EXPECT_EQ(text_of<Int128>(append_int128, static_cast<Int128>(kMax / 2)), "170141183460469231731687303715884105727");
  EXPECT_EQ(text_of<Int128>(append_int128, -static_cast<Int128>(kMax / 2) - 1),
            "-170141183460469231731687303715884105728");
}

TEST(AppendBytes, WritesHexadecimalAndJsonArrays) {
  using Bytes = std::span<std::byte const>;
  constexpr std::byte kBytes[] = {std::byte{0}, std::byte{10}, std::byte{0x7f}, std::byte{0xff}};
  EXPECT_EQ(text_of<Bytes>(append_bytes, kBytes), "[00 0a 7f ff]");
  EXPECT_EQ(text_of<Bytes>(append_json_byte_array, kBytes), "[0,10,127,255]");
  EXPECT_EQ(text_of<Bytes>(append_bytes, {}), "[]");
  EXPECT_EQ(text_of<Bytes>(append_json_byte_array, {}), "[]");
}

TEST(AppendPointer, WritesTheAddress) {
  EXPECT_EQ(text_of<void const*>(append_pointer, nullptr), "0x0");
  EXPECT_EQ(text_of<void const*>(append_pointer, reinterpret_cast<void const*>(std::uintptr_t{0x7f0012abcdef})),
            "0x7f0012abcdef");
}

}}  // namespace tracing
