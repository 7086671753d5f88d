#define TRACE_TARGET "tracing::cuda_test"
#include "tracing_core/cuda/driver_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace tracing::cuda { namespace {

using ::testing::HasSubstr;

std::string fake(std::string const& kind) {
  return std::string(TRACING_CUDA_FAKES) + "/libfake_driver_" + kind + ".so";
}

bool is_empty(DriverApi const& api) {
#define TRACING_CUDA_IS_NULL(member, symbol, version) \
  if (api.member != nullptr) return false;
  TRACING_CUDA_DRIVER_CALLS(TRACING_CUDA_IS_NULL)
#undef TRACING_CUDA_IS_NULL
  return true;
}

DriverLibrary load(std::string const& path) {
  auto driver = load_driver(path.c_str());
  EXPECT_EQ(is_empty(driver.api), !driver);
  EXPECT_EQ(driver.explanation.empty(), static_cast<bool>(driver)) << driver.explanation;
  return driver;
}

class LoadDriver : public ::testing::Test {
 protected:
  LoadDriver() { unsetenv("CUDA_VISIBLE_DEVICES"); }
};

TEST_F(LoadDriver, FillsTheTable) {
  auto const driver = load(fake("good"));
  ASSERT_TRUE(driver) << driver.explanation;
  EXPECT_EQ(driver.version, 13000);
#define TRACING_CUDA_IS_THERE(member, symbol, version) EXPECT_NE(driver.api.member, nullptr);
  TRACING_CUDA_DRIVER_CALLS(TRACING_CUDA_IS_THERE)
#undef TRACING_CUDA_IS_THERE
}

TEST_F(LoadDriver, ResolvesEachCallInTheVersionOfItsRow) {
  auto const driver = load(fake("good"));
  ASSERT_TRUE(driver);
  char name[64] = "";
  ASSERT_EQ(driver.api.device_get_name(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "as their rows say");
}

TEST_F(LoadDriver, NeverClosesTheLibrary) {
  ASSERT_TRUE(load(fake("good")));
  void* const again = dlopen(fake("good").c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(again, nullptr);
  for (int i = 0; i < 10; ++i) dlclose(again);
  EXPECT_NE(dlopen(fake("good").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST_F(LoadDriver, NamesTheMissingFile) {
  auto const driver = load("libcuda.so.of_no_machine");
  EXPECT_EQ(driver.absence, DriverAbsence::no_file);
  EXPECT_EQ(driver.version, 0);
  EXPECT_EQ(driver.explanation,
            "No CUDA driver: libcuda.so.of_no_machine: cannot open shared object file: No such file or directory. "
            "Install NVIDIA's driver; in a container, use NVIDIA's container toolkit.");
}

TEST_F(LoadDriver, RecognisesAStub) {
  auto const driver = load(fake("stub"));
  EXPECT_EQ(driver.absence, DriverAbsence::stub);
  EXPECT_EQ(driver.result, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(driver.explanation, "No CUDA driver: " + fake("stub") +
                                    " is the toolkit's stub, which is for linking only. Remove its folder from "
                                    "LD_LIBRARY_PATH and install NVIDIA's driver.");
}

TEST_F(LoadDriver, RecognisesTheStubOfTheToolkit) {
  if (std::string(TRACING_CUDA_STUB).empty()) GTEST_SKIP() << "this toolkit has no stubs/libcuda.so";
  EXPECT_EQ(load(TRACING_CUDA_STUB).absence, DriverAbsence::stub);
}

TEST_F(LoadDriver, NamesTheVersionOfADriverThatIsTooOld) {
  auto const driver = load(fake("old"));
  EXPECT_EQ(driver.absence, DriverAbsence::too_old);
  EXPECT_EQ(driver.version, 11080);
  EXPECT_EQ(driver.explanation, "The CUDA driver " + fake("old") +
                                    " (of CUDA 11.8) is too old. Update NVIDIA's driver to CUDA 12.0 or newer.");
}

TEST_F(LoadDriver, NamesTheMissingCall) {
  auto const driver = load(fake("lacking"));
  EXPECT_EQ(driver.absence, DriverAbsence::too_old);
  EXPECT_EQ(driver.explanation, "The CUDA driver " + fake("lacking") +
                                    " (of CUDA 12.1) is too old: it lacks cuMemAllocAsync of CUDA 11.2. Update "
                                    "NVIDIA's driver to CUDA 12.0 or newer.");
}

TEST_F(LoadDriver, ReportsThatThereIsNoDevice) {
  auto const driver = load(fake("no_device"));
  EXPECT_EQ(driver.absence, DriverAbsence::no_device);
  EXPECT_EQ(driver.result, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(driver.version, 12040);
  EXPECT_EQ(driver.explanation,
            "The CUDA driver " + fake("no_device") +
                " (of CUDA 12.4) finds no device. In a container, pass it through (docker run --gpus all).");
}

TEST_F(LoadDriver, NamesTheVariableThatMayHideDevices) {
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  EXPECT_THAT(load(fake("no_device")).explanation, HasSubstr("CUDA_VISIBLE_DEVICES=\"-1\" may hide it."));
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(LoadDriver, ExplainsOtherFailuresOfCuInit) {
  auto const driver = load(fake("mismatched"));
  EXPECT_EQ(driver.absence, DriverAbsence::failed);
  EXPECT_EQ(driver.result, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_THAT(driver.explanation,
              HasSubstr("does not start: cuInit returned 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the "
                        "versions of the kernel driver and of this library differ"));
}

TEST_F(LoadDriver, OpensTheDriverOfThisMachine) {
  auto const driver = load_driver();
  if (!driver) GTEST_SKIP() << driver.explanation;
  EXPECT_GE(driver.version, 12000);
}

}}  // namespace tracing::cuda
