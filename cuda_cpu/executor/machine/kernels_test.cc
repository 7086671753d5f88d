// The kernels of cuda_tests/kernels, compiled by NVRTC, against results computed on the host.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "cuda_cpu/executor/reference/run_test_support.h"

namespace cuda_cpu { namespace {

// Parameter: a target, with or without fast math.
class Kernels : public testing::TestWithParam<char const*> {
 protected:
  void load(std::string const& name) { device.load(read_testdata(name + "." + GetParam())); }
  bool fast() const { return std::string_view(GetParam()).ends_with("fast"); }

  TestDevice device;
};
INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::Values("75", "75.fast", "90", "90.fast"), [](auto const& one) {
  std::string name = one.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

std::vector<float> random_floats(std::size_t count, float low = -1, float high = 1) {
  std::minstd_rand random(7);
  std::uniform_real_distribution<float> between(low, high);
  std::vector<float> values(count);
  for (auto& value : values) value = between(random);
  return values;
}

TEST_P(Kernels, SaxpyGivesTheResultsOfTheHost) {
  load("saxpy");
  auto const x = random_floats(1000), y = random_floats(1000, 5, 9);
  auto* const on_device = device.upload(y);
  EXPECT_EQ(text_of(device.run("saxpy", {{4}, {256}, 0}, 2.5f, device.upload(x), on_device, 1000)), "");
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(on_device[i], std::fma(2.5f, x[i], y[i]));
  EXPECT_EQ(device.statistics.thread_instructions, 1024u * 11 + 1000u * 9);
}

TEST_P(Kernels, IdentityCopiesLines) {
  load("identity");
  std::vector<std::uint64_t> values(4 * 1000);  // a line has 16 halves
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 0x9e3779b97f4a7c15;
  auto* const output = device.allocate<std::uint64_t>(values.size());
  EXPECT_EQ(text_of(device.run("identity", {{2, 2}, {16, 16}, 0}, device.upload(values), output, 1000u)), "");
  EXPECT_TRUE(std::ranges::equal(values, std::span(output, values.size())));
}

TEST_P(Kernels, MatmulRoundsOncePerProduct) {
  load("matmul");
  int const rows = 33, inner = 50, columns = 21;
  auto const a = random_floats(rows * inner), b = random_floats(inner * columns);
  auto* const c = device.allocate<float>(rows * columns);
  EXPECT_EQ(text_of(device.run("_Z6matmulIfLi16EEvPKT_S2_PS0_iii", {{2, 3}, {16, 16}, 0}, device.upload(a),
                               device.upload(b), c, rows, inner, columns)),
            "");
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int k = 0; k < 64; ++k) {
        sum = std::fma(k < inner ? a[static_cast<std::size_t>(i * inner + k)] : 0,
                       k < inner ? b[static_cast<std::size_t>(k * columns + j)] : 0, sum);
      }
      ASSERT_EQ(c[i * columns + j], sum) << i << ' ' << j;
    }
  }
}

TEST_P(Kernels, MatmulOfDoublesRoundsOncePerProduct) {
  load("matmul");
  int const rows = 19, inner = 21, columns = 33;
  auto const floats_a = random_floats(rows * inner), floats_b = random_floats(inner * columns, -3, 5);
  std::vector<double> a(floats_a.begin(), floats_a.end()), b(floats_b.begin(), floats_b.end());
  for (auto& value : a) value /= 3;  // makes the products inexact
  auto* const c = device.allocate<double>(rows * columns);
  EXPECT_EQ(text_of(device.run("_Z6matmulIdLi16EEvPKT_S2_PS0_iii", {{3, 2}, {16, 16}, 0}, device.upload(a),
                               device.upload(b), c, rows, inner, columns)),
            "");
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < inner; ++k)
        sum = std::fma(a[static_cast<std::size_t>(i * inner + k)], b[static_cast<std::size_t>(k * columns + j)], sum);
      ASSERT_EQ(c[i * columns + j], sum) << i << ' ' << j;
    }
  }
}

