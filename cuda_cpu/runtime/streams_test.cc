// Streams and events where CUDA leaves the result undefined, and the functions for streams of threads. Other tests of
// streams are in programs/streams.cu.
#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cuda_cpu/runtime/runtime.h"
#include "cuda_cpu/runtime/runtime_test_support.h"

extern "C" {
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
}

namespace cuda_cpu::runtime { namespace {

void CUDART_CB wait_for(void* flag) {
  while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
}

TEST(RuntimeStreams, AreInvalidOnceDestroyed) {
  UnitWithStore const unit;
  DeviceInt const target;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(unit.launch(target.its, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(target.value(), 0);
}

TEST(RuntimeStreams, HaveTheNumbersThatSpansHave) {
  cudaStream_t first = nullptr, second = nullptr;
  ASSERT_EQ(cudaStreamCreate(&first), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&second), cudaSuccess);
  for (cudaStream_t const stream : {cudaStream_t(nullptr), second, first, cudaStreamPerThread}) {
    unsigned long long of_runtime = 99, of_driver = 98;
    EXPECT_EQ(cudaStreamGetId(stream, &of_runtime), cudaSuccess);
    EXPECT_EQ(cuStreamGetId(stream, &of_driver), CUDA_SUCCESS);
    EXPECT_EQ(of_runtime, driver().number_of(stream));
    EXPECT_EQ(of_driver, of_runtime);
  }
  EXPECT_EQ(cudaStreamDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
}

TEST(RuntimeStreams, DefaultStreamOfAThreadIsItsOwn) {
  std::atomic<bool> is_open{false};
  ASSERT_EQ(cudaLaunchHostFunc_ptsz(nullptr, wait_for, &is_open), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  std::thread([] { EXPECT_EQ(cudaStreamSynchronize_ptsz(nullptr), cudaSuccess); }).join();  // another thread's is empty
  is_open = true;
  EXPECT_EQ(cudaStreamSynchronize_ptsz(nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  cudaGetLastError();
}

TEST(RuntimeStreams, HaveTheFlagsThatTheyWereMadeWith) {
  cudaStream_t blocking = nullptr;
  cudaStream_t non_blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&non_blocking, cudaStreamNonBlocking), cudaSuccess);
  unsigned flags = 99;
  EXPECT_EQ(cudaStreamGetFlags(blocking, &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamDefault});
  EXPECT_EQ(cudaStreamGetFlags(non_blocking, &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(cudaStreamCreateWithFlags(&blocking, 0x80), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(non_blocking), cudaSuccess);
}

TEST(RuntimeStreams, KeepTheAttributesThatAreSet) {
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  ASSERT_EQ(cudaStreamCreate(&first), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&second), cudaSuccess);
  cudaStreamAttrValue value{};
  EXPECT_EQ(cudaStreamGetAttribute(first, cudaStreamAttributeSynchronizationPolicy, &value), cudaSuccess);
  EXPECT_EQ(value.syncPolicy, cudaSyncPolicyAuto);
  value.syncPolicy = cudaSyncPolicyYield;
  EXPECT_EQ(cudaStreamSetAttribute(first, cudaStreamAttributeSynchronizationPolicy, &value), cudaSuccess);
  EXPECT_EQ(cudaStreamCopyAttributes(second, first), cudaSuccess);
  value = {};
  EXPECT_EQ(cudaStreamGetAttribute(second, cudaStreamAttributeSynchronizationPolicy, &value), cudaSuccess);
  EXPECT_EQ(value.syncPolicy, cudaSyncPolicyYield);
  EXPECT_EQ(cudaStreamSetAttribute(first, cudaLaunchAttributeClusterDimension, &value), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
}

TEST(RuntimeEvents, AreCompleteBeforeTheFirstRecording) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(RuntimeEvents, AreNotReadyWhileTheirStreamIsBusy) {
  std::atomic<bool> is_open{false};
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(stream, wait_for, &is_open), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  is_open = true;
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  cudaGetLastError();
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}}  // namespace cuda_cpu::runtime
