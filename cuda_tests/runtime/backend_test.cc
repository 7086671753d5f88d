// Tests when kernels are compiled, and the keys of compiled kernels.
#include "cuda_tests/runtime/backend.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cuda_tests/kernels/kernels.h"

namespace cuda_tests { namespace {

// Returns a fake that supports sm_75 and sm_90.
tracing::cuda::NvrtcApi nvrtc() {
  tracing::cuda::NvrtcApi api;
  api.compile_program = [](nvrtcProgram, int, char const* const*) { return NVRTC_SUCCESS; };
  api.get_num_supported_archs = [](int* count) {
    *count = 2;
    return NVRTC_SUCCESS;
  };
  api.get_supported_archs = [](int* archs) {
    archs[0] = 75;
    archs[1] = 90;
    return NVRTC_SUCCESS;
  };
  return api;
}

class CanCompile : public ::testing::Test {
 protected:
  CanCompile() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/cuda_fp16.h");
  }
  ~CanCompile() override { std::filesystem::remove_all(folder_); }

  std::string const folder_ = ::testing::TempDir() + "cuda_tests_backend_test_" +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CanCompile, WithNvrtcForTheDeviceAndTheHeaders) {
  EXPECT_TRUE(can_compile(nvrtc(), "sm_90", {"/nowhere", folder_}));
  EXPECT_TRUE(can_compile(nvrtc(), "compute_75", {folder_}));
}

TEST_F(CanCompile, NotWithoutNvrtc) { EXPECT_FALSE(can_compile({}, "sm_90", {folder_})); }

TEST_F(CanCompile, NotWithoutTheHeaders) {
  EXPECT_FALSE(can_compile(nvrtc(), "sm_90", {}));
  EXPECT_FALSE(can_compile(nvrtc(), "sm_90", {"/nowhere"}));
}

TEST_F(CanCompile, NotForADeviceUnknownToNvrtc) {
  EXPECT_FALSE(can_compile(nvrtc(), "sm_70", {folder_}));
  EXPECT_FALSE(can_compile(nvrtc(), "sm_120", {folder_}));
  EXPECT_FALSE(can_compile(nvrtc(), "sm_190", {folder_}));
}

TEST(KernelKey, DependsOnTheSource) {
  Kernel const one = saxpy_kernel();
  Kernel other = one;
  EXPECT_EQ(key_of(one, ExecutionMode::Checked), key_of(other, ExecutionMode::Checked));
  other.source = "extern \"C\" __global__ void saxpy() {}";
  EXPECT_NE(key_of(one, ExecutionMode::Checked), key_of(other, ExecutionMode::Checked));
}

}}  // namespace cuda_tests
