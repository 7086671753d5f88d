// These tests define enumerations and functions with the names of CUDA's: they include no CUDA header and link no CUDA
// library.
#define TRACE_TARGET "user"
#include "tracing_core/cuda/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>

#include "tests/support/printed.h"

enum cudaError { cudaSuccess = 0, cudaErrorMade = 35, cudaErrorOfBoth = 700, cudaErrorNotReady = 600 };
enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_MADE = 700, CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_NEW = 12345 };
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_MADE = 7 };
enum ncclResult_t { ncclSuccess = 0, ncclMade = 3, ncclInProgress = 7 };
enum CUptiResult { CUPTI_SUCCESS = 0, CUPTI_MADE = 15 };
typedef enum { CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_MADE = 2 } cusparseStatus_t;
typedef enum cufftResult_t { CUFFT_SUCCESS = 0, CUFFT_MADE = 5 } cufftResult;

extern "C" {
char const* cudaGetErrorName(cudaError code) { return code == cudaErrorMade ? "cudaErrorMade" : nullptr; }
char const* cudaGetErrorString(cudaError code) { return code == cudaErrorMade ? "it was made" : nullptr; }
char const* cublasGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_MADE"; }
char const* cublasGetStatusString(cublasStatus_t) { return "a status of a library"; }
char const* ncclGetErrorString(ncclResult_t) { return "a result of a library"; }
CUptiResult cuptiGetResultString(CUptiResult, char const** text) { return *text = "CUPTI_MADE", CUPTI_SUCCESS; }
}

