#define TRACE_TARGET "tracing::cuda_test"
#include "tracing_core/cuda/nvrtc_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace tracing::cuda { namespace {

std::string fake(std::string const& kind) { return std::string(TRACING_CUDA_FAKES) + "/libfake_nvrtc_" + kind + ".so"; }

bool is_empty(NvrtcApi const& api) {
#define TRACING_CUDA_IS_NULL(member, symbol) \
  if (api.member != nullptr) return false;
  TRACING_CUDA_NVRTC_CALLS(TRACING_CUDA_IS_NULL)
#undef TRACING_CUDA_IS_NULL
  return true;
}

NvrtcLibrary load(std::string const& path) {
  NvrtcLibrary nvrtc = load_nvrtc(path);
  EXPECT_EQ(is_empty(nvrtc.api), !nvrtc);
  EXPECT_EQ(nvrtc.explanation.empty(), static_cast<bool>(nvrtc)) << nvrtc.explanation;
  return nvrtc;
}

TEST(LoadNvrtc, FillsTheTableAndTheVersion) {
  NvrtcLibrary const nvrtc = load(fake("good"));
  ASSERT_TRUE(nvrtc) << nvrtc.explanation;
  EXPECT_EQ(nvrtc.version, (NvrtcVersion{12, 4}));
  EXPECT_EQ(nvrtc.path, fake("good"));
#define TRACING_CUDA_IS_THERE(member, symbol) EXPECT_NE(nvrtc.api.member, nullptr);
  TRACING_CUDA_NVRTC_CALLS(TRACING_CUDA_IS_THERE)
#undef TRACING_CUDA_IS_THERE
}

TEST(LoadNvrtc, NeverClosesTheLibrary) {
  ASSERT_TRUE(load(fake("good")));
  void* const again = dlopen(fake("good").c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(again, nullptr);
  for (int i = 0; i < 10; ++i) dlclose(again);
  EXPECT_NE(dlopen(fake("good").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(LoadNvrtc, NamesTheMissingFile) {
  NvrtcLibrary const nvrtc = load("/nowhere/libnvrtc.so.13");
  EXPECT_EQ(nvrtc.absence, NvrtcAbsence::no_file);
  EXPECT_EQ(nvrtc.explanation,
            "No NVRTC: /nowhere/libnvrtc.so.13: cannot open shared object file: No such file or directory. Install the "
            "CUDA Toolkit, 12 or newer, and set CUDA_PATH to its folder.");
}

TEST(LoadNvrtc, NamesTheVersionOfALibraryThatIsTooOld) {
  NvrtcLibrary const nvrtc = load(fake("old"));
  EXPECT_EQ(nvrtc.absence, NvrtcAbsence::too_old);
  EXPECT_EQ(nvrtc.version, (NvrtcVersion{11, 8}));
  EXPECT_EQ(nvrtc.explanation, "No NVRTC: " + fake("old") + " is of CUDA 11.8; expected 12.0 or newer.");
}

TEST(LoadNvrtc, NamesTheMissingCall) {
  NvrtcLibrary const nvrtc = load(fake("lacking"));
  EXPECT_EQ(nvrtc.absence, NvrtcAbsence::not_nvrtc);
  EXPECT_EQ(nvrtc.explanation,
            "No NVRTC: " + fake("lacking") + " lacks nvrtcGetCUBINSize, which CUDA 12 and newer have.");
  EXPECT_EQ(load("libm.so.6").absence, NvrtcAbsence::not_nvrtc);
}

class CudaPath : public ::testing::Test {
 protected:
  CudaPath() {
    std::filesystem::create_directory(root_ / "lib64");
    setenv("CUDA_PATH", (root_ / "").c_str(), 1);
  }
  ~CudaPath() override { unsetenv("CUDA_PATH"); }
  void link(std::string const& to, std::string const& name) {
    std::filesystem::create_symlink(to, root_ / ("lib64/" + name));
  }

  tracing_test::TemporaryFolder const root_;
};

TEST_F(CudaPath, IsSearchedBeforeThePathOfTheLoader) {
  link(fake("good"), "libnvrtc.so.12");
  NvrtcLibrary const nvrtc = load("");
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ(nvrtc.version, (NvrtcVersion{12, 4}));
}

TEST_F(CudaPath, IsSkippedIfItsLibraryIsTooOld) {
  link(fake("old"), "libnvrtc.so");
  NvrtcLibrary const nvrtc = load("");
  if (nvrtc) {
    EXPECT_GE(nvrtc.version, kOldestNvrtc);
  } else {
    EXPECT_EQ(nvrtc.absence, NvrtcAbsence::too_old);
  }
}

}}  // namespace tracing::cuda
