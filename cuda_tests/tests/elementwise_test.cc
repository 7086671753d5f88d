// saxpy and the identity: one thread for each element or line of elements.
#include <testlog/testlog.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/tests/half.h"
#include "cuda_tests/tests/on_backend.h"

namespace cuda_tests { namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

std::uint32_t bits(float value) { return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value); }

class Saxpy : public OnBackend {
 protected:
  void expect_correct(float a, std::vector<float> const& x, std::vector<float> const& y) {
    Handle const device_x = client().create(x);
    Handle const device_y = client().create(y);
    client().launch(saxpy_kernel(), {blocks_for(x.size(), kSaxpyThreads), 1, 1},
                    {a, device_x, device_y, static_cast<std::int32_t>(x.size())});
    auto const result = client().read<float>(device_y);
    ASSERT_EQ(result.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(bits(result[i]), bits(std::fma(a, x[i], y[i]))) << i << ": " << a << " * " << x[i] << " + " << y[i];
    }
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Saxpy);

TEST_LOG_P(Saxpy, IsCorrectForSizesOnAndOffTheBlock) {
  for (std::size_t const size : {0u, 1u, 255u, 256u, 257u, 100'000u}) {
    std::vector<float> x(size);
    std::vector<float> y(size);
    for (std::size_t i = 0; i < size; ++i) {
      x[i] = static_cast<float>(i) * 0.37f - 11;
      y[i] = 1.0f / static_cast<float>(i + 1);
    }
    expect_correct(1.7f, x, y);
  }
}

TEST_LOG_P(Saxpy, KeepsInfinitiesNaNsAndDenormals) {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> const edges{0.0f,
                                 -0.0f,
                                 1.0f,
                                 kInfinity,
                                 -kInfinity,
                                 kNaN,
                                 kDenormal,
                                 -kDenormal,
                                 std::numeric_limits<float>::max(),
                                 std::numeric_limits<float>::min()};
  for (float const first : edges) {
    for (float const second : edges) {
      x.push_back(first);
      y.push_back(second);
    }
  }
  for (float const a : {1.0f, -2.5f, 0.0f, kInfinity, kDenormal}) expect_correct(a, x, y);
}

class Identity : public OnBackend {
 protected:
  // Expects the kernel to copy `values`, which are complete lines. The output has `more` further halves, which must not
  // change.
  void expect_copied(std::vector<Half> const& values, CubeCount count, std::size_t more) {
    std::vector<Half> expected(values.size() + more, 0x1234);
    Handle const output = client().create(expected);
    auto const lines = static_cast<std::uint32_t>(values.size() / kIdentityLine);
    client().launch(identity_kernel(), count, {client().create(values), output, lines});
    std::ranges::copy(values, expected.begin());
    EXPECT_EQ(client().read<Half>(output), expected) << lines << " lines";
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Identity);

TEST_LOG_P(Identity, CopiesEveryHalf) {
  std::vector<Half> all(1u << 16);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Half>(i);
  expect_copied(all, {4, 4, 1}, 0);
}

TEST_LOG_P(Identity, CopiesAnyNumberOfLines) {
  for (std::size_t const lines : {0u, 1u, 255u, 256u, 257u, 1000u}) {
    std::vector<Half> values(lines * kIdentityLine);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Half>(i * 7 + 1);
    expect_copied(values, {2, 2, 1}, 2 * kIdentityLine);
  }
}

}}  // namespace cuda_tests
