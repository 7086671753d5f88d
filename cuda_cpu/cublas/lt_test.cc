// cublasLtMatmul(), compared with products that are computed in the plainest way.
#include <cublasLt.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "cuda_cpu/cublas/cublas_test_support.h"
#include "tests/support/recording_subscriber.h"

namespace cuda_cpu::cublas { namespace {

constexpr int kM = 4, kN = 3, kK = 5, kBatches = 2;

class CublasLt : public ::testing::Test {
 protected:
  CublasLt() {
    EXPECT_EQ(cublasLtCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    make(&layout_a_, kK, kM);
    make(&layout_b_, kK, kN);
    make(&layout_d_, kM, kN);
  }
  ~CublasLt() override {
    for (cublasLtMatrixLayout_t const its : {layout_a_, layout_b_, layout_d_})
      EXPECT_EQ(cublasLtMatrixLayoutDestroy(its), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtMatmulDescDestroy(product_), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtDestroy(handle_), CUBLAS_STATUS_SUCCESS);
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, T const& value) {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(product_, name, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  static void make(cublasLtMatrixLayout_t* layout, std::uint64_t rows, std::uint64_t columns) {
    std::int32_t const batches = kBatches;
    std::int64_t const stride = static_cast<std::int64_t>(rows * columns);
    EXPECT_EQ(cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, rows, columns, static_cast<std::int64_t>(rows)),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(
        cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t multiply(float const* a, float const* b, float* d) {
    float const alpha = 0.25F, beta = 1;
    return cublasLtMatmul(handle_, product_, &alpha, a, layout_a_, b, layout_b_, &beta, d, layout_d_, d, layout_d_,
                          nullptr, nullptr, 0, nullptr);
  }
  // Multiplies, and compares each element with `function` of the plain product and the number of the row.
  template <class Function>
  void expect_product(Function const& function) {
    auto const a = numbers(kK * kM * kBatches, 1), b = numbers(kK * kN * kBatches, 2),
               c = numbers(kM * kN * kBatches, 3);
    Array<float> const device_a(a), device_b(b), d(c);
    EXPECT_EQ(multiply(device_a.get(), device_b.get(), d.get()), CUBLAS_STATUS_SUCCESS);
    auto const got = d.values();
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::size_t const batch = i / (kM * kN), column = i / kM % kN, row = i % kM;
      double sum = 0;
      for (std::size_t k = 0; k < kK; ++k)
        sum += static_cast<double>(a[(batch * kM + row) * kK + k]) *
               static_cast<double>(b[(batch * kN + column) * kK + k]);
      EXPECT_NEAR(got[i], function(0.25 * sum + static_cast<double>(c[i]), row), 1e-5) << i;
    }
  }

  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t layout_a_ = nullptr, layout_b_ = nullptr, layout_d_ = nullptr;
};

TEST_F(CublasLt, MultipliesABatch) {
  expect_product([](double x, std::size_t) { return x; });
}

TEST_F(CublasLt, AddsABiasAndAppliesAFunction) {
  Array<float> const bias({1, -2, 3, -4});
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  double const values[] = {1, -2, 3, -4};
  expect_product([&](double x, std::size_t row) { return x + values[row]; });
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
  expect_product([&](double x, std::size_t row) { return std::max(x + values[row], 0.); });
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
  expect_product([&](double x, std::size_t row) {
    double const y = x + values[row];
    return 0.5 * y * (1 + std::tanh(std::sqrt(2 / M_PI) * (y + 0.044715 * y * y * y)));
  });
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU);
  expect_product([&](double x, std::size_t) { return std::max(x, 0.); });
}

TEST_F(CublasLt, OffersOneAlgorithm) {
  cublasLtMatmulPreference_t preference = nullptr;
  ASSERT_EQ(cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
  std::size_t const bytes = 1 << 20;
  EXPECT_EQ(
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
      CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulHeuristicResult_t results[2];
  int count = 0;
  EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle_, product_, layout_a_, layout_b_, layout_d_, layout_d_, preference, 2,
                                           results, &count),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(results[0].state, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(results[0].workspaceSize, 0u);
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CublasLt, SaysWhatIsWrongOrNotSupported) {
  auto const failed = [](cublasStatus_t expected, auto const& call) {
    auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
    tracing::ScopedDefault const scope(subscriber);
    EXPECT_EQ(call(), expected);
    return ::testing::PrintToString(subscriber->take());
  };
  using ::testing::HasSubstr;
  std::int64_t value = 0;
  EXPECT_THAT(
      failed(CUBLAS_STATUS_NOT_SUPPORTED,
             [&] { return cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &value, 1); }),
      HasSubstr("attribute 25 is not supported"));
  EXPECT_THAT(failed(CUBLAS_STATUS_INVALID_VALUE,
                     [&] { return cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSA, &value, 8); }),
              HasSubstr("attribute 3 has 4 bytes, not 8"));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  EXPECT_THAT(failed(CUBLAS_STATUS_NOT_SUPPORTED, [&] { return multiply(nullptr, nullptr, nullptr); }),
              HasSubstr("cublasLtEpilogue_t 192 is not supported"));
  set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
  EXPECT_THAT(failed(CUBLAS_STATUS_INVALID_VALUE, [&] { return multiply(nullptr, nullptr, nullptr); }),
              HasSubstr("A is 5 x 4, where 4 x 4 is needed"));
}

}}  // namespace cuda_cpu::cublas
