// Streams and events, by the calls of the driver.
#include <gtest/gtest.h>

#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda { namespace {

using DriverStreams = InContext;

TEST_F(DriverStreams, CallBack) {
  struct Called {
    CUstream stream = nullptr;
    CUresult result = CUDA_ERROR_UNKNOWN;
  } called;
  auto const note = [](CUstream of, CUresult result, void* data) { *static_cast<Called*>(data) = {of, result}; };
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamAddCallback(stream, note, &called, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(called.stream, stream);
  EXPECT_EQ(called.result, CUDA_SUCCESS);
  EXPECT_EQ(cuStreamAddCallback(stream, note, &called, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamAddCallback(stream, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(DriverStreams, AttributesAreGivenBackAndCopied) {
  CUstream from = nullptr;
  CUstream to = nullptr;
  ASSERT_EQ(cuStreamCreate(&from, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&to, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  EXPECT_EQ(cuStreamSetAttribute(from, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetAttribute(to, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_AUTO);
  EXPECT_EQ(cuStreamCopyAttributes(to, from), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetAttribute(to, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_SPIN);
  CUdevice device = 9;
  EXPECT_EQ(cuStreamGetDevice(to, &device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuStreamDestroy(from), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(to), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetDevice(to, &device), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverStreams, EventsAreRecordedWithFlags) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecordWithFlags(event, nullptr, CU_EVENT_RECORD_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecordWithFlags(event, nullptr, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecordWithFlags(event, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

}}  // namespace cuda_cpu::libcuda
