#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cuda_cpu/runtime/runtime_test_support.h"

namespace cuda_cpu::runtime { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FatBinary : public ::testing::TestWithParam<char const*> {};

TEST_P(FatBinary, RunsByItsPtx) {
  UnitWithStore const unit(GetParam());
  DeviceInt const target;
  EXPECT_EQ(unit.launch(target.its), cudaSuccess);
  EXPECT_EQ(target.value(), 7);
}

// Fat binaries: compressed by LZ4, as nvcc 12 does; not compressed; for several architectures; for architectures above
// the device's.
INSTANTIATE_TEST_SUITE_P(OfNvcc, FatBinary, ::testing::Values("default", "lz4", "plain", "several", "all_major"),
                         [](auto const& test) { return std::string(test.param); });

TEST(Registration, SaysWhichOptionAddsPtxToMachineCode) {
  UnitWithStore const unit("machine_code");
  DeviceInt const target;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(unit.launch(target.its), cudaErrorNoKernelImageForDevice);
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("the kernel store cannot be used"), HasSubstr("add -gencode arch=compute_80,code=compute_80")));
  take_refusal(cudaErrorNoKernelImageForDevice);
}

TEST(Registration, UnitsHaveKernelsOfOneName) {
  UnitWithStore const first;
  UnitWithStore const second("plain");
  DeviceInt const target;
  cudaKernel_t of_first = nullptr;
  cudaKernel_t of_second = nullptr;
  EXPECT_EQ(__cudaGetKernel(&of_first, &first.host_function), cudaSuccess);
  EXPECT_EQ(__cudaGetKernel(&of_second, &second.host_function), cudaSuccess);
  EXPECT_NE(of_first, of_second);
  EXPECT_EQ(second.launch(target.its), cudaSuccess);
  EXPECT_EQ(target.value(), 7);
}

// An inline kernel is registered like this.
TEST(Registration, OneKernelMayBeRegisteredByTwoUnits) {
  UnitWithStore const first;
  {
    UnitWithStore second;
    second.add_kernel(first.host_function, "store");
  }
  DeviceInt const target;
  EXPECT_EQ(first.launch(target.its), cudaSuccess);
  EXPECT_EQ(target.value(), 7);
}

TEST(Registration, AKernelThatTheUnitDoesNotHaveIsAnError) {
  Unit unit("default");
  char const host_function = 0;
  unit.add_kernel(host_function, "lode");
  cudaFuncAttributes attributes{};
  ::testing::internal::CaptureStderr();
  EXPECT_NE(cudaFuncGetAttributes(&attributes, &host_function), cudaSuccess);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("the kernel lode cannot be used"));
  cudaGetLastError();
}

TEST(Registration, AVariableThatTheUnitDoesNotHaveIsAnError) {
  Unit unit("default");
  char host_variable = 0;
  unit.add_variable(host_variable, "offset", 4);
  void* address = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_NE(cudaGetSymbolAddress(&address, &host_variable), cudaSuccess);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("its module does not define it; the variable offset cannot be used"));
  cudaGetLastError();
}

TEST(Registration, ACopyBeyondAVariableSaysHowLargeThatIs) {
  Unit unit("default");
  char host_variable = 0;
  unit.add_variable(host_variable, "_ZN3lib7weightsE", 4);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpyToSymbol(&host_variable, "12345", 3, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("a copy of 3 bytes at byte 2 of lib::weights, which has 4 bytes"));
  cudaGetLastError();
}

TEST(Registration, AFunctionThatIsNoKernelIsAnError) {
  char const host_function = 0;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &host_function), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(&host_function, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
}

TEST(Registration, KernelsOfAClosedLibraryAreForgotten) {
  auto unit = std::make_unique<UnitWithStore>();
  char const* const host_function = &unit->host_function;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, host_function), cudaSuccess);
  unit.reset();
  EXPECT_EQ(__cudaGetKernel(&kernel, host_function), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

TEST(Registration, CallConfigurationsAreNested) {
  __cudaPushCallConfiguration(1, 32, 0, nullptr);
  __cudaPushCallConfiguration(dim3(2, 3), 64, 16, cudaStreamPerThread);
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(grid.y, 3u);
  EXPECT_EQ(block.x, 64u);
  EXPECT_EQ(shared_bytes, 16u);
  EXPECT_EQ(stream, cudaStreamPerThread);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(block.x, 32u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaErrorMissingConfiguration);
  cudaGetLastError();
}

TEST(Registration, AVariableThatIsNotOfTheDeviceIsAnError) {
  int on_host = 0;
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &on_host), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &on_host), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(&on_host, &on_host, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
  cudaGetLastError();
}

TEST(Registration, AKernelCanBeUsedAgainAfterTheDeviceWasReset) {
  UnitWithStore const unit;
  {
    DeviceInt const target;
    EXPECT_EQ(unit.launch(target.its), cudaSuccess);
    EXPECT_EQ(target.value(), 7);
  }
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  DeviceInt const target;
  EXPECT_EQ(unit.launch(target.its), cudaSuccess);
  EXPECT_EQ(target.value(), 7);
}

}}  // namespace cuda_cpu::runtime
