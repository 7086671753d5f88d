// Handles and their settings, wrong parameters, memory that is not the device's, and what a call records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <string>

#include "cuda_cpu/cublas/cublas_test_support.h"
#include "tests/approval.h"
#include "tests/support/printed.h"
#include "tests/support/recording_subscriber.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu::cublas { namespace {

using ::testing::HasSubstr;

constexpr float kOne = 1, kZero = 0;

cublasStatus_t multiply(cublasHandle_t handle, float const* a, float const* b, float* c, int size = 4) {
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &kOne, a, size, b, size, &kZero, c, size);
}

// Returns what the call says on stderr.
template <class Call>
std::string said(cublasStatus_t expected, Call const& call) {
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  tracing::ScopedDefault const scope(subscriber);
  EXPECT_EQ(call(), expected);
  std::string text;
  for (std::string const& record : subscriber->take())
    if (record.find("event ERROR") != std::string::npos) text += record;
  return text;
}

TEST_F(Cublas, KeepsTheSettingsOfAHandle) {
  cudaStream_t stream = reinterpret_cast<cudaStream_t>(1);
  EXPECT_EQ(cublasGetStream(handle, &stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  EXPECT_EQ(cublasGetMathMode(handle, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(math, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_ALLOWED), CUBLAS_STATUS_SUCCESS);
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  EXPECT_EQ(cublasGetAtomicsMode(handle, &atomics), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(atomics, CUBLAS_ATOMICS_ALLOWED);
  EXPECT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  EXPECT_EQ(cublasGetPointerMode(handle, &mode), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(mode, CUBLAS_POINTER_MODE_DEVICE);
  EXPECT_EQ(cublasSetSmCountTarget(handle, 3), CUBLAS_STATUS_SUCCESS);
  int count = 0;
  EXPECT_EQ(cublasGetSmCountTarget(handle, &count), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 3);
}

TEST_F(Cublas, HasTheVersionOfItsHeaders) {
  int version = 0, major = 0, patch = 0;
  EXPECT_EQ(cublasGetVersion(handle, &version), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetProperty(MAJOR_VERSION, &major), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetProperty(PATCH_LEVEL, &patch), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(version, CUBLAS_VERSION);
  EXPECT_EQ(major, CUBLAS_VER_MAJOR);
  EXPECT_EQ(patch, CUBLAS_VER_PATCH);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
  EXPECT_STREQ(cublasGetStatusString(CUBLAS_STATUS_SUCCESS), "success");
  EXPECT_STREQ(cublasGetStatusName(static_cast<cublasStatus_t>(99)), "unknown status");
}

TEST_F(Cublas, SaysWhichParameterIsWrong) {
  float const* const a = nullptr;
  float* const c = nullptr;
  auto const gemm = [&](int m, int lda, int operation, float const* alpha) {
    return said(CUBLAS_STATUS_INVALID_VALUE, [&] {
      return cublasSgemm(handle, static_cast<cublasOperation_t>(operation), CUBLAS_OP_N, m, 4, 4, alpha, a, lda, a, 4,
                         &kZero, c, 8);
    });
  };
  EXPECT_THAT(gemm(8, 7, CUBLAS_OP_N, &kOne),
              HasSubstr("cublasSgemm() failed: lda is 7; the matrix has 8 rows, so at least 8 is needed"));
  EXPECT_THAT(gemm(-1, 7, CUBLAS_OP_N, &kOne), HasSubstr("a size is negative: m -1, n 4, k 4"));
  EXPECT_THAT(gemm(8, 8, 9, &kOne), HasSubstr("transa is 9, which is none of CUBLAS_OP_N, _T and _C"));
  EXPECT_THAT(gemm(8, 8, CUBLAS_OP_N, nullptr), HasSubstr("alpha is a null pointer"));
  EXPECT_THAT(said(CUBLAS_STATUS_INVALID_VALUE,
                   [&] { return cublasSgemv(handle, CUBLAS_OP_N, 1, 1, &kOne, a, 1, a, 0, &kZero, c, 1); }),
              HasSubstr("cublasSgemv() failed: incx is 0"));
  EXPECT_THAT(said(CUBLAS_STATUS_INVALID_VALUE, [&] { return cublasSdot(handle, 1, a, 1, a, 1, nullptr); }),
              HasSubstr("result is a null pointer"));
  EXPECT_THAT(said(CUBLAS_STATUS_INVALID_VALUE,
                   [&] { return cublasSetWorkspace(handle, reinterpret_cast<void*>(0x1010), 16); }),
              HasSubstr("the workspace is not aligned to 256 bytes"));
}

TEST_F(Cublas, DoesNothingForEmptyMatrices) {
  EXPECT_EQ(multiply(handle, nullptr, nullptr, nullptr, 0), CUBLAS_STATUS_INVALID_VALUE);  // a leading dimension of 0
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 4, 4, &kOne, nullptr, 1, nullptr, 4, &kZero, nullptr, 1),
            CUBLAS_STATUS_SUCCESS);
}

TEST_F(Cublas, NamesTypesThatAreNotSupported) {
  EXPECT_THAT(
      said(CUBLAS_STATUS_NOT_SUPPORTED,
           [&] {
             return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &kOne, nullptr, CUDA_R_16F, 1, nullptr,
                                 CUDA_R_16BF, 1, &kZero, nullptr, CUDA_R_16F, 1, CUBLAS_COMPUTE_32F,
                                 CUBLAS_GEMM_DEFAULT);
           }),
      HasSubstr("a product of the types 2 (A), 14 (B) and 2 (C) of cudaDataType, computed as 68, is not supported"));
}

TEST(CublasHandles, AreUnknownOnceDestroyed) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(said(CUBLAS_STATUS_NOT_INITIALIZED, [&] { return cublasDestroy(handle); }),
              HasSubstr("it was destroyed"));
  EXPECT_THAT(said(CUBLAS_STATUS_NOT_INITIALIZED, [&] { return multiply(nullptr, nullptr, nullptr, nullptr); }),
              HasSubstr("the handle is null; cublasCreate() makes one"));
}

TEST_F(Cublas, RecordsEachCallAsASpan) {
  Array<float> const a(numbers(16)), c(numbers(16));
  tracing::FormatOptions format;
  format.timer = nullptr;
  tracing::PrintOptions options{.event_format = tracing::make_event_format(format)};
  options.span_events = tracing::SpanEvents::exit;
  std::string const text = tracing_test::printed(
      std::move(options),
      [&] {
        float sum = 0;
        double const factor = 1;
        EXPECT_EQ(multiply(handle, a.get(), a.get(), c.get()), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(cublasSasum(handle, 16, a.get(), 1, &sum), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(multiply(handle, a.get(), a.get(), c.get(), -4), CUBLAS_STATUS_INVALID_VALUE);
        EXPECT_EQ(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 2, 3, &factor, nullptr, 1, 0, nullptr,
                                            3, 0, nullptr, nullptr, 1, 0, 4),
                  CUBLAS_STATUS_INVALID_VALUE);
      },
      "tracing::cuda=trace,tracing::cuda::device=off");
  tracing::testing::expect_approved("spans.txt", text);
}

// Faults lose the context, so each is in a process of its own.
class CublasDeathTest : public ::testing::Test {
 protected:
  CublasDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Multiplies matrices of which `b` has `bytes` bytes, and ends with status 0 if the device fails then.
void multiply_short(std::size_t bytes, bool is_initialised = true) {
  cublasHandle_t handle = nullptr;
  void* b = nullptr;
  EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  Array<float> const a(numbers(16)), c(numbers(16));
  EXPECT_EQ(cudaMalloc(&b, bytes), cudaSuccess);
  EXPECT_EQ(cudaMemset(b, 0, is_initialised ? bytes : 0), cudaSuccess);
  EXPECT_EQ(multiply(handle, a.get(), static_cast<float*>(b), c.get()), CUBLAS_STATUS_SUCCESS);
  bool const has_failed = cudaDeviceSynchronize() != cudaSuccess;
  EXPECT_EQ(multiply(handle, a.get(), a.get(), c.get()),
            has_failed ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS);
  std::exit(has_failed && !::testing::Test::HasFailure() ? 0 : 1);
}

TEST_F(CublasDeathTest, FailsWhereAMatrixReachesPastItsMemory) {
  EXPECT_EXIT(
      multiply_short(60), ::testing::ExitedWithCode(0),
      "testlog: B of cublasSgemm\\(\\), 64 bytes at 0x[0-9a-f]+, is not within one allocation: reaching 4 bytes "
      "past the end of 60 bytes \\(allocation 3\\); caused by cublasSgemm\\(\\); CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(CublasDeathTest, FailsWhereMemoryIsOfTheHost) {
  auto const call = [] {
    cublasHandle_t handle = nullptr;
    EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    Array<float> const a(numbers(16));
    float sum = 0;
    EXPECT_EQ(cublasSdot(handle, 16, a.get(), 1, numbers(16).data(), 1, &sum), CUBLAS_STATUS_EXECUTION_FAILED);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(call(), ::testing::ExitedWithCode(0),
              "testlog: y of cublasSdot\\(\\), 64 bytes at 0x[0-9a-f]+, .*in memory of the host");
}

TEST_F(CublasDeathTest, FindsElementsThatWereNeverWritten) {
  auto const call = [] {
    set_cpu_driver_options({.checks = {.init = true}, .frames = 0, .changes_status = false});
    multiply_short(64, false);
  };
  EXPECT_EXIT(call(), ::testing::ExitedWithCode(0),
              "testlog: a read of 4 bytes that were never written, at byte 0 of 64 bytes \\(allocation 3\\): element "
              "\\(0, 0\\) "
              "of B of cublasSgemm\\(\\); caused by cublasSgemm");
}

TEST_F(CublasDeathTest, CountsWhatItStoresAsWritten) {
  auto const call = [] {
    set_cpu_driver_options({.checks = {.init = true}, .frames = 0, .changes_status = false});
    cublasHandle_t handle = nullptr;
    void* c = nullptr;
    EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cudaMalloc(&c, 2 * 64), cudaSuccess);
    Array<float> const a(numbers(16)), d(numbers(16));
    auto* const its = static_cast<float*>(c);
    // Two columns of two elements, four apart: the elements between stay unwritten.
    EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &kOne, a.get(), 2, a.get(), 2, &kZero, its, 4),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &kOne, its, 4, a.get(), 2, &kZero, d.get(), 2),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 2, &kOne, its, 4, a.get(), 2, &kZero, d.get(), 3),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(call(), ::testing::ExitedWithCode(0), "element \\(2, 0\\) of A of cublasSgemm");
}

TEST_F(CublasDeathTest, FindsRacesOfStreams) {
  auto const call = [] {
    set_cpu_driver_options({.checks = {.race = true}, .frames = 0, .changes_status = false});
    cublasHandle_t handle = nullptr;
    cudaStream_t streams[2];
    EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    Array<float> const a(numbers(16)), c(numbers(16));
    for (cudaStream_t& its : streams) {
      EXPECT_EQ(cudaStreamCreateWithFlags(&its, cudaStreamNonBlocking), cudaSuccess);
    }
    for (cudaStream_t const its : streams) {
      EXPECT_EQ(cublasSetStream(handle, its), CUBLAS_STATUS_SUCCESS);
      multiply(handle, a.get(), a.get(), c.get());
    }
    EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(call(), ::testing::ExitedWithCode(0),
              "testlog: a race of two streams: cublasSgemm\\(\\) accesses 64 bytes at byte 0 of 64 bytes \\(allocation "
              "2\\), which "
              "cublasSgemm\\(\\) wrote, without an event or a wait between; caused by cublasSgemm");
}

}}  // namespace cuda_cpu::cublas
