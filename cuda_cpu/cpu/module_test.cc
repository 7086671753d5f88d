#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/cpu/cpu_test_support.h"
#include "cuda_cpu/fatbin/decompress.h"

namespace cuda_cpu { namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CpuModule : public CpuDriver {
 protected:
  CUresult load(char const* image) { return api.module_load_data_ex(&module, image, 0, nullptr, nullptr); }
  CUfunction function(char const* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(api.module_get_function(&found, module, name), CUDA_SUCCESS);
    return found;
  }
  int attribute(CUfunction function, CUfunction_attribute which) {
    int value = -1;
    EXPECT_EQ(api.func_get_attribute(&value, which, function), CUDA_SUCCESS);
    return value;
  }

  CUmodule module = nullptr;
};

TEST_F(CpuModule, FindsItsFunctionsByName) {
  ASSERT_EQ(load(kTestKernels), CUDA_SUCCESS);
  auto const store = function("store");
  EXPECT_EQ(function("store"), store);
  EXPECT_NE(function("add_one"), store);
  CUfunction none = nullptr;
  EXPECT_EQ(api.module_get_function(&none, module, "nope"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api.module_get_function(&none, module, ""), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.module_get_function(&none, nullptr, "store"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(none, nullptr);
}

TEST_F(CpuModule, LookingUpAnEntryWithAnUnsupportedInstructionFailsWithItsLine) {
  ASSERT_EQ(load(kTestKernels), CUDA_SUCCESS);
  CUfunction none = nullptr;
  EXPECT_EQ(api.module_get_function(&none, module, "unsupported"), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cpu_driver_last_message(), "line 106: not supported: brkpt");
}

TEST_F(CpuModule, ItsVariablesCanBeReadAndWritten) {
  ASSERT_EQ(load(kTestKernels), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(api.module_get_global(&address, &bytes, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(read(address), 7);
  write(address, 8);
  EXPECT_EQ(read(address), 8);
  EXPECT_EQ(api.module_get_global(nullptr, &bytes, module, "table"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(api.module_get_global(&address, &bytes, module, "nope"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api.module_get_global(nullptr, nullptr, module, "table"), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuModule, UnloadingInvalidatesItsFunctions) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  EXPECT_EQ(api.mem_get_info(&before, &total), CUDA_SUCCESS);
  ASSERT_EQ(load(kTestKernels), CUDA_SUCCESS);
  auto const store = function("store");
  EXPECT_EQ(api.module_unload(module), CUDA_SUCCESS);
  EXPECT_EQ(api.module_unload(module), CUDA_ERROR_INVALID_HANDLE);
  int value = 0;
  EXPECT_EQ(api.func_get_attribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, store), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.mem_get_info(&after, &total), CUDA_SUCCESS);
  EXPECT_EQ(after, before) << "its variables are freed";
}

TEST_F(CpuModule, ReportsTheAttributesOfItsFunctions) {
  ASSERT_EQ(load(kTestKernels), CUDA_SUCCESS);
  auto const shared = function("sum_shared");
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 16);
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152 - 16);
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 16);
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
  EXPECT_GT(attribute(shared, CU_FUNC_ATTRIBUTE_NUM_REGS), 0);
  EXPECT_EQ(attribute(function("say"), CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) % 8, 0);
  EXPECT_EQ(attribute(function("bound_to_64"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
  int value = 0;
  EXPECT_EQ(api.func_get_attribute(&value, CU_FUNC_ATTRIBUTE_MAX, shared), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.func_get_attribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CpuModule, SharedMemoryOfAFunctionCanBeRaisedToTheLimitOfTheDevice) {
  ASSERT_EQ(load(kTestKernels), CUDA_SUCCESS);
  auto const shared = function("sum_shared");
  auto const ask = [&](int bytes) {
    return api.func_set_attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
  };
  EXPECT_EQ(ask(227 * 1024 - 16), CUDA_SUCCESS);
  EXPECT_EQ(attribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 227 * 1024 - 16);
  EXPECT_EQ(ask(227 * 1024 - 15), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask(-1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.func_set_attribute(shared, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50), CUDA_SUCCESS);
  EXPECT_EQ(api.func_set_attribute(shared, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.func_set_attribute(shared, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuModule, LoadsPtxForNewerDevices) {
  EXPECT_EQ(load(".version 9.0\n.target sm_121\n.address_size 64\n"), CUDA_SUCCESS);
  EXPECT_EQ(load(".version 9.0\n.target sm_100f\n.address_size 64\n"), CUDA_SUCCESS);
}

// Returns a fat binary that tools/renew_fatbins.sh made.
std::string read_fatbin(std::string const& name) {
  std::ifstream file(std::string(TESTLOG_TEST_DIR) + "/../fatbin/testdata/" + name + ".fatbin", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string damaged(std::string fatbin) {
  fatbin[16 + 4] = 1;  // the size of the header of its first entry
  return fatbin;
}
std::string broken(std::string fatbin) {
  fatbin.replace(fatbin.find(".target"), 7, ".tarpit");
  return fatbin;
}

TEST_F(CpuModule, LoadsAFatBinaryAndWhatAProgramRegisters) {
  auto const fatbin = read_fatbin("plain");
  struct {
    unsigned magic = 0x466243b1;
    unsigned version = 1;
    void const* data = nullptr;
    void const* unused = nullptr;
  } wrapper;
  wrapper.data = fatbin.data();
  for (void const* const image : {static_cast<void const*>(fatbin.data()), static_cast<void const*>(&wrapper)}) {
    ASSERT_EQ(api.module_load_data_ex(&module, image, 0, nullptr, nullptr), CUDA_SUCCESS);
    auto const store = function("store");
    EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
    auto to = allocate(4);
    void* parameters[] = {&to};
    ASSERT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(read(to), 7);
  }
}

TEST_F(CpuModule, RunsTheOnlyPtxOfAFatBinaryThoughItIsForANewerDevice) {
  if (!fatbin::has_zstd()) GTEST_SKIP() << "this build lacks zstd";
  ASSERT_EQ(load(read_fatbin("all_major").c_str()), CUDA_SUCCESS);
  auto const store = function("store");
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_PTX_VERSION), 120);
  auto to = allocate(4);
  void* parameters[] = {&to};
  ASSERT_EQ(api.launch_kernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(read(to), 7);
}

struct BadImage {
  char const* name;
  std::string image;
  CUresult code;
  char const* message;

  friend void PrintTo(BadImage const& bad, std::ostream* out) { *out << bad.name; }
};
class CpuModuleImage : public CpuModule, public ::testing::WithParamInterface<BadImage> {};

TEST_P(CpuModuleImage, FailsToLoadAndTheLogSaysWhy) {
  auto const& [name, image, code, message] = GetParam();
  std::array<char, 256> error{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {reinterpret_cast<void*>(error.size()), error.data(), reinterpret_cast<void*>(std::uintptr_t{4})};
  EXPECT_EQ(api.module_load_data_ex(&module, image.c_str(), 3, options, values), code);
  EXPECT_EQ(module, nullptr);
  EXPECT_THAT(error.data(), HasSubstr(message));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[0]), std::string(error.data()).size());
  EXPECT_EQ(cpu_driver_last_message(), error.data());
}

INSTANTIATE_TEST_SUITE_P(
    Bad, CpuModuleImage,
    ::testing::Values(BadImage{"Cubin",
                               "\x7f"
                               "ELF\x02\x01",
                               CUDA_ERROR_NO_BINARY_FOR_GPU, "machine code for a GPU; expected PTX"},
                      BadImage{"FatbinWithoutPtx", read_fatbin("machine_code"), CUDA_ERROR_NO_BINARY_FOR_GPU,
                               "only machine code for sm_75 and sm_80; add -gencode "
                               "arch=compute_80,code=compute_80, or CMAKE_CUDA_ARCHITECTURES=80 (not 80-real)"},
                      BadImage{"DamagedFatbin", damaged(read_fatbin("plain")), CUDA_ERROR_INVALID_IMAGE,
                               "a fat binary with a damaged entry at byte 16"},
                      BadImage{"FatbinWithBrokenPtx", broken(read_fatbin("plain")), CUDA_ERROR_INVALID_PTX,
                               "expected .target at '.tarpit'"},
                      BadImage{"NoPtx", "hello", CUDA_ERROR_INVALID_IMAGE, "not PTX: .version is missing"},
                      BadImage{"Empty", "", CUDA_ERROR_INVALID_IMAGE, "not PTX"},
                      BadImage{"BrokenPtx", ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry f( {",
                               CUDA_ERROR_INVALID_PTX, "ptx input, line 4"},
                      BadImage{"NewerPtx", ".version 9.1\n.target sm_75\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                               "PTX version 9.1; expected at most 9.0"},
                      BadImage{"NewerTarget", ".version 9.0\n.target sm_122\n.address_size 64\n",
                               CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX for sm_122; expected at most sm_121"}),
    [](auto const& image) { return image.param.name; });

TEST_F(CpuModule, InfoLogNamesTheEntriesThatCannotBeRun) {
  std::array<char, 256> info{};
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {info.data(), reinterpret_cast<void*>(info.size())};
  ASSERT_EQ(api.module_load_data_ex(&module, kTestKernels, 2, options, values), CUDA_SUCCESS);
  EXPECT_THAT(info.data(), StartsWith("unsupported cannot be run: line "));
}

TEST_F(CpuModule, LogIsTruncatedToTheBuffer) {
  std::array<char, 8> error{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {error.data(), reinterpret_cast<void*>(error.size())};
  EXPECT_EQ(api.module_load_data_ex(&module, "hello", 2, options, values), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_STREQ(error.data(), "not PTX");
}

TEST_F(CpuModule, LoadingWithInvalidArgumentsFails) {
  CUjit_option unknown[] = {CU_JIT_NUM_OPTIONS};
  void* values[] = {nullptr};
  EXPECT_EQ(api.module_load_data_ex(&module, kTestKernels, 1, unknown, values), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.module_load_data_ex(&module, kTestKernels, 1, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(load(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}}  // namespace cuda_cpu