// Halves represent sums of small quarters exactly, so the order of rounding does not matter.
TEST_P(Kernels, MatmulOfHalvesIsExactForSmallIntegers) {
  load("matmul");
  int const rows = 17, inner = 37, columns = 18;
  auto const quarters = [](int i) { return (i * 37 % 11) - 5; };  // from -5 to 5
  auto const half_of = [](int value) {                            // returns the bits of value / 4
    int const magnitude = value < 0 ? -value : value;
    unsigned bits = 0;
    if (magnitude != 0) {
      int const exponent = static_cast<int>(std::bit_width(static_cast<unsigned>(magnitude))) - 1;
      bits = static_cast<unsigned>(exponent - 2 + 15) << 10 |
             ((static_cast<unsigned>(magnitude) << (10 - exponent)) & 1023);
    }
    return static_cast<std::uint16_t>(bits | (value < 0 ? 0x8000 : 0));
  };
  std::vector<std::uint16_t> a, b;
  for (int i = 0; i < rows * inner; ++i) a.push_back(half_of(quarters(i)));
  for (int i = 0; i < inner * columns; ++i) b.push_back(half_of(4 * quarters(3 * i + 1)));
  auto* const c = device.allocate<std::uint16_t>(rows * columns);
  EXPECT_EQ(text_of(device.run("_Z6matmulI6__halfLi16EEvPKT_S3_PS1_iii", {{2, 2}, {16, 16}, 0}, device.upload(a),
                               device.upload(b), c, rows, inner, columns)),
            "");
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      int sum = 0;
      for (int k = 0; k < inner; ++k) sum += quarters(i * inner + k) * quarters(3 * (k * columns + j) + 1);
      ASSERT_LE(std::abs(sum), 2048);
      ASSERT_EQ(c[i * columns + j] & (sum == 0 ? 0x7fff : 0xffff), half_of(sum)) << i << ' ' << j;
    }
  }
}

TEST_P(Kernels, BlockSumAddsAllValues) {
  load("reduce");
  std::vector<float> const values(10'000, 0.25f);
  auto* const sums = device.allocate<float>(5);
  EXPECT_EQ(text_of(device.run("block_sum", {{5}, {160}, 0}, device.upload(values), sums, 10'000)), "");
  EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3] + sums[4], 2500);
}

TEST_P(Kernels, HistogramCountsBytes) {
  load("histogram");
  std::vector<std::uint8_t> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * i / 7);
  auto* const counts = device.allocate<unsigned>(256);
  EXPECT_EQ(text_of(device.run("histogram", {{3}, {100}, 0}, device.upload(values), counts, 5000)), "");
  for (unsigned byte = 0; byte < 256; ++byte)
    ASSERT_EQ(counts[byte], static_cast<unsigned>(std::ranges::count(values, byte)));
}

TEST_P(Kernels, TransposeSwapsRowsAndColumns) {
  load("transpose");
  int const width = 70, height = 45;
  auto const input = random_floats(width * height);
  auto* const output = device.allocate<float>(width * height);
  EXPECT_EQ(text_of(device.run("transpose", {{3, 2}, {32, 8}, 0}, device.upload(input), output, width, height)), "");
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) ASSERT_EQ(output[x * height + y], input[static_cast<std::size_t>(y * width + x)]);
}

TEST_P(Kernels, ScanWaitsForEarlierBlocks) {
  load("scan");
  unsigned const blocks = 300, threads = 64;
  std::vector<unsigned> values(blocks * threads - 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned>(i * 2654435761u >> 20);
  auto* const sums = device.allocate<unsigned>(values.size());
  auto* const states = device.allocate<std::uint64_t>(blocks);
  EXPECT_EQ(text_of(device.run("scan", {{blocks}, {threads}, threads * 4}, device.upload(values), sums, states,
                               static_cast<int>(values.size()))),
            "");
  unsigned sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(sums[i], sum += values[i]) << i;
}

TEST_P(Kernels, SoftmaxIsStableForInputsThatDifferByThreeHundred) {
  load("softmax");
  int const rows = 3, columns = 200;
  auto const input = random_floats(rows * columns, -150, 150);
  auto* const output = device.allocate<float>(rows * columns);
  EXPECT_EQ(text_of(device.run("softmax", {{rows}, {64}, 0}, device.upload(input), output, columns)), "");
  for (int row = 0; row < rows; ++row) {
    std::span const in(input.data() + row * columns, columns);
    double const greatest = std::ranges::max(in);
    double sum = 0;
    for (float const value : in) sum += std::exp(value - greatest);
    for (int i = 0; i < columns; ++i) {
      double const expected = std::exp(in[static_cast<std::size_t>(i)] - greatest) / sum;
      ASSERT_NEAR(output[row * columns + i], expected, expected * (fast() ? 1e-4 : 1e-5) + 1e-38) << row << ' ' << i;
    }
  }
}

TEST_P(Kernels, SayPrintsLikePrintf) {
  load("faults");
  std::vector<std::string> said;
  device.options.print = [&](std::string_view text) { said.emplace_back(text); };
  EXPECT_EQ(text_of(device.run("say", {{1}, {40}, 0}, 42, 1.5)), "");
  EXPECT_EQ(said, std::vector<std::string>{"block 0 says 42 and 1.50\n"});
}

}}  // namespace cuda_cpu
