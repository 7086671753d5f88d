// Kernels that use the toolkit's types of 16 and 8 bits: testdata/small_floats.cu, compiled by nvcc. For compute_75 the
// toolkit's headers emulate bfloats and fp8; for compute_90 they use instructions.
#include <bit>
#include <cmath>

#include "cuda_cpu/executor/reference/reference.h"
#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu { namespace {

using namespace reference;
using Half = std::uint16_t;

class SmallFloats : public testing::TestWithParam<char const*> {
 protected:
  SmallFloats() { device.load(read_testdata(std::string("small_floats.") + GetParam())); }

  TestDevice device;
};
INSTANTIATE_TEST_SUITE_P(All, SmallFloats, testing::Values("75", "90"));

// Returns numbers whose exponents are near each other, so that a float holds each sum.
std::vector<Half> numbers(Format const& format, std::size_t count) {
  std::vector<Half> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(static_cast<Half>(rounded(format, static_cast<Exact>(std::sin(static_cast<double>(i)) * 10))));
  return all;
}
Half sum_of(Format const& format, Half a, Half b) {
  return static_cast<Half>(rounded(format, value_of(format, a) + value_of(format, b)));
}

TEST_P(SmallFloats, ProductsAndSumsOfBfloatsAreRounded) {
  auto const in = numbers(kBfloat, 3 * 64);
  auto* const out = device.allocate<Half>(64);
  EXPECT_EQ(text_of(device.run("multiply_add", {{1}, {64}, 0}, out, device.upload(in))), "");
  for (std::size_t i = 0; i < 64; ++i) {
    auto const product =
        static_cast<Half>(rounded(kBfloat, value_of(kBfloat, in[3 * i]) * value_of(kBfloat, in[3 * i + 1])));
    ASSERT_EQ(out[i], sum_of(kBfloat, product, in[3 * i + 2])) << i;
  }
}

TEST_P(SmallFloats, ShufflesOfPairsSumWarps) {
  auto const in = numbers(kBfloat, 2 * 64), halves = numbers(kHalf, 2 * 64);
  auto* const out = device.allocate<std::array<Half, 2>>(2);
  auto* const half_out = device.allocate<std::array<Half, 2>>(64);
  EXPECT_EQ(text_of(device.run("warp_sums", {{1}, {64}, 0}, out, device.upload(in), half_out, device.upload(halves))),
            "");
  for (std::size_t warp = 0; warp < 2; ++warp) {
    for (std::size_t part = 0; part < 2; ++part) {
      std::array<Half, 32> down{}, across{};
      for (std::size_t i = 0; i < 32; ++i) {
        down[i] = in[2 * (32 * warp + i) + part];
        across[i] = halves[2 * (32 * warp + i) + part];
      }
      for (std::size_t distance = 16; distance > 0; distance /= 2) {
        auto const before = across;
        for (std::size_t i = 0; i < 32; ++i) {
          across[i] = sum_of(kHalf, before[i], before[i ^ distance]);
          if (i < distance) down[i] = sum_of(kBfloat, down[i], down[i + distance]);
        }
      }
      EXPECT_EQ(out[warp][part], down[0]);
      for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(half_out[32 * warp + i][part], across[i]) << i;
    }
  }
}

TEST_P(SmallFloats, ExtremesAndComparisonsOfBfloats) {
  auto const in = numbers(kBfloat, 50);
  auto* const out = device.allocate<Half>(4);
  EXPECT_EQ(text_of(device.run("extremes", {{1}, {1}, 0}, out, device.upload(in), 50)), "");
  Exact greatest = -100, least = 100;
  int below = 0;
  for (Half const one : in) {
    greatest = std::max(greatest, value_of(kBfloat, one));
    least = std::min(least, value_of(kBfloat, one));
    below += value_of(kBfloat, one) < value_of(kBfloat, in[0]) ? 1 : 0;
  }
  EXPECT_TRUE(value_of(kBfloat, out[0]) == greatest && value_of(kBfloat, out[1]) == least);
  EXPECT_TRUE(value_of(kBfloat, out[2]) == below);
  EXPECT_EQ(out[3], in[0] | 0x8000);
}

