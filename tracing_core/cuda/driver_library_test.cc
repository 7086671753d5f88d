#include "tracing_core/cuda/driver_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace tracing::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST_F(LoadDriver, FillsTheTableOfAWorkingDriver) {
  auto const driver = load(fake("good"));
  ASSERT_TRUE(driver) << driver.explanation;
  EXPECT_EQ(driver.version, 13000);
#define TRACING_CUDA_IS_THERE(member, symbol, version) EXPECT_NE(driver.api.member, nullptr);
  TRACING_CUDA_DRIVER_CALLS(TRACING_CUDA_IS_THERE)
#undef TRACING_CUDA_IS_THERE
}

TEST_F(LoadDriver, AsksForEachCallInTheVersionOfItsRow) {
  auto const driver = load(fake("good"));
  ASSERT_TRUE(driver);
  char name[64] = "";
  ASSERT_EQ(driver.api.device_get_name(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "as their rows say");
}

TEST_F(LoadDriver, KeepsTheLibraryOpenForEver) {
  ASSERT_TRUE(load(fake("good")));
  void* const again = dlopen(fake("good").c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(again, nullptr);
  for (int i = 0; i < 10; ++i) dlclose(again);
  EXPECT_NE(dlopen(fake("good").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST_F(LoadDriver, NamesTheFileThatIsNotThere) {
  auto const driver = load("libcuda.so.of_no_machine");
  EXPECT_EQ(driver.absence, DriverAbsence::no_file);
  EXPECT_EQ(driver.version, 0);
  EXPECT_EQ(driver.explanation,
            "No CUDA driver: libcuda.so.of_no_machine: cannot open shared object file: No such file or directory. It "
            "comes with "
            "NVIDIA's driver; in a container, NVIDIA's container toolkit brings it.");
}

TEST_F(LoadDriver, SaysWhyAFileThatIsNoLibraryCannotBeOpened) {
  auto const driver = load("/proc/self/cmdline");
  EXPECT_EQ(driver.absence, DriverAbsence::no_file);
  EXPECT_THAT(driver.explanation, StartsWith("No CUDA driver: /proc/self/cmdline: "));
}

TEST_F(LoadDriver, KnowsTheStub) {
  auto const driver = load(fake("stub"));
  EXPECT_EQ(driver.absence, DriverAbsence::stub);
  EXPECT_EQ(driver.result, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(driver.explanation, "No CUDA driver: " + fake("stub") +
                                    " is the toolkit's stub, which is for linking and runs nothing. Take its folder "
                                    "out of LD_LIBRARY_PATH, and install "
                                    "NVIDIA's driver.");
}

TEST_F(LoadDriver, KnowsTheToolkitsOwnStub) {
  if (std::string(TRACING_CUDA_STUB).empty()) GTEST_SKIP() << "this toolkit has no stubs/libcuda.so";
  EXPECT_EQ(load(TRACING_CUDA_STUB).absence, DriverAbsence::stub);
}

TEST_F(LoadDriver, NamesTheFileThatTheLoaderTook) {
  load(fake("stub"));
  ASSERT_EQ(chdir(TRACING_CUDA_FAKES), 0);
  auto const driver = load("./libfake_driver_stub.so");
  EXPECT_EQ(driver.absence, DriverAbsence::stub);
  EXPECT_THAT(driver.explanation, StartsWith("No CUDA driver: " + fake("stub") + " is"))
      << "which was opened by this name first";
}

TEST_F(LoadDriver, NamesTheVersionOfADriverThatIsTooOld) {
  auto const driver = load(fake("old"));
  EXPECT_EQ(driver.absence, DriverAbsence::too_old);
  EXPECT_EQ(driver.version, 11080);
  EXPECT_EQ(driver.explanation, "The CUDA driver " + fake("old") +
                                    ", of CUDA 11.8, is too old. Update NVIDIA's driver to one of CUDA 12.0 or newer.");
}

TEST_F(LoadDriver, NamesTheCallThatADriverLacks) {
  auto const driver = load(fake("lacking"));
  EXPECT_EQ(driver.absence, DriverAbsence::too_old);
  EXPECT_EQ(driver.explanation, "The CUDA driver " + fake("lacking") +
                                    ", of CUDA 12.1, is too old: it has no cuMemAllocAsync of CUDA 11.2. Update "
                                    "NVIDIA's driver to one of CUDA 12.0 or "
                                    "newer.");
}

TEST_F(LoadDriver, NeedsTheCallThatFindsCalls) {
  auto const driver = load(fake("unaddressed"));
  EXPECT_EQ(driver.absence, DriverAbsence::too_old);
  EXPECT_THAT(driver.explanation, HasSubstr("it has no cuGetProcAddress_v2 of CUDA 12.0"));
}

TEST_F(LoadDriver, TakesALibraryWithoutTheDriversFunctionsForOneThatIsTooOld) {
  auto const driver = load(fake("empty"));
  EXPECT_EQ(driver.absence, DriverAbsence::too_old);
  EXPECT_THAT(driver.explanation, HasSubstr(", whose version is not known, is too old."));
}

TEST_F(LoadDriver, SaysThatThereIsNoDevice) {
  auto const driver = load(fake("no_device"));
  EXPECT_EQ(driver.absence, DriverAbsence::no_device);
  EXPECT_EQ(driver.result, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(driver.version, 12040);
  EXPECT_EQ(driver.explanation,
            "The CUDA driver " + fake("no_device") +
                ", of CUDA 12.4, finds no device. In a container, give it one (docker run --gpus all).");
  EXPECT_EQ(load(fake("zero_devices")).absence, DriverAbsence::no_device);
}

TEST_F(LoadDriver, NamesTheVariableThatHidesDevices) {
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  EXPECT_THAT(load(fake("no_device")).explanation, HasSubstr("CUDA_VISIBLE_DEVICES is \"-1\", which may hide it."));
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(LoadDriver, ExplainsAnyOtherFailureOfItsStart) {
  auto const driver = load(fake("mismatched"));
  EXPECT_EQ(driver.absence, DriverAbsence::failed);
  EXPECT_EQ(driver.result, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_THAT(driver.explanation,
              HasSubstr("does not start: cuInit returned 803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the kernel's "
                        "part of the driver and this library are of different versions"));
}

TEST_F(LoadDriver, FindsTheDriverOfThisMachineOrSaysWhatIsMissing) {
  auto const driver = load_driver();
  if (!driver) GTEST_SKIP() << driver.explanation;
  EXPECT_GE(driver.version, 12000);
}

}  // namespace
}  // namespace tracing::cuda
