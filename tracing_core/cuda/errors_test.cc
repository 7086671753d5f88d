#include "tracing_core/cuda/errors.h"

#include <gtest/gtest.h>

#include <vector>

namespace tracing::cuda { namespace {

CUresult code_of(int code) { return static_cast<CUresult>(code); }

TEST(Errors, NamesACodeWithoutADriver) {
  EXPECT_EQ(error_name(CUDA_ERROR_ILLEGAL_ADDRESS), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(error_name(CUDA_SUCCESS), "CUDA_SUCCESS");
  EXPECT_EQ(error_text(CUDA_ERROR_NO_DEVICE), "100 CUDA_ERROR_NO_DEVICE: the driver finds no device");
}

TEST(Errors, HasTheNumbersOfTheHeader) {
#define TRACING_NAMED(name) EXPECT_EQ(error_name(name), #name)
  TRACING_NAMED(CUDA_ERROR_INVALID_VALUE);
  TRACING_NAMED(CUDA_ERROR_STUB_LIBRARY);
  TRACING_NAMED(CUDA_ERROR_NO_DEVICE);
  TRACING_NAMED(CUDA_ERROR_INVALID_PTX);
  TRACING_NAMED(CUDA_ERROR_INVALID_HANDLE);
  TRACING_NAMED(CUDA_ERROR_NOT_READY);
  TRACING_NAMED(CUDA_ERROR_LAUNCH_FAILED);
  TRACING_NAMED(CUDA_ERROR_MPS_CLIENT_TERMINATED);
  TRACING_NAMED(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  TRACING_NAMED(CUDA_ERROR_UNKNOWN);
#undef TRACING_NAMED
}

TEST(Errors, KnowsWhichCodesLoseTheProcessOrContext) {
  std::vector<int> processes;
  std::vector<int> contexts;
  for (int code = 0; code < 2000; ++code) {
    if (lost_with(code_of(code)) == Lost::process) processes.push_back(code);
    if (lost_with(code_of(code)) == Lost::context) contexts.push_back(code);
  }
  EXPECT_EQ(processes, (std::vector{226, 700, 702, 714, 715, 716, 717, 718, 719, 721, 810, 911}));
  EXPECT_EQ(contexts, (std::vector{710}));
}

TEST(Errors, AsksTheDriverForUnknownCodes) {
  EXPECT_EQ(error_name(code_of(1234)), "");
  EXPECT_EQ(error_text(code_of(1234)), "1234 an unknown error");
  DriverApi driver;
  EXPECT_EQ(error_name(code_of(1234), &driver), "") << "a table without these calls";
  driver.get_error_name = [](CUresult code, char const** text) {
    *text = "CUDA_ERROR_OF_TOMORROW";
    return code == code_of(1234) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  driver.get_error_string = [](CUresult, char const** text) {
    *text = "not yet known";
    return CUDA_SUCCESS;
  };
  EXPECT_EQ(error_text(code_of(1234), &driver), "1234 CUDA_ERROR_OF_TOMORROW: not yet known");
  EXPECT_EQ(error_name(code_of(1235), &driver), "") << "a code that the driver does not know";
  EXPECT_EQ(error_name(CUDA_ERROR_NO_DEVICE, &driver), "CUDA_ERROR_NO_DEVICE") << "our table has precedence";
}

}}  // namespace tracing::cuda