TEST_P(SmallFloats, AtomicSumsOfBlocks) {
  auto* const total = device.allocate<Half>(2);
  auto* const pairs = device.allocate<std::array<Half, 2>>(1);
  EXPECT_EQ(text_of(device.run("count_atomically", {{4}, {50}, 0}, total, pairs)), "");
  EXPECT_TRUE(value_of(kBfloat, total[0]) == 200);
  EXPECT_TRUE(value_of(kHalf, (*pairs)[0]) == 200 && value_of(kHalf, (*pairs)[1]) == 400);
  EXPECT_EQ(total[1], 0);
}

std::uint8_t byte_of(Format const& format, float value) {
  Bits const magnitude = rounded(format, static_cast<Exact>(std::fabs(value)), "rn", true);
  return static_cast<std::uint8_t>(magnitude | (std::signbit(value) ? format.sign : 0));
}

TEST_P(SmallFloats, FloatsAreQuantizedToBytes) {
  std::vector<std::array<float, 4>> in(64);
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      in[i][k] = std::ldexp(static_cast<float>(std::cos(static_cast<double>(4 * i + k))), static_cast<int>(i) / 2 - 18);
  auto* const out = device.allocate<std::uint8_t>(64);
  auto* const quads = device.allocate<std::array<std::uint8_t, 4>>(64);
  EXPECT_EQ(text_of(device.run("quantize", {{1}, {64}, 0}, out, quads, device.upload(in))), "");
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_EQ(out[i], byte_of(kE4m3, in[i][0])) << in[i][0];
    for (std::size_t k = 0; k < 4; ++k) ASSERT_EQ(quads[i][k], byte_of(kE5m2, in[i][k])) << in[i][k];
  }
}

TEST_P(SmallFloats, AllBytesHaveTheirValues) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  auto* const out = device.allocate<float>(256);
  auto* const halves = device.allocate<Half>(256);
  auto* const in = device.upload(bytes);
  EXPECT_EQ(text_of(device.run("dequantize", {{1}, {256}, 0}, out, in, halves, in)), "");
  for (Bits i = 0; i < 256; ++i) {
    if (is_nan(kE4m3, i))
      EXPECT_TRUE(std::isnan(out[i])) << i;
    else
      EXPECT_TRUE(static_cast<Exact>(out[i]) == value_of(kE4m3, i)) << i;
    if (is_nan(kE5m2, i))
      EXPECT_TRUE(is_nan(kHalf, halves[i])) << i;
    else
      EXPECT_EQ(halves[i], i << 8) << "the upper byte of a half";
  }
}

TEST_P(SmallFloats, BytesOfAWordAreApart) {
  std::vector<std::uint32_t> in(2 * 64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>((i + 1) * 0x9e3779b97f4a7c15 >> 20);
  auto* const out = device.allocate<std::uint32_t>(3 * 64);
  EXPECT_EQ(text_of(device.run("bytes_apart", {{1}, {64}, 0}, out, device.upload(in))), "");
  for (std::size_t i = 0; i < 64; ++i) {
    std::uint32_t apart = 0, total = 0, greatest = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
      int const a = static_cast<int>(in[2 * i] >> shift & 255), b = static_cast<int>(in[2 * i + 1] >> shift & 255);
      apart |= static_cast<std::uint32_t>(std::abs(a - b)) << shift;
      total += static_cast<std::uint32_t>(std::abs(a - b));
    }
    for (unsigned shift : {0u, 16u}) {
      auto const a = static_cast<std::int16_t>(in[2 * i] >> shift),
                 b = static_cast<std::int16_t>(in[2 * i + 1] >> shift);
      greatest |= std::uint32_t{static_cast<std::uint16_t>(std::max(a, b))} << shift;
    }
    ASSERT_EQ(out[3 * i], apart);
    ASSERT_EQ(out[3 * i + 1], total);
    ASSERT_EQ(out[3 * i + 2], greatest);
  }
}

}}  // namespace cuda_cpu
