// Kernels whose threads cooperate: sums, scans, histograms, transposition, softmax.
#include <testlog/testlog.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/tests/on_backend.h"

namespace cuda_tests { namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class BlockSum : public OnBackend {
 protected:
  float sum(std::vector<float> const& values, unsigned blocks, unsigned threads) {
    Handle const partial = client().empty(blocks * sizeof(float));
    client().launch(block_sum_kernel(threads), {blocks, 1, 1},
                    {client().create(values), partial, static_cast<std::int32_t>(values.size())});
    auto const sums = client().read<float>(partial);
    return std::accumulate(sums.begin(), sums.end(), 0.0f);
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(BlockSum);

TEST_LOG_P(BlockSum, IsCorrectForAnySizeAndBlock) {
  for (std::size_t const size : {0u, 1u, 31u, 32u, 33u, 1000u, 50'000u}) {
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(std::sin(static_cast<double>(i)) + 1.5);
    double const expected = std::accumulate(values.begin(), values.end(), 0.0);
    for (unsigned const threads : {32u, 256u, 1024u})
      EXPECT_NEAR(sum(values, 3, threads), expected, expected * 1e-5 + 1e-6) << size;
  }
}

TEST_LOG_P(BlockSum, KeepsNaNsAndInfinities) {
  std::vector<float> values(100, 1.0f);
  values[70] = kInfinity;
  EXPECT_EQ(sum(values, 1, 64), kInfinity);
  values[3] = -kInfinity;
  EXPECT_TRUE(std::isnan(sum(values, 1, 64)));
}

TEST_LOG_P(BlockSum, IsExactForDenormals) {
  float const least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(sum(std::vector<float>(1000, least), 2, 64), 1000 * least);
  EXPECT_EQ(sum({least, -least, 3 * least}, 1, 32), 3 * least);
}

class Scan : public OnBackend {
 protected:
  void expect_correct(std::vector<std::uint32_t> const& values, unsigned threads) {
    unsigned const blocks = blocks_for(values.size(), threads);
    Handle const sums = client().empty(values.size() * sizeof(std::uint32_t));
    Handle const states = client().create(std::vector<std::uint64_t>(blocks, 0));
    client().launch(scan_kernel(threads), {blocks, 1, 1},
                    {client().create(values), sums, states, static_cast<std::int32_t>(values.size())},
                    ExecutionMode::Unchecked, threads * static_cast<unsigned>(sizeof(std::uint32_t)));
    std::vector<std::uint32_t> expected(values.size());
    std::inclusive_scan(values.begin(), values.end(), expected.begin());
    EXPECT_EQ(client().read<std::uint32_t>(sums), expected);
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Scan);

TEST_LOG_P(Scan, IsCorrectForAnySize) {
  for (std::size_t const size : {0u, 1u, 255u, 256u, 257u, 20'000u}) {
    std::vector<std::uint32_t> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::uint32_t>(i * 2'654'435'761u);
    expect_correct(values, 256);
  }
}

// Each block waits for the preceding block, so all but one of the running blocks spin.
TEST_LOG_P(Scan, BlocksWaitForEarlierBlocks) { expect_correct(std::vector<std::uint32_t>(32 * 300, 1), 32); }

class Histogram : public OnBackend {};
CUDA_TESTS_ON_BOTH_BACKENDS(Histogram);

TEST_LOG_P(Histogram, CountsEachByte) {
  for (std::size_t const size : {0u, 1u, 255u, 100'003u}) {
    std::vector<std::uint8_t> values(size);
    std::vector<std::uint32_t> expected(256, 0);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = static_cast<std::uint8_t>(i * i >> 3);
      ++expected[values[i]];
    }
    Handle const counts = client().create(std::vector<std::uint32_t>(256, 0));
    unsigned const blocks = std::min(5u, blocks_for(size, kHistogramThreads));
    client().launch(histogram_kernel(), {blocks, 1, 1},
                    {client().create(values), counts, static_cast<std::int32_t>(size)});
    EXPECT_EQ(client().read<std::uint32_t>(counts), expected);
  }
}

class Transpose : public OnBackend {
 protected:
  // Compares the bits of the elements.
  void expect_correct(std::vector<std::uint32_t> const& input, std::size_t width, std::size_t height) {
    Handle const output = client().empty(input.size() * sizeof(float));
    client().launch(
        transpose_kernel(), {blocks_for(width, kTransposeTile), blocks_for(height, kTransposeTile), 1},
        {client().create(input), output, static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)});
    auto const result = client().read<std::uint32_t>(output);
    ASSERT_EQ(result.size(), input.size());
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) ASSERT_EQ(result[x * height + y], input[y * width + x]) << x << ", " << y;
    }
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Transpose);

TEST_LOG_P(Transpose, MovesEveryElement) {
  struct Extent {
    std::size_t width;
    std::size_t height;
  };
  for (auto const [width, height] : {Extent{0, 0}, Extent{0, 3}, Extent{3, 0}, Extent{1, 1}, Extent{32, 32},
                                     Extent{33, 31}, Extent{5, 200}, Extent{128, 64}}) {
    std::vector<std::uint32_t> input(width * height);
    for (std::size_t i = 0; i < input.size(); ++i)
      input[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) + 0.5f);
    expect_correct(input, width, height);
  }
}

// Zeros of both signs, denormals, infinities, quiet and signalling NaNs with payloads.
TEST_LOG_P(Transpose, KeepsEveryBit) {
  constexpr std::uint32_t kEdges[] = {0x00000000u, 0x80000000u, 0x00000001u, 0x807fffffu, 0x00800000u, 0x7f7fffffu,
                                      0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc12345u, 0x7f800001u};
  std::vector<std::uint32_t> input(37 * 41);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = kEdges[i % std::size(kEdges)];
  expect_correct(input, 37, 41);
}

class Softmax : public OnBackend {
 protected:
  std::vector<float> softmax(std::vector<float> const& input, std::size_t columns) {
    Handle const output = client().empty(input.size() * sizeof(float));
    unsigned const rows = columns == 0 ? 1 : static_cast<unsigned>(input.size() / columns);
    client().launch(softmax_kernel(), {rows, 1, 1},
                    {client().create(input), output, static_cast<std::int32_t>(columns)});
    return client().read<float>(output);
  }
  void expect_correct(std::vector<float> const& input, std::size_t columns) {
    auto const result = softmax(input, columns);
    ASSERT_EQ(result.size(), input.size());
    for (std::size_t first = 0; first < input.size(); first += columns) {
      double const greatest = *std::max_element(&input[first], &input[first] + columns);
      double sum = 0;
      for (std::size_t i = 0; i < columns; ++i) sum += std::exp(input[first + i] - greatest);
      for (std::size_t i = 0; i < columns; ++i) {
        double const expected = std::exp(input[first + i] - greatest) / sum;
        ASSERT_NEAR(result[first + i], expected, expected * 4e-6 + 1e-37) << first << " + " << i;
      }
    }
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Softmax);

TEST_LOG_P(Softmax, IsCorrectForRowsOfAnyLength) {
  for (std::size_t const columns : {1u, 2u, 127u, 128u, 129u, 1000u}) {
    std::vector<float> input(columns * 3);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(10 * std::sin(static_cast<double>(i)));
    expect_correct(input, columns);
  }
}

TEST_LOG_P(Softmax, IsCorrectForDistantValues) {
  std::vector<float> input(500);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = -150 + 300 * static_cast<float>(i) / 499;
  expect_correct(input, input.size());
}

TEST_LOG_P(Softmax, IsZeroForMinusInfinityAndNaNForNaN) {
  auto const result = softmax({0.0f, -kInfinity, 0.0f, 0.0f}, 4);
  EXPECT_EQ(result[1], 0.0f);
  EXPECT_NEAR(result[0], 1.0 / 3, 1e-6);
  for (float const value : softmax({0.0f, kNaN}, 2)) EXPECT_TRUE(std::isnan(value));
}

TEST_LOG_P(Softmax, IsNaNForInfinity) {
  for (float const value : softmax({0.0f, kInfinity, 1.0f}, 3)) EXPECT_TRUE(std::isnan(value));
}

TEST_LOG_P(Softmax, TreatsDenormalsLikeZeros) {
  float const least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(softmax({least, -least, 100 * least, 0.0f}, 4), std::vector<float>(4, 0.25f));
}

TEST_LOG_P(Softmax, IsEmptyForNoRows) { EXPECT_TRUE(softmax({}, 0).empty()); }

}}  // namespace cuda_tests
