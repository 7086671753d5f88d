// Calls that are not allowed during a capture, and calls that end it.
#include <thread>

#include "cuda_cpu/graph/graph_test_support.h"

namespace cuda_cpu::graph { namespace {

TEST_F(Graphs, ABranchThatIsNotJoinedIsAnError) {
  begin();
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(launch(kernels.add, 2, other), cudaSuccess);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusNone);
  EXPECT_EQ(launch(kernels.add, 2, other), cudaSuccess) << "the stream cannot be used after the capture";
}

TEST_F(Graphs, WaitingForACapturedStreamInvalidatesTheCapture) {
  begin();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusInvalidated);
  EXPECT_EQ(launch(kernels.add, 2, stream), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(read(), 0);
}

TEST_F(Graphs, WaitingForTheDeviceInvalidatesTheCapture) {
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, WaitingForACapturedEventInvalidatesTheCapture) {
  begin();
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorCapturedEvent) << "the event was not recorded since";
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
}

TEST_F(Graphs, ACaptureCannotWaitForWorkOutsideOfIt) {
  EXPECT_EQ(cudaEventRecord(event, other), cudaSuccess);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, TwoCapturesCannotMerge) {
  begin();
  ASSERT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, other), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureMerge);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, TheDefaultStreamCannotBeUsedWhileABlockingStreamIsCaptured) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed), cudaSuccess);
  cudaStreamCaptureStatus status{};
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(status_of(blocking), cudaStreamCaptureStatusActive) << "asking invalidated the capture";
  EXPECT_EQ(launch(kernels.add, 1, nullptr), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

TEST_F(Graphs, CooperativeLaunchRespectsCapture) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed), cudaSuccess);
  int number = 1;
  void* arguments[] = {&value, &number};
  EXPECT_EQ(cudaLaunchCooperativeKernel(&kernels.add, dim3(1), dim3(1), arguments, 0, nullptr),
            cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

TEST_F(Graphs, TheDefaultStreamItselfCannotBeCaptured) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
}

TEST_F(Graphs, AllocationsInvalidateACaptureUnlessItIsRelaxed) {
  void* memory = nullptr;
  for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    begin(mode);
    EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  }
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(Graphs, AnotherThreadIsAffectedByGlobalCapturesOnly) {
  auto const allocate_on_another_thread = [] {
    cudaError_t error = cudaSuccess;
    std::thread([&] {
      void* memory = nullptr;
      error = cudaMalloc(&memory, 16);
      if (error == cudaSuccess) error = cudaFree(memory);
    }).join();
    return error;
  };
  begin(cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(allocate_on_another_thread(), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  begin(cudaStreamCaptureModeGlobal);
  EXPECT_EQ(allocate_on_another_thread(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, AThreadMayRelaxItsMode) {
  begin();
  auto mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(Graphs, OnlyTheStreamAndTheThreadThatBeganACaptureEndIt) {
  EXPECT_EQ(end(), cudaErrorIllegalState);
  begin();
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  std::thread([&] { EXPECT_EQ(end(), cudaErrorStreamCaptureWrongThread); }).join();
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(Graphs, AnErrorOfACapturedCallInvalidatesTheCapture) {
  begin();
  void* arguments[] = {nullptr, nullptr};
  EXPECT_EQ(cudaLaunchKernel(&kernels.add, dim3(1), dim3(1), arguments, 0, stream), cudaErrorInvalidValue);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, AnImpossibleLaunchIsRefusedWhenItIsCaptured) {
  begin();
  int number = 1;
  void* arguments[] = {&value, &number};
  EXPECT_EQ(cudaLaunchKernel(&kernels.add, dim3(1), dim3(1), arguments, 1 << 20, stream), cudaErrorInvalidValue);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, CallbacksOfAStreamAreNotCaptured) {
  begin();
  EXPECT_EQ(cudaStreamAddCallback(
                stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, EventsThatDoNotExistAreRefusedInCapturesAndNodes) {
  cudaEvent_t gone = nullptr;
  ASSERT_EQ(cudaEventCreate(&gone), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(gone), cudaSuccess);
  begin();
  EXPECT_EQ(cudaEventRecord(gone, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(stream, gone, 0), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(end(), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, gone), cudaErrorInvalidResourceHandle);
  EXPECT_TRUE(types().empty());
}

TEST_F(Graphs, AStreamThatIsCapturedIsNotDestroyed) {
  begin();
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, AStreamThatJoinedACaptureMayBeDestroyedWithin) {
  cudaStream_t joined = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&joined, cudaStreamNonBlocking), cudaSuccess);
  begin();
  EXPECT_EQ(launch(kernels.set, 1, stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(joined, event, 0), cudaSuccess);
  EXPECT_EQ(launch(kernels.add, 2, joined), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(second_event, joined), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, second_event, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(joined), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 3);
}

TEST_F(Graphs, AStreamThatIsDestroyedWithinACaptureStillHasToBeJoined) {
  cudaStream_t joined = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&joined, cudaStreamNonBlocking), cudaSuccess);
  begin();
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(joined, event, 0), cudaSuccess);
  EXPECT_EQ(launch(kernels.set, 1, joined), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(joined), cudaSuccess);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
}

TEST(Captures, EndWhenTheDeviceIsReset) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}}  // namespace cuda_cpu::graph
