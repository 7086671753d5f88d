// Modules: the log of a load, errors, and the names of kernels.
#define TRACE_TARGET "tracing::cuda_test"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tracing_core/cuda/driver/driver_test_support.h"

namespace tracing::cuda_test { namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DriverOptions saying(std::string message) {
  DriverOptions options;
  options.last_message = [message] { return message; };
  return options;
}

TEST(DriverModule, LogOfALoadIsRecordedAsWarnings) {
  Driver driver(answering());
  answers.load_remarks =
      "first cannot be run: line 12: tex.2d is not supported\n\nsecond cannot be run: line 30: wmma\n";
  CUmodule module = nullptr;
  std::string const text =
      printed_of_driver([&] { EXPECT_EQ(driver.module_load(&module, "", "k.cu", 7), CUDA_SUCCESS); });
  EXPECT_EQ(
      text,
      " WARN module_load{module=\"k.cu\" bytes=7 device=0}: tracing::cuda_test: first cannot be run: line 12: tex.2d "
      "is not "
      "supported\n"
      " WARN module_load{module=\"k.cu\" bytes=7 device=0}: tracing::cuda_test: second cannot be run: line 30: wmma\n"
      "DEBUG module_load{module=\"k.cu\" bytes=7 device=0}: tracing::cuda_test: loaded duration_ms=<ms>\n");
}

TEST(DriverModule, InformationInTheLogOfALoadIsNoWarning) {
  Driver driver(answering());
  answers.load_remarks = "ptxas info    : (C7510) Potential Performance Loss\ninfo    : 0 bytes gmem";
  CUmodule module = nullptr;
  std::string const text = printed_of_driver([&] { driver.module_load(&module, "", "k.cu", 7); });
  EXPECT_THAT(
      text,
      HasSubstr("DEBUG module_load{module=\"k.cu\" bytes=7 device=0}: tracing::cuda_test: ptxas info    : (C7510)"));
  EXPECT_THAT(text, HasSubstr("tracing::cuda_test: info    : 0 bytes gmem\n"));
  EXPECT_THAT(text, Not(HasSubstr("WARN")));
}

TEST(DriverModule, LogOfAFailedLoadIsRecordedOnce) {
  Driver driver(answering(), saying("ptx input, line 3: syntax error"));
  answers.load = CUDA_ERROR_INVALID_PTX;
  answers.load_errors = "ptx input, line 3: syntax error";
  CUmodule module = nullptr;
  std::string const text =
      printed_of_driver([&] { EXPECT_EQ(driver.module_load(&module, "", "k.cu", 7), answers.load); });
  EXPECT_THAT(
      text,
      HasSubstr("ERROR module_load{module=\"k.cu\" bytes=7 device=0}: tracing::cuda_test: ptx input, line 3: syntax"));
  EXPECT_THAT(text, HasSubstr("cuModuleLoadDataEx(k.cu) failed: "));
  EXPECT_THAT(text, HasSubstr("code=218\n")) << "without the log as detail";
  EXPECT_THAT(text, Not(HasSubstr("loaded")));
}

TEST(DriverModule, LogOfALoadIsTheProgramsIfItHasOptionsOfItsOwn) {
  Driver driver(answering());
  answers.load_remarks = "first cannot be run";
  CUmodule module = nullptr;
  std::array<char, 100> remarks{};
  CUjit_option option = CU_JIT_INFO_LOG_BUFFER;
  void* value = remarks.data();
  std::string const text = printed_of_driver(
      [&] {
        EXPECT_EQ(driver.module_load(&module, "", "k.cu", 7, 1, &option, &value), CUDA_SUCCESS);
        driver.module_unload(module);
      },
      SpanEvents::exit);
  EXPECT_STREQ(remarks.data(), "first cannot be run");
  EXPECT_EQ(text,
            "DEBUG module_load{module=\"k.cu\" bytes=7 device=0}: tracing::cuda_test: loaded duration_ms=<ms>\n"
            "DEBUG module_load{module=\"k.cu\" bytes=7 device=0 duration_ms=<ms>}: tracing::cuda_test: exit\n"
            "TRACE module_unload{module=\"k.cu\" device=0}: tracing::cuda_test: exit\n");
}

TEST(DriverModule, RecordsWhatAKernelUses) {
  DriverApi api = answering();
  api.func_get_attribute = [](int* value, CUfunction_attribute which, CUfunction) {
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 4096 : 16;
    return CUDA_SUCCESS;
  };
  Driver driver(api);
  EXPECT_EQ(printed_of_driver([&] { function_of(driver, "first"); }),
            "DEBUG tracing::cuda_test: found kernel kernel.name=first registers=40 shared_bytes=4096 local_bytes=16\n");
}

// The driver would load the kernel to answer, and could wait for a kernel that spins until the program goes on.
TEST(DriverModule, AsksWhatALazilyLoadedKernelUsesAfterItsFirstLaunch) {
  DriverApi api = answering();
  api.module_get_loading_mode = [](CUmoduleLoadingMode* mode) {
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  };
  api.func_get_attribute = [](int* value, CUfunction_attribute, CUfunction) {
    EXPECT_FALSE(answers.launched.empty()) << "it would load the kernel";
    *value = 8;
    return CUDA_SUCCESS;
  };
  Driver driver(api);
  EXPECT_EQ(
      printed_of_driver([&] {
        CUfunction const function = function_of(driver, "first");
        driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
        driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
      }),
      "DEBUG tracing::cuda_test: found kernel kernel.name=first\n"
      "DEBUG launch{kernel.name=first grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream=0 device=0 launch=#1}: "
      "tracing::cuda_test: kernel uses kernel.name=first registers=8 shared_bytes=8 local_bytes=8\n"
      "TRACE launch{kernel.name=first grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream=0 device=0 launch=#1}: "
      "tracing::cuda_test: launched\n"
      "TRACE launch{kernel.name=first grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream=0 device=0 launch=#2}: "
      "tracing::cuda_test: launched\n");
}

TEST(DriverModule, DoesNotAskWhatAKernelUsesIfNobodyListens) {
  DriverApi api = answering();
  api.func_get_attribute = [](int*, CUfunction_attribute, CUfunction) {
    ADD_FAILURE() << "it may load the kernel";
    return CUDA_SUCCESS;
  };
  Driver driver(api);
  EXPECT_NE(function_of(driver, "first"), nullptr);
}

TEST(DriverModule, ErrorHasTheMessageOfTheDriverAsDetail) {
  Driver driver(answering(), saying("line 12: tex.2d is not supported"));
  answers.get_function = CUDA_ERROR_NOT_SUPPORTED;
  std::string const text = printed_of_driver([&] { function_of(driver, "first"); });
  EXPECT_THAT(text, HasSubstr("ERROR tracing::cuda_test: cuModuleGetFunction(first) failed: "));
  EXPECT_THAT(text, HasSubstr("error=CUDA_ERROR_NOT_SUPPORTED code=801 detail=\"line 12: tex.2d is not supported\"\n"));
}

TEST(DriverModule, ErrorHasNoDetailIfTheDriverHasNoMessage) {
  Driver driver(answering(), saying(""));
  answers.get_function = CUDA_ERROR_NOT_FOUND;
  std::string const text = printed_of_driver([&] { function_of(driver, "first"); });
  EXPECT_THAT(text, HasSubstr("error=CUDA_ERROR_NOT_FOUND code=500\n"));
}

TEST(DriverModule, ForgetsTheKernelNamesOfAnUnloadedModule) {
  Driver driver(answering());
  CUfunction const function = function_of(driver, "first");
  driver.module_unload(nullptr);
  driver.launch_kernel(function, {}, {}, 0, nullptr, nullptr);
  EXPECT_THAT(driver.outstanding_launches().front().kernel, HasSubstr("the function at 0x"));
}

}}  // namespace tracing::cuda_test