namespace user { namespace {

enum class Strong : short { fine, bad = -3 };

template <class F>
std::string traced(F f) {
  tracing::PrintOptions options;
  options.format.timer = nullptr;
  return tracing_test::printed(std::move(options), f);
}

template <class T>
T returned(T result, int = 0) {
  return result;
}

TEST(CudaCheck, EmitsNothingOnSuccess) {
  std::string const text = traced([] {
    auto const result = TRACE_CUDA_CALL(returned(cudaSuccess));
    EXPECT_EQ(result, cudaSuccess);
    auto const other = TRACE_CUDA_CALL_THROW(returned(cudaSuccess));
    EXPECT_EQ(other, cudaSuccess);
  });
  EXPECT_EQ(text, "");
}

TEST(CudaCheck, ReportsCallCodeNameAndMeaning) {
  std::string const text = traced([] {
    auto const result = TRACE_CUDA_CALL(returned(cudaErrorMade, 64));
    EXPECT_EQ(result, cudaErrorMade);
  });
  EXPECT_EQ(text, "ERROR user: returned(cudaErrorMade, 64) failed: it was made error=cudaErrorMade code=35\n");
}

TEST(CudaCheck, ReportsThePlaceOfTheCall) {
  tracing::PrintOptions options;
  options.format.timer = nullptr;
  options.format.file = true;
  options.format.line_number = true;
  unsigned const line = __LINE__ + 1;
  std::string const text = tracing_test::printed(std::move(options), [] { TRACE_CUDA_CALL(returned(cudaErrorMade)); });
  EXPECT_NE(text.find("check_test.cc:" + std::to_string(line) + ": returned(cudaErrorMade) failed"), std::string::npos)
      << text;
}

TEST(CudaCheck, NamesTheCodesOfManyLibraries) {
  struct Case {
    void (*call)();
    char const* text;
  };
  Case const cases[] = {
      {[] { TRACE_CUDA_CALL(CUDA_ERROR_MADE); },
       "CUDA_ERROR_MADE failed: a kernel read or wrote an invalid address error=CUDA_ERROR_ILLEGAL_ADDRESS "
       "code=700"},
      {[] { TRACE_CUDA_CALL(cudaErrorOfBoth); },
       "cudaErrorOfBoth failed: a kernel read or wrote an invalid address code=700"},
      {[] { TRACE_CUDA_CALL(CUBLAS_STATUS_MADE); },
       "CUBLAS_STATUS_MADE failed: a status of a library error=CUBLAS_STATUS_MADE code=7"},
      {[] { TRACE_CUDA_CALL(ncclMade); }, "ncclMade failed: a result of a library code=3"},
      {[] { TRACE_CUDA_CALL(CUPTI_MADE); },
       "CUPTI_MADE failed: the call returned the CUptiResult 15 error=CUPTI_MADE code=15"},
  };
  for (Case const& c : cases) EXPECT_EQ(traced(c.call), "ERROR user: " + std::string(c.text) + "\n");
}

TEST(CudaCheck, ReportsTheNumberOfAnUnknownCode) {
  std::string text = traced([] {
    TRACE_CUDA_CALL(CUSPARSE_STATUS_MADE);
    TRACE_CUDA_CALL(CUFFT_MADE);
    TRACE_CUDA_CALL(CUDA_ERROR_NEW);
    TRACE_CUDA_CALL(Strong::bad);
    TRACE_CUDA_CALL(returned(-1));
  });
  text = std::regex_replace(text, std::regex("[{(]anonymous( namespace)?[})]"), "<anonymous>");  // two compilers
  EXPECT_EQ(text,
            "ERROR user: CUSPARSE_STATUS_MADE failed: the call returned the cusparseStatus_t 2 code=2\n"
            "ERROR user: CUFFT_MADE failed: the call returned the cufftResult_t 5 code=5\n"
            "ERROR user: CUDA_ERROR_NEW failed: the call returned the cudaError_enum 12345 code=12345\n"
            "ERROR user: Strong::bad failed: the call returned the user::<anonymous>::Strong -3 code=-3\n"
            "ERROR user: returned(-1) failed: the call returned the int -1 code=-1\n");
}

TEST(CudaCheck, PendingWorkIsNoError) {
  std::string const text = traced([] {
    auto const result = TRACE_CUDA_CALL(cudaErrorNotReady);
    EXPECT_EQ(result, cudaErrorNotReady);
    TRACE_CUDA_CALL_THROW(CUDA_ERROR_NOT_READY);
    TRACE_CUDA_CALL_THROW(ncclInProgress);
  });
  EXPECT_EQ(text, "");
}

TEST(CudaCheck, MayBeInsideMacrosThatForwardStatements) {
  std::string const text = traced([] {
    EXPECT_NO_THROW({ TRACE_CUDA_CALL(returned(cudaErrorMade, 64)); });
    EXPECT_THROW({ TRACE_CUDA_CALL_THROW(returned(cudaErrorMade, 64)); }, tracing::cuda::CallError);
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(CudaCheck, ThrowsAfterTheEvent) {
  std::string const text = traced([] {
    try {
      TRACE_CUDA_CALL_THROW(returned(cudaErrorMade));
      FAIL();
    } catch (tracing::cuda::CallError const& e) {
      EXPECT_STREQ(e.what(), "returned(cudaErrorMade) failed: it was made (cudaErrorMade, 35)");
      EXPECT_EQ(e.code(), 35);
      EXPECT_EQ(e.name(), "cudaErrorMade");
    }
  });
  EXPECT_EQ(text, "ERROR user: returned(cudaErrorMade) failed: it was made error=cudaErrorMade code=35\n");
  EXPECT_THROW(TRACE_CUDA_CALL_THROW(CUFFT_MADE), tracing::cuda::CallError);
}

TEST(CudaCheck, EvaluatesTheCallOnce) {
  int calls = 0;
  auto const call = [&] { return ++calls, cudaErrorMade; };
  TRACE_CUDA_CALL(call());
  EXPECT_EQ(calls, 1);
  traced([&] { TRACE_CUDA_CALL(call()); });
  EXPECT_EQ(calls, 2);
}

TEST(CudaCheck, IsAnExpression) {
  auto const pass = []<class A, class B>(A a, B) { return a; };
  traced([&] {
    if (TRACE_CUDA_CALL(returned(cudaErrorMade)) != cudaSuccess) return;
    ADD_FAILURE();
  });
  // A call with commas, and a nested call.
  EXPECT_EQ(TRACE_CUDA_CALL(pass.template operator()<cudaError, int>(TRACE_CUDA_CALL(cudaSuccess), 1)), cudaSuccess);
  int const tracing_result = 0;
  EXPECT_EQ(TRACE_CUDA_CALL(returned(tracing_result)), 0);
}

}}  // namespace user
