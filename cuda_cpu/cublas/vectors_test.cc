// The operations on vectors, of a matrix and vectors, geam and trsm, with float and double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda_cpu/cublas/cublas_test_support.h"

namespace cuda_cpu::cublas { namespace {

// Gives the tests cublas<t>name(), in both widths, as Calls<T>::name(is_wide, arguments...).
template <class T>
struct Calls;
#define CUBLAS_TEST_CALL(letter, name)                                                             \
  template <class... Arguments>                                                                    \
  static cublasStatus_t name(bool is_wide, Arguments... arguments) {                               \
    return is_wide ? cublas##letter##name##_64(arguments...) : cublas##letter##name(arguments...); \
  }
#define CUBLAS_TEST_CALLS(T, letter, I)                                                                 \
  template <>                                                                                           \
  struct Calls<T> {                                                                                     \
    CUBLAS_TEST_CALL(letter, axpy)                                                                      \
    CUBLAS_TEST_CALL(letter, scal)                                                                      \
    CUBLAS_TEST_CALL(letter, copy)                                                                      \
    CUBLAS_TEST_CALL(letter, swap)                                                                      \
    CUBLAS_TEST_CALL(letter, dot)                                                                       \
    CUBLAS_TEST_CALL(letter, nrm2)                                                                      \
    CUBLAS_TEST_CALL(letter, asum)                                                                      \
    CUBLAS_TEST_CALL(letter, gemv)                                                                      \
    CUBLAS_TEST_CALL(letter, ger)                                                                       \
    CUBLAS_TEST_CALL(letter, geam)                                                                      \
    CUBLAS_TEST_CALL(letter, trsm)                                                                      \
    static constexpr auto amax = [](auto... arguments) { return cublas##I##amax(arguments...); };       \
    static constexpr auto amax_64 = [](auto... arguments) { return cublas##I##amax_64(arguments...); }; \
    static constexpr auto amin = [](auto... arguments) { return cublas##I##amin(arguments...); };       \
  };
CUBLAS_TEST_CALLS(float, S, Is)
CUBLAS_TEST_CALLS(double, D, Id)

template <class T>
class Vectors : public Cublas {
 protected:
  Array<T> const x_{{1, 2, 3, 4, 5, 6}};
  T const two_ = 2;
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Vectors, Types, );

#define SUCCEEDS(...) EXPECT_EQ((__VA_ARGS__), CUBLAS_STATUS_SUCCESS)

TYPED_TEST(Vectors, AreAddedScaledCopiedAndSwapped) {
  using Values = std::vector<TypeParam>;
  using C = Calls<TypeParam>;
  for (bool const wide : {false, true}) {
    Array<TypeParam> const y({10, 20, 30, 40, 50, 60});
    SUCCEEDS(C::axpy(wide, this->handle, 3, &this->two_, this->x_.get(), 2, y.get(), 1));
    EXPECT_EQ(y.values(), (Values{12, 26, 40, 40, 50, 60}));
    SUCCEEDS(C::axpy(wide, this->handle, 3, &this->two_, this->x_.get(), -1, y.get(), 2));  // 3, 2, 1
    EXPECT_EQ(y.values(), (Values{18, 26, 44, 40, 52, 60}));
    SUCCEEDS(C::scal(wide, this->handle, 2, &this->two_, y.get(), 3));
    EXPECT_EQ(y.values(), (Values{36, 26, 44, 80, 52, 60}));
    SUCCEEDS(C::copy(wide, this->handle, 2, this->x_.get(), 1, y.get(), -2));
    EXPECT_EQ(y.values(), (Values{2, 26, 1, 80, 52, 60}));
    SUCCEEDS(C::swap(wide, this->handle, 2, y.get(), 1, y.get() + 4, 1));
    EXPECT_EQ(y.values(), (Values{52, 60, 1, 80, 2, 26}));
    SUCCEEDS(C::axpy(wide, this->handle, 0, &this->two_, nullptr, 1, nullptr, 1));
  }
}

TYPED_TEST(Vectors, AreReducedToANumberOfTheHost) {
  using C = Calls<TypeParam>;
  Array<TypeParam> const y({-2, 3, -7, 7, 1, 0});
  for (bool const wide : {false, true}) {
    TypeParam result = 0;
    SUCCEEDS(C::dot(wide, this->handle, 3, this->x_.get(), 2, y.get(), 1, &result));
    EXPECT_EQ(result, -2 + 9 - 35);
    SUCCEEDS(C::dot(wide, this->handle, 3, this->x_.get(), -1, y.get(), 1, &result));
    EXPECT_EQ(result, -6 + 6 - 7);
    SUCCEEDS(C::asum(wide, this->handle, 6, y.get(), 1, &result));
    EXPECT_EQ(result, 20);
    SUCCEEDS(C::nrm2(wide, this->handle, 2, this->x_.get() + 2, 1, &result));
    EXPECT_EQ(result, 5);
    SUCCEEDS(C::nrm2(wide, this->handle, 0, nullptr, 1, &result));
    EXPECT_EQ(result, 0);
  }
  int index = 0;
  std::int64_t wide_index = 0;
  SUCCEEDS(C::amax(this->handle, 6, y.get(), 1, &index));
  EXPECT_EQ(index, 3);
  SUCCEEDS(C::amax_64(this->handle, 3, y.get(), 2, &wide_index));
  EXPECT_EQ(wide_index, 2);
  SUCCEEDS(C::amin(this->handle, 6, y.get(), 1, &index));
  EXPECT_EQ(index, 6);
  SUCCEEDS(C::amin(this->handle, 0, nullptr, 1, &index));
  EXPECT_EQ(index, 0);
}

TYPED_TEST(Vectors, HaveANormAlthoughTheirSquaresOverflow) {
  TypeParam const large = std::numeric_limits<TypeParam>::max() / 8;
  Array<TypeParam> const x({3 * large, 4 * large});
  TypeParam result = 0;
  SUCCEEDS(Calls<TypeParam>::nrm2(false, this->handle, 2, x.get(), 1, &result));
  EXPECT_NEAR(result / large, 5, 1e-6);
}

TYPED_TEST(Vectors, AreReducedToANumberOfTheDevice) {
  Array<TypeParam> const result({0});
  Array<int> const index({0});
  SUCCEEDS(cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE));
  SUCCEEDS(Calls<TypeParam>::asum(false, this->handle, 6, this->x_.get(), 1, result.get()));
  SUCCEEDS(Calls<TypeParam>::amax(this->handle, 6, this->x_.get(), 1, index.get()));
  EXPECT_EQ(result.values()[0], 21);
  EXPECT_EQ(index.values()[0], 6);
}

TYPED_TEST(Vectors, AreMultipliedByMatrices) {
  using Values = std::vector<TypeParam>;
  using C = Calls<TypeParam>;
  TypeParam const one = 1, zero = 0, nan = std::numeric_limits<TypeParam>::quiet_NaN();
  Array<TypeParam> const a({1, 2, 99, 3, 4, 99, 5, 6, 99});  // 1 3 5 over 2 4 6
  for (bool const wide : {false, true}) {
    Array<TypeParam> const y({nan, -1, nan, -1, -1});
    SUCCEEDS(
        C::gemv(wide, this->handle, CUBLAS_OP_N, 2, 3, &this->two_, a.get(), 3, this->x_.get(), 2, &zero, y.get(), 2));
    Values const got = y.values();
    EXPECT_EQ((Values{got[0], got[1], got[2]}), (Values{2 * (1 + 9 + 25), -1, 2 * (2 + 12 + 30)}));
    Array<TypeParam> const z({10, 20, 30});
    SUCCEEDS(
        C::gemv(wide, this->handle, CUBLAS_OP_T, 2, 3, &one, a.get(), 3, this->x_.get(), -1, &this->two_, z.get(), 1));
    EXPECT_EQ(z.values(), (Values{20 + 4, 40 + 10, 60 + 16}));
    Array<TypeParam> const b({1, 1, -1, 1, 1, -1});
    SUCCEEDS(C::ger(wide, this->handle, 2, 2, &this->two_, this->x_.get(), 1, this->x_.get() + 2, 1, b.get(), 3));
    EXPECT_EQ(b.values(), (Values{7, 13, -1, 9, 17, -1}));
  }
}

TYPED_TEST(Vectors, AddMatricesThatTheyMake) {
  using Values = std::vector<TypeParam>;
  TypeParam const minus = -1, zero = 0;
  for (bool const wide : {false, true}) {
    Array<TypeParam> const b({10, 20, 30, 40, 50, 60}), c({0, 0, 0, 0, 0, 0});
    SUCCEEDS(Calls<TypeParam>::geam(wide, this->handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, &this->two_, this->x_.get(), 2,
                                    &minus, b.get(), 3, c.get(), 2));
    EXPECT_EQ(c.values(), (Values{2 - 10, 4 - 40, 6 - 20, 8 - 50, 10 - 30, 12 - 60}));
    SUCCEEDS(Calls<TypeParam>::geam(wide, this->handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 3, &this->two_, b.get(), 2, &zero,
                                    nullptr, 2, b.get(), 2));
    EXPECT_EQ(b.values(), (Values{20, 40, 60, 80, 100, 120}));
  }
}

// Returns op(triangle), as far as it counts: other elements are zero, and the diagonal may be one.
double in_triangle(std::vector<double> const& a, int ld, bool is_lower, cublasOperation_t operation, bool is_unit,
                   int row, int column) {
  auto const [i, j] = operation == CUBLAS_OP_N ? std::pair(row, column) : std::pair(column, row);
  if (i == j && is_unit) return 1;
  return (is_lower ? i >= j : i <= j) ? a[static_cast<std::size_t>(j * ld + i)] : 0;
}

TYPED_TEST(Vectors, SolveTriangularSystems) {
  using T = TypeParam;
  constexpr int kM = 3, kN = 4, kLd = 5;
  std::vector<T> const right = numbers<T>(kLd * kN, 2);
  for (int kind = 0; kind < 32; ++kind) {
    bool const is_left = (kind & 1) != 0, is_lower = (kind & 2) != 0, is_unit = (kind & 4) != 0,
               wide = (kind & 16) != 0;
    cublasOperation_t const operation = (kind & 8) != 0 ? CUBLAS_OP_T : CUBLAS_OP_N;
    int const size = is_left ? kM : kN;
    std::vector<double> a(kLd * 4, std::numeric_limits<double>::quiet_NaN());  // NaN where nothing may be read
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i)
        if ((is_lower ? i > j : i < j) || (i == j && !is_unit))
          a[static_cast<std::size_t>(j * kLd + i)] = i == j ? 2 : (i + 2 * j) % 3 - 1;
    Array<T> const device_a(std::vector<T>(a.begin(), a.end())), b(right);
    SUCCEEDS(Calls<T>::trsm(wide, this->handle, is_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                            is_lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, operation,
                            is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, kM, kN, &this->two_, device_a.get(), kLd,
                            b.get(), kLd));
    std::vector<T> const x = b.values();
    for (int i = 0; i < kM; ++i) {
      for (int j = 0; j < kN; ++j) {
        double sum = 0;
        for (int k = 0; k < size; ++k)
          sum += is_left ? in_triangle(a, kLd, is_lower, operation, is_unit, i, k) *
                               static_cast<double>(x[static_cast<std::size_t>(j * kLd + k)])
                         : in_triangle(a, kLd, is_lower, operation, is_unit, k, j) *
                               static_cast<double>(x[static_cast<std::size_t>(k * kLd + i)]);
        EXPECT_EQ(sum, 2 * static_cast<double>(right[static_cast<std::size_t>(j * kLd + i)])) << "kind " << kind;
      }
    }
    for (std::size_t i = kM; i < kLd; ++i) EXPECT_EQ(x[i], right[i]);
  }
}

TEST_F(Cublas, CopiesVectorsAndMatricesBetweenHostAndDevice) {
  float const from[] = {1, 2, 3, 4, 5, 6};
  float to[6] = {};
  Array<float> const device(std::vector<float>(6));
  SUCCEEDS(cublasSetVector(3, sizeof(float), from, 2, device.get(), 1));
  EXPECT_EQ(device.values(), (std::vector<float>{1, 3, 5, 0, 0, 0}));
  SUCCEEDS(cublasSetMatrix_64(2, 2, sizeof(float), from, 3, device.get() + 1, 2));
  EXPECT_EQ(device.values(), (std::vector<float>{1, 1, 2, 4, 5, 0}));
  SUCCEEDS(cublasGetMatrix(2, 2, sizeof(float), device.get() + 1, 2, to, 3));
  EXPECT_EQ(std::vector<float>(to, to + 6), (std::vector<float>{1, 2, 0, 4, 5, 0}));
  SUCCEEDS(cublasSetMatrixAsync(1, 1, sizeof(float), from + 5, 1, device.get(), 1, nullptr));
  SUCCEEDS(cublasSetVectorAsync(1, sizeof(float), from + 4, 1, device.get() + 1, 1, nullptr));
  SUCCEEDS(cublasGetVector(2, sizeof(float), device.get(), 1, to, 2));
  SUCCEEDS(cublasGetVectorAsync(1, sizeof(float), device.get(), 1, to + 1, 1, nullptr));
  SUCCEEDS(cublasGetMatrixAsync(1, 1, sizeof(float), device.get() + 3, 1, to + 3, 1, nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<float>(to, to + 6), (std::vector<float>{6, 6, 5, 4, 5, 0}));
}

}}  // namespace cuda_cpu::cublas
