#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "cuda_cpu/runtime/runtime_test_support.h"

namespace cuda_cpu::runtime { namespace {

using ::testing::HasSubstr;

TEST(RuntimeErrors, AreKeptUntilTheyAreAskedFor) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(RuntimeErrors, BelongToTheThread) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  std::thread([] {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

std::string stderr_of(auto const& call) {
  ::testing::internal::CaptureStderr();
  call();
  return ::testing::internal::GetCapturedStderr();
}

TEST(RuntimeErrors, AreSaidOnceWithTheReasonFirst) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  auto const free_again = [&] { EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue); };
  EXPECT_THAT(stderr_of(free_again),
              ::testing::MatchesRegex("testlog: no allocation of the device begins at 0x[0-9a-f]+: in 64 bytes "
                                      "\\(allocation [0-9]+\\) that were freed; cudaFree\\(\\) returned "
                                      "cudaErrorInvalidValue \\(1\\)\n"));
  EXPECT_EQ(stderr_of(free_again), "");
  cudaGetLastError();
}

TEST(RuntimeErrors, NameTheCallIfNothingElseIsKnown) {
  int* end = nullptr;
  EXPECT_EQ(stderr_of([&] { cudaMallocHost(reinterpret_cast<void**>(end), 4); }),
            "testlog: an argument is out of range; cudaHostAlloc() returned cudaErrorInvalidValue (1)\n");
  EXPECT_EQ(stderr_of([&] { cudaGetDevice(end); }),
            "testlog: an argument is out of range; cudaGetDevice() returned cudaErrorInvalidValue (1)\n");
  EXPECT_EQ(stderr_of([&] { cudaEventQuery(nullptr); }),
            "testlog: a stream, event, function or module handle is invalid or was destroyed; cudaEventQuery() "
            "returned cudaErrorInvalidResourceHandle (400)\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST(RuntimeErrors, LaterOnesReplaceEarlierOnes) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(RuntimeErrors, RefuseACopyOfTheWrongKind) {
  DeviceInt const device;
  int host = 7;
  EXPECT_EQ(cudaMemcpy(device.its, &host, sizeof host, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(&host, device.its, sizeof host, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(&host, device.its, sizeof host, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(RuntimeErrors, RefuseClustersOfSeveralBlocks) {
  UnitWithStore const unit;
  DeviceInt device;
  void* parameters[] = {&device.its};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {1, 1, 1};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 2;
  configuration.blockDim = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&configuration, &unit.host_function, parameters), cudaSuccess);
  auto const refused = [](auto const& call) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(static_cast<int>(call()), cudaErrorInvalidClusterSize);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "testlog: a cluster of more than one block, which is not supported (cudaErrorInvalidClusterSize)\n");
  };
  attribute.val.clusterDim = {2, 1, 1};
  refused([&] { return cudaLaunchKernelExC(&configuration, &unit.host_function, parameters); });
  take_refusal(cudaErrorInvalidClusterSize);
  for (auto const which : {cudaFuncAttributeRequiredClusterWidth, cudaFuncAttributeNonPortableClusterSizeAllowed})
    refused([&] { return cudaFuncSetAttribute(&unit.host_function, which, 2); });
  CUfunction function = nullptr;
  ASSERT_EQ(cudaGetFuncBySymbol(&function, &unit.host_function), cudaSuccess);
  refused([&] { return cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 2); });
  cudaGetLastError();
}

TEST(RuntimeErrors, RefuseUnsupportedAttributesOfALaunch) {
  UnitWithStore const unit;
  DeviceInt device;
  void* parameters[] = {&device.its};
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 1;
  configuration.blockDim = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  attribute.id = cudaLaunchAttributePriority;
  EXPECT_EQ(cudaLaunchKernelExC(&configuration, &unit.host_function, parameters), cudaSuccess);
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  EXPECT_EQ(cudaLaunchKernelExC(&configuration, &unit.host_function, parameters), cudaErrorNotSupported);
  take_refusal(cudaErrorNotSupported);
  EXPECT_EQ(device.value(), 7);
}

TEST(RuntimeErrors, StayAfterARefusedLaunchUntilALaterCallReturns) {
  UnitWithStore const unit("machine_code");
  DeviceInt const device;
  constexpr cudaError_t kRefused = cudaErrorNoKernelImageForDevice;
  EXPECT_EQ(unit.launch(device.its), kRefused);
  EXPECT_EQ(cudaGetLastError(), kRefused);  // as code does that drops it
  int value = 0;
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaMemcpy(&value, device.its, sizeof value, cudaMemcpyDeviceToHost), kRefused);
  EXPECT_EQ(cudaPeekAtLastError(), kRefused);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), kRefused);
  EXPECT_EQ(cudaGetLastError(), kRefused);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST(RuntimeErrors, NoneAfterAnotherContextWasCurrent) {
  DeviceInt const device;
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(device.value(), 0);
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxPopCurrent(&context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy(reinterpret_cast<CUcontext>(8)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(device.value(), 0);
}

TEST(RuntimeErrors, StaleMemoryIsInvalidAfterAReset) {
  int* memory = nullptr;
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 1 << 20), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_GE(after, before);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(RuntimeErrors, NameTheLimitThatALaunchExceeds) {
  UnitWithStore const unit;
  DeviceInt const target;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(unit.launch(target.its, nullptr, 1, 2000), cudaErrorInvalidConfiguration);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("a launch of store with block (2000, 1, 1); a block has 1 to 1024 threads"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(unit.launch(target.its, nullptr, 0, 32), cudaErrorInvalidConfiguration);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("grid (0, 1, 1); a grid has 1 to 2147483647 x "));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(unit.launch(target.its), cudaSuccess);
  EXPECT_EQ(target.value(), 7);
}

TEST(RuntimeErrors, NameTheCallForPeersAndForeignEvents) {
  using ::testing::internal::CaptureStderr;
  using ::testing::internal::GetCapturedStderr;
  int can_access = 1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 0, 0), cudaSuccess);
  EXPECT_EQ(can_access, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 0, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 1, 0), cudaErrorInvalidDevice);
  CaptureStderr();
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(GetCapturedStderr(),
            "testlog: cudaDeviceEnablePeerAccess(1): there is one device (cudaErrorPeerAccessUnsupported)\n"
            "testlog: cudaDeviceDisablePeerAccess(1): there is one device (cudaErrorPeerAccessUnsupported)\n");
  CaptureStderr();
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming), cudaErrorNotSupported);
  EXPECT_EQ(GetCapturedStderr(),
            "testlog: cudaEventInterprocess: processes do not share memory here (cudaErrorNotSupported)\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

[[noreturn]] void lose_the_context() {
  UnitWithStore const unit;
  int* null = nullptr;
  void* memory = nullptr;
  cudaGraph_t graph = nullptr;
  bool const lasts = unit.launch(null) == cudaSuccess && cudaDeviceSynchronize() == cudaErrorIllegalAddress &&
                     cudaGetLastError() == cudaErrorIllegalAddress && cudaGetLastError() == cudaErrorIllegalAddress &&
                     cudaMalloc(&memory, 4) == cudaErrorIllegalAddress &&
                     cudaGraphCreate(&graph, 0) == cudaErrorIllegalAddress &&
                     unit.launch(null) == cudaErrorIllegalAddress;
  bool elsewhere = false;
  std::thread([&] { elsewhere = cudaDeviceSynchronize() == cudaErrorIllegalAddress; }).join();
  std::_Exit(lasts && elsewhere ? 0 : 1);
}

TEST(RuntimeErrorsDeathTest, StickyErrorIsKeptAndExplainedOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      lose_the_context(), ::testing::ExitedWithCode(0),
      "testlog: an access of 4 bytes at 0x0, a null pointer.*caused by launch 1 of store; CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(RuntimeErrors, HaveNamesAndDescriptions) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDeviceFunction), "invalid device function");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  char const* text = nullptr;
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(54321), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(54321)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(54321)), "unrecognized error code");
}

}}  // namespace cuda_cpu::runtime
