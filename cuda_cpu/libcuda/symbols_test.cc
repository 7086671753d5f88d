// Functions of the driver by name and version.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "cuda_cpu/libcuda/libcuda.h"
#include "tracing_core/cuda/driver_api.h"

namespace cuda_cpu::libcuda { namespace {

struct Found {
  CUresult result;
  CUdriverProcAddressQueryResult status;
  void* function;

  friend bool operator==(Found const&, Found const&) = default;
};

Found find(char const* name, int version, cuuint64_t flags = CU_GET_PROC_ADDRESS_LEGACY_STREAM) {
  Found found{CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS, &found};
  found.result = cuGetProcAddress(name, &found.function, version, flags, &found.status);
  return found;
}

TEST(DriverSymbols, HaveTheSignatureOfTheVersion) {
  EXPECT_EQ(find("cuCtxCreate", 13000),
            (Found{CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS, reinterpret_cast<void*>(&cuCtxCreate)}));
  Found const older = find("cuCtxCreate", 11030);
  EXPECT_EQ(older.result, CUDA_SUCCESS);
  auto const create = reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(older.function);
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(create(&context, CU_CTX_SCHED_AUTO, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
}

TEST(DriverSymbols, AreNotFoundWithAnOlderSignature) {
  EXPECT_EQ(find("cuGraphAddDependencies", 12030).function, reinterpret_cast<void*>(&cuGraphAddDependencies));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(find("cuGraphAddDependencies", 12020),
            (Found{CUDA_ERROR_NOT_FOUND, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, nullptr}));
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      ::testing::HasSubstr("cuGraphAddDependencies() as of CUDA 12.2 is not supported, only as it is since CUDA 12.3"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(find("cuGraphAddDependencies", 12020).result, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "explained once";
}

TEST(DriverSymbols, AreNotFoundIfTheyDoNotExist) {
  EXPECT_EQ(find("cuNoSuchFunction", 13000),
            (Found{CUDA_ERROR_NOT_FOUND, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, nullptr}));
  EXPECT_EQ(find("cuInit", 13000, 8).result, CUDA_ERROR_INVALID_VALUE) << "an unknown flag";
}

TEST(DriverSymbols, AreNamedOnceIfTheyAreNotSupported) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  for (auto const* const expected :
       {"testlog: cuTensorMapEncodeTiled() is not supported; the program asks for it, and gets a null pointer\n", ""}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(find("cuTensorMapEncodeTiled", 12000),
              (Found{CUDA_ERROR_NOT_FOUND, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, nullptr}));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), expected);
  }
}

// The table of tracing::cuda::Driver has one signature of each call.
TEST(DriverSymbols, AreThereInTheVersionsThatTheDriverAsksFor) {
#define CUDA_CPU_EXPECT(member, symbol, version) EXPECT_EQ(find(#symbol, version).result, CUDA_SUCCESS) << #symbol;
  TRACING_CUDA_DRIVER_CALLS(CUDA_CPU_EXPECT)
#undef CUDA_CPU_EXPECT
}

TEST(DriverSymbols, UseTheStreamOfTheThreadInPlaceOfStreamZero) {
  Found const found = find("cuLaunchHostFunc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  ASSERT_EQ(found.result, CUDA_SUCCESS);
  auto const launch = reinterpret_cast<decltype(&cuLaunchHostFunc)>(found.function);
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  std::atomic<bool> is_held{true};
  auto const wait = [](void* flag) { static_cast<std::atomic<bool>*>(flag)->wait(true); };
  EXPECT_EQ(launch(nullptr, wait, &is_held), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  is_held = false;
  is_held.notify_all();
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST(ExportTables, SayWhatToDoAboutNvidiasLibraries) {
  EXPECT_EQ(foreign_runtime_text("/usr/local/cuda/lib64/libcublas.so.13"),
            "testlog: libcublas.so.13 of NVIDIA has only machine code for GPUs, so its calls fail here; link "
            "testlog::cublas_on_cpu in its place, as testlog_cuda_on_cpu() does, or let LD_LIBRARY_PATH find testlog's "
            "libcublas.so.13\n");
  EXPECT_EQ(
      foreign_runtime_text("/usr/lib/libcudnn.so.9"),
      "testlog: libcudnn.so.9 of NVIDIA has only machine code for GPUs, so its calls fail here; where there is no "
      "GPU, skip what calls it, or call a library for the CPU in its place\n");
  EXPECT_EQ(foreign_runtime_text("./solver"),
            "testlog: ./solver has NVIDIA's runtime library inside, which needs a GPU; link it with -cudart none or "
            "shared\n");
}

TEST(ExportTables, AreMissingAndWarnOnce) {
  void const* table = &table;
  CUuuid const id{};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(table, nullptr);
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      ::testing::MatchesRegex("testlog: .*cuda_cpu_libcuda_test has NVIDIA's runtime library inside, which needs "
                              "a GPU; link it with -cudart none or shared\n"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}}  // namespace cuda_cpu::libcuda
