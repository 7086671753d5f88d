// Products of matrices in all forms and types, compared with products that are computed in the plainest way.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda_cpu/cublas/cublas_test_support.h"

namespace cuda_cpu::cublas { namespace {

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
constexpr int kM = 5, kN = 3, kK = 4, kLd = 7;  // each leading dimension is larger than needed

std::size_t constexpr kSize = kLd * 7;  // elements of each matrix

// Returns alpha * op(a) * op(b) + beta * c in the upper left of c.
template <class T, class U>
std::vector<U> product(std::vector<T> const& a, cublasOperation_t op_a, std::vector<T> const& b, cublasOperation_t op_b,
                       std::vector<U> c, double alpha, double beta) {
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      double sum = 0;
      for (int k = 0; k < kK; ++k) sum += at(a, kLd, op_a, i, k) * at(b, kLd, op_b, k, j);
      auto& to = c[static_cast<std::size_t>(j * kLd + i)];
      to = static_cast<U>(
          static_cast<float>(alpha * sum + (beta == 0 ? 0 : beta * static_cast<double>(static_cast<float>(to)))));
    }
  }
  return c;
}

template <class T>
void expect_equal(std::vector<T> const& got, std::vector<T> const& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(static_cast<float>(got[i]), static_cast<float>(expected[i])) << "element " << i;
}

