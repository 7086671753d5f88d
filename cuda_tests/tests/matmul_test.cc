// Products of matrices in three precisions.
#include <testlog/testlog.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/tests/half.h"
#include "cuda_tests/tests/on_backend.h"

namespace cuda_tests { namespace {

struct Size {
  int rows;
  int inner;
  int columns;
};

template <class To, class From, class Convert = std::identity>
std::vector<To> converted(std::vector<From> const& values, Convert convert = {}) {
  std::vector<To> result;
  for (From const value : values) result.push_back(static_cast<To>(convert(value)));
  return result;
}

class Matmul : public OnBackend {
 protected:
  template <class T>
  std::vector<T> product(FloatKind kind, std::vector<T> const& a, std::vector<T> const& b, Size size) {
    // Filled with a number other than zero, so that the kernel must write the zeros of empty sums.
    Handle const c = client().create(std::vector<T>(static_cast<std::size_t>(size.rows * size.columns), T(7)));
    client().launch(matmul_kernel(kind),
                    {blocks_for(static_cast<std::size_t>(size.columns), kMatmulTile),
                     blocks_for(static_cast<std::size_t>(size.rows), kMatmulTile), 1},
                    {client().create(a), client().create(b), c, size.rows, size.inner, size.columns});
    return client().read<T>(c);
  }

  // Returns the product in any precision, for numbers that all precisions represent.
  std::vector<double> product_of_numbers(FloatKind kind, std::vector<double> const& a, std::vector<double> const& b,
                                         Size size) {
    switch (kind) {
      case FloatKind::F16:
        return converted<double>(product(kind, converted<Half>(a, to_half), converted<Half>(b, to_half), size),
                                 from_half);
      case FloatKind::F32: return converted<double>(product(kind, converted<float>(a), converted<float>(b), size));
      case FloatKind::F64: return product(kind, a, b, size);
    }
    return {};
  }

  // Computes the fused steps of a thread, in order. The zeros after the edges do not change the sum.
  template <class T>
  static T reference(std::vector<T> const& a, std::vector<T> const& b, Size size, int row, int column) {
    T sum = 0;
    for (int k = 0; k < size.inner; ++k) {
      sum = std::fma(a[static_cast<std::size_t>(row * size.inner + k)],
                     b[static_cast<std::size_t>(k * size.columns + column)], sum);
    }
    return sum;
  }

  template <class T>
  void expect_exact(FloatKind kind, Size size) {
    std::vector<T> a(static_cast<std::size_t>(size.rows * size.inner));
    std::vector<T> b(static_cast<std::size_t>(size.inner * size.columns));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(std::sin(static_cast<double>(i)));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(std::cos(static_cast<double>(i) * 0.5));
    auto const c = product(kind, a, b, size);
    ASSERT_EQ(c.size(), static_cast<std::size_t>(size.rows * size.columns));
    for (int row = 0; row < size.rows; ++row) {
      for (int column = 0; column < size.columns; ++column) {
        ASSERT_EQ(c[static_cast<std::size_t>(row * size.columns + column)], reference(a, b, size, row, column))
            << row << ", " << column;
      }
    }
  }
};
CUDA_TESTS_ON_BOTH_BACKENDS(Matmul);

constexpr Size kSizes[] = {{0, 4, 4}, {4, 4, 0},    {0, 0, 0},   {17, 0, 5},
                           {1, 1, 1}, {16, 16, 16}, {17, 5, 33}, {40, 64, 24}};

TEST_LOG_P(Matmul, IsExactInFloatsForSizesOnAndOffTheTile) {
  for (Size const size : kSizes) expect_exact<float>(FloatKind::F32, size);
}

TEST_LOG_P(Matmul, IsExactInDoublesForSizesOnAndOffTheTile) {
  for (Size const size : kSizes) expect_exact<double>(FloatKind::F64, size);
}

// Multiplication and addition may be fused or not; each step rounds by at most half an ulp.
TEST_LOG_P(Matmul, IsCorrectInHalvesWithinRounding) {
  for (Size const size : kSizes) {
    std::vector<Half> a(static_cast<std::size_t>(size.rows * size.inner));
    std::vector<Half> b(static_cast<std::size_t>(size.inner * size.columns));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = to_half(std::sin(static_cast<double>(i)));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = to_half(std::cos(static_cast<double>(i) * 0.5));
    auto const c = product(FloatKind::F16, a, b, size);
    for (int row = 0; row < size.rows; ++row) {
      for (int column = 0; column < size.columns; ++column) {
        double sum = 0;
        double bound = 0;
        for (int k = 0; k < size.inner; ++k) {
          double const term = from_half(a[static_cast<std::size_t>(row * size.inner + k)]) *
                              from_half(b[static_cast<std::size_t>(k * size.columns + column)]);
          sum += term;
          bound += (std::fabs(term) + std::fabs(sum)) * 0x1p-10;
        }
        ASSERT_NEAR(from_half(c[static_cast<std::size_t>(row * size.columns + column)]), sum, bound + 0x1p-24)
            << row << ", " << column;
      }
    }
  }
}

struct Width {
  FloatKind kind;
  double least;  // the least denormal
};
constexpr Width kWidths[] = {{FloatKind::F16, 0x1p-24}, {FloatKind::F32, 0x1p-149}, {FloatKind::F64, 0x1p-1074}};

TEST_LOG_P(Matmul, InfinityAndNaNAffectOnlyTheirRowAndColumn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Size const size{17, 17, 17};
  std::vector<double> a(17 * 17, 1.0);
  std::vector<double> b(17 * 17, 1.0);
  a[2 * 17 + 3] = kInfinity;
  b[5 * 17 + 16] = std::numeric_limits<double>::quiet_NaN();
  for (Width const& width : kWidths) {
    auto const c = product_of_numbers(width.kind, a, b, size);
    for (int row = 0; row < 17; ++row) {
      for (int column = 0; column < 17; ++column) {
        double const value = c[static_cast<std::size_t>(row * 17 + column)];
        if (column == 16) {
          EXPECT_TRUE(std::isnan(value));
        } else {
          EXPECT_EQ(value, row == 2 ? kInfinity : 17.0);
        }
      }
    }
  }
}

TEST_LOG_P(Matmul, IsExactForDenormals) {
  Size const size{3, 20, 5};
  for (auto const [kind, least] : kWidths) {
    std::vector<double> const a(3 * 20, least);
    std::vector<double> b(20 * 5, 1.0);
    b[0] = -3;
    auto const c = product_of_numbers(kind, a, b, size);
    for (std::size_t i = 0; i < c.size(); ++i)
      EXPECT_EQ(c[i], (i % 5 == 0 ? 16 : 20) * least) << tracing_enumerator_name(kind) << i;
    EXPECT_EQ(product_of_numbers(kind, {least}, {least}, {1, 1, 1}).front(), 0.0) << "underflow";
  }
}

}}  // namespace cuda_tests