// Calls cublas<t>gemm and its batched forms for a type.
template <class T>
struct Calls;
#define CUBLAS_TEST_CALLS(T, letter)                                                                             \
  template <>                                                                                                    \
  struct Calls<T> {                                                                                              \
    static constexpr auto gemm = [](auto... arguments) { return cublas##letter##gemm(arguments...); };           \
    static constexpr auto gemm_64 = [](auto... arguments) { return cublas##letter##gemm_64(arguments...); };     \
    static constexpr auto batched = [](auto... arguments) { return cublas##letter##gemmBatched(arguments...); }; \
    static constexpr auto strided = [](auto... arguments) {                                                      \
      return cublas##letter##gemmStridedBatched(arguments...);                                                   \
    };                                                                                                           \
  };
CUBLAS_TEST_CALLS(float, S)
CUBLAS_TEST_CALLS(double, D)
CUBLAS_TEST_CALLS(__half, H)

template <class T>
class Gemm : public Cublas {};
using Types = ::testing::Types<float, double, __half>;
TYPED_TEST_SUITE(Gemm, Types, );

TYPED_TEST(Gemm, MultipliesAllTransposes) {
  using T = TypeParam;
  auto const a = numbers<T>(kSize, 1), b = numbers<T>(kSize, 2), c = numbers<T>(kSize, 3);
  Array<T> const device_a(a), device_b(b);
  T const alpha = static_cast<T>(2.F), beta = static_cast<T>(-3.F);
  for (cublasOperation_t const op_a : kOperations) {
    for (cublasOperation_t const op_b : kOperations) {
      Array<T> const result(c), result_64(c);
      EXPECT_EQ(Calls<T>::gemm(this->handle, op_a, op_b, kM, kN, kK, &alpha, device_a.get(), kLd, device_b.get(), kLd,
                               &beta, result.get(), kLd),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(Calls<T>::gemm_64(this->handle, op_a, op_b, kM, kN, kK, &alpha, device_a.get(), kLd, device_b.get(),
                                  kLd, &beta, result_64.get(), kLd),
                CUBLAS_STATUS_SUCCESS);
      expect_equal(result.values(), product(a, op_a, b, op_b, c, 2, -3));
      expect_equal(result_64.values(), product(a, op_a, b, op_b, c, 2, -3));
    }
  }
}

TYPED_TEST(Gemm, DoesNotReadWhatAFactorOfZeroLeavesOut) {
  using T = TypeParam;
  T const nan = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  auto const a = numbers<T>(kSize, 1), b = numbers<T>(kSize, 2), c = numbers<T>(kSize, 3);
  Array<T> const device_a(a), device_b(b), of_nan(std::vector<T>(kSize, nan)), result(c);
  T const one = static_cast<T>(1.F), zero = static_cast<T>(0.F);
  EXPECT_EQ(Calls<T>::gemm(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, device_a.get(), kLd,
                           device_b.get(), kLd, &zero, of_nan.get(), kLd),
            CUBLAS_STATUS_SUCCESS);
  auto const got = of_nan.values();
  auto const expected = product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, std::vector<T>(kSize, nan), 1, 0);
  for (std::size_t i = 0; i < kSize; ++i) {
    bool const is_element = i % kLd < kM && i / kLd < kN;
    EXPECT_EQ(std::isnan(static_cast<float>(got[i])), !is_element) << i;
    if (is_element) {
      EXPECT_EQ(static_cast<float>(got[i]), static_cast<float>(expected[i])) << i;
    }
  }
  Array<T> const only_nan(std::vector<T>(kSize, nan));
  EXPECT_EQ(Calls<T>::gemm(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &zero, only_nan.get(), kLd,
                           only_nan.get(), kLd, &one, result.get(), kLd),
            CUBLAS_STATUS_SUCCESS);
  expect_equal(result.values(), c);
}

TYPED_TEST(Gemm, MultipliesBatchesByPointersAndByStrides) {
  using T = TypeParam;
  constexpr std::size_t kCount = 3;
  auto const a = numbers<T>(kSize * kCount, 1), b = numbers<T>(kSize, 2), c = numbers<T>(kSize * kCount, 3);
  Array<T> const device_a(a), device_b(b), by_pointers(c), by_strides(c);
  std::vector<T const*> pointers_a, pointers_b;
  std::vector<T*> pointers_c;
  std::vector<T> expected;
  for (std::size_t i = 0; i < kCount; ++i) {
    pointers_a.push_back(device_a.get() + i * kSize);
    pointers_b.push_back(device_b.get());
    pointers_c.push_back(by_pointers.get() + (kCount - 1 - i) * kSize);
    auto const part = [&](auto const& all) {
      return std::vector<T>(all.begin() + static_cast<long>(i * kSize),
                            all.begin() + static_cast<long>((i + 1) * kSize));
    };
    auto const one = product(part(a), CUBLAS_OP_N, b, CUBLAS_OP_T, part(c), 1, 0);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  Array<T const*> const device_pointers_a(pointers_a), device_pointers_b(pointers_b);
  Array<T*> const device_pointers_c(pointers_c);
  T const one = static_cast<T>(1.F), zero = static_cast<T>(0.F);
  EXPECT_EQ(Calls<T>::strided(this->handle, CUBLAS_OP_N, CUBLAS_OP_T, kM, kN, kK, &one, device_a.get(), kLd, kSize,
                              device_b.get(), kLd, 0, &zero, by_strides.get(), kLd, kSize, kCount),
            CUBLAS_STATUS_SUCCESS);
  expect_equal(by_strides.values(), expected);
  EXPECT_EQ(Calls<T>::batched(this->handle, CUBLAS_OP_N, CUBLAS_OP_T, kM, kN, kK, &one, device_pointers_a.get(), kLd,
                              device_pointers_b.get(), kLd, &zero, device_pointers_c.get(), kLd, kCount),
            CUBLAS_STATUS_SUCCESS);
  // The pointers name the results in reverse.
  auto const got = by_pointers.values();
  for (std::size_t i = 0; i < kSize * kCount; ++i) {
    bool const is_element = i % kLd < kM && i % kSize / kLd < kN;
    std::size_t const from = (kCount - 1 - i / kSize) * kSize + i % kSize;
    if (is_element) {
      EXPECT_EQ(static_cast<float>(got[i]), static_cast<float>(expected[from])) << i;
    }
  }
}

// Multiplies with each cublas*Ex() that takes this type of elements.
template <class T, class U, class Scale>
void expect_product(cublasHandle_t handle, cudaDataType type, cudaDataType type_c, cublasComputeType_t compute) {
  auto const a = numbers<T>(kSize, 1), b = numbers<T>(kSize, 2);
  auto const c = numbers<U>(kSize, 3);
  auto const expected = product(a, CUBLAS_OP_T, b, CUBLAS_OP_N, c, 2, 1);
  Array<T> const device_a(a), device_b(b);
  Array<U> const result(c), result_of_batch(c), result_by_pointers(c);
  Scale const alpha = static_cast<Scale>(2.F), beta = static_cast<Scale>(1.F);
  EXPECT_EQ(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &alpha, device_a.get(), type, kLd,
                         device_b.get(), type, kLd, &beta, result.get(), type_c, kLd, compute, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  expect_equal(result.values(), expected);
  EXPECT_EQ(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &alpha, device_a.get(), type, kLd,
                                       0, device_b.get(), type, kLd, 0, &beta, result_of_batch.get(), type_c, kLd, 0, 1,
                                       compute, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  expect_equal(result_of_batch.values(), expected);
  Array<void const*> const pointers_a({device_a.get()}), pointers_b({device_b.get()});
  Array<void*> const pointers_c({result_by_pointers.get()});
  EXPECT_EQ(cublasGemmBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &alpha, pointers_a.get(), type, kLd,
                                pointers_b.get(), type, kLd, &beta, pointers_c.get(), type_c, kLd, 1, compute,
                                CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  expect_equal(result_by_pointers.values(), expected);
}

TEST_F(Cublas, MultipliesTheTypesOfGemmEx) {
  expect_product<float, float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  expect_product<float, float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
  expect_product<double, double, double>(handle, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F);
  expect_product<__half, __half, __half>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
  expect_product<__half, __half, float>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
  expect_product<__half, float, float>(handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  expect_product<__nv_bfloat16, __nv_bfloat16, float>(handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
  expect_product<__nv_bfloat16, float, float>(handle, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
}

TEST_F(Cublas, RoundsResultsOf16BitsOnce) {
  // 2048 + 1 is no half; 2048 + 1 + 1 is, if sums are not rounded in between.
  Array<__half> const a({__half(2048.F), __half(1.F), __half(1.F)}), b({__half(1.F), __half(1.F), __half(1.F)});
  Array<__half> const c({__half(0.F)});
  __half const one(1.F), zero(0.F);
  EXPECT_EQ(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 3, &one, a.get(), 1, b.get(), 3, &zero, c.get(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<float>(c.values()[0]), 2050.F);
}

TEST_F(Cublas, ReadsFactorsFromTheDeviceWhenTheWorkRuns) {
  auto const a = numbers(kSize, 1), b = numbers(kSize, 2), c = numbers(kSize, 3);
  Array<float> const device_a(a), device_b(b), result(c), factors({0, 0});
  ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  float const later[] = {3, -1};
  ASSERT_EQ(cudaMemcpyAsync(factors.get(), later, sizeof later, cudaMemcpyHostToDevice, nullptr), cudaSuccess);
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, factors.get(), device_a.get(), kLd,
                        device_b.get(), kLd, factors.get() + 1, result.get(), kLd),
            CUBLAS_STATUS_SUCCESS);
  expect_equal(result.values(), product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, c, 3, -1));
}

TEST_F(Cublas, BecomesPartOfAGraphThatRunsTwice) {
  auto const a = numbers(kSize, 1), b = numbers(kSize, 2), c = numbers(kSize, 3);
  Array<float> const device_a(a), device_b(b), result(c);
  float const one = 1;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, device_a.get(), kLd, device_b.get(), kLd,
                        &one, result.get(), kLd),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  expect_equal(result.values(), c);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  expect_equal(result.values(), product(a, CUBLAS_OP_N, b, CUBLAS_OP_N, c, 2, 1));
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cublasSetStream(handle, nullptr), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}}  // namespace cuda_cpu::cublas
