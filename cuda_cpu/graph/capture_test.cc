// Captures of streams into graphs.
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <thread>

#include "cuda_cpu/graph/graph_test_support.h"

namespace cuda_cpu::graph { namespace {

using ::testing::ElementsAre;

TEST_F(Graphs, CapturedWorkRunsWhenItsGraphIsLaunched) {
  begin();
  EXPECT_EQ(launch(kernels.add, 5, stream), cudaSuccess);
  EXPECT_EQ(launch(kernels.multiply, 3, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(read(), 0) << "captured kernels ran";
  instantiate();
  EXPECT_EQ(launch_graph(), 15);
  EXPECT_EQ(launch_graph(), 60);
}

TEST_F(Graphs, CapturedKernelsKeepTheArgumentsOfTheirLaunch) {
  begin();
  for (int number = 1; number <= 3; ++number) EXPECT_EQ(launch(kernels.add, number, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 6);
}

TEST_F(Graphs, AFillOfPartsOfSlicesIsANodeForEach) {
  cudaPitchedPtr memory{};
  ASSERT_EQ(cudaMalloc3D(&memory, {4, 2, 2}), cudaSuccess);
  ASSERT_EQ(cudaMemset3D(memory, 0, {4, 2, 2}), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "the host does not wait for a fill, nor does `stream`";
  begin();
  EXPECT_EQ(cudaMemset3DAsync(memory, 1, {4, 1, 2}, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(value, static_cast<char*>(memory.ptr) + 2 * memory.pitch, sizeof(int),
                            cudaMemcpyDeviceToDevice, stream),
            cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_THAT(types(), ElementsAre(cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemcpy));
  instantiate();
  EXPECT_EQ(launch_graph(), 0x01010101);
  EXPECT_EQ(cudaFree(memory.ptr), cudaSuccess);
}

TEST_F(Graphs, EveryAsynchronousCallIsCaptured) {
  int source = 11;
  int target = 0;
  void* memory = nullptr;
  begin();
  EXPECT_EQ(cudaMallocAsync(&memory, 2 * sizeof(int), stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), stream), cudaSuccess);
  EXPECT_EQ(cudaMemset2DAsync(memory, 4, 1, 2, 2, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(memory, &source, sizeof(int), cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(value, memory, sizeof(int), cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&target, value, sizeof(int), cudaMemcpyDefault, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbolAsync(&kernels.variable, &source, sizeof(int), 0, cudaMemcpyHostToDevice, stream),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DAsync(value, 4, memory, 4, 4, 1, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void* data) { ++*static_cast<int*>(data); }, &target),
            cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_THAT(types(), ElementsAre(cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemset,
                                   cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy,
                                   cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeHost,
                                   cudaGraphNodeTypeMemFree));
  EXPECT_EQ(target, 0) << "captured work ran";
  instantiate();
  EXPECT_EQ(launch_graph(), 11);
  EXPECT_EQ(target, 12);
  source = 21;  // pageable memory is read when the graph runs
  EXPECT_EQ(launch_graph(), 21);
  EXPECT_EQ(target, 22);
}

TEST_F(Graphs, PageableMemoryIsReadAfterTheNodesBefore) {
  int source = 1;
  begin();
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void* data) { *static_cast<int*>(data) = 2; }, &source),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(value, &source, sizeof(int), cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 2);
}

TEST_F(Graphs, CopiesWithinTheHostAreCaptured) {
  int source = 7;
  int target = 0;
  begin();
  EXPECT_EQ(cudaMemcpyAsync(&target, &source, sizeof(int), cudaMemcpyHostToHost, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  EXPECT_EQ(target, 0);
  launch_graph();
  EXPECT_EQ(target, 7);
}

TEST_F(Graphs, EventsForkAndJoinACapture) {
  begin();
  EXPECT_EQ(launch(kernels.set, 1, stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(status_of(other), cudaStreamCaptureStatusActive);
  EXPECT_EQ(launch(kernels.add, 2, other), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(second_event, other), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, second_event, 0), cudaSuccess);
  EXPECT_EQ(launch(kernels.multiply, 10, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(status_of(other), cudaStreamCaptureStatusNone);

  std::size_t edges = 0;
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(edges, 3u) << "set-add, set-multiply, add-multiply";
  instantiate();
  EXPECT_EQ(launch_graph(), 30);
}

TEST_F(Graphs, CaptureInfoNamesTheGraphAndTheNodesThatTheNextOneWaitsFor) {
  begin();
  EXPECT_EQ(launch(kernels.set, 4, stream), cudaSuccess);
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  cudaGraph_t captured = nullptr;
  cudaGraphNode_t const* nodes = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, &captured, &nodes, nullptr, &count), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);

  // A node that is added by hand, and made part of the stream.
  graph = captured;
  cudaGraphNode_t added = add_kernel(kernels.add, 3, {nodes[0]});
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream, &added, nullptr, 1, cudaStreamSetCaptureDependencies),
            cudaSuccess);
  EXPECT_EQ(launch(kernels.multiply, 10, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorIllegalState);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(graph, captured);
  instantiate();
  EXPECT_EQ(launch_graph(), 70);
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream, &added, nullptr, 1, 0), cudaErrorIllegalState);
}

TEST_F(Graphs, AGraphCanBeCapturedInto) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 5);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch(kernels.multiply, 2, stream), cudaSuccess);
  cudaGraph_t ended = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &ended), cudaSuccess);
  EXPECT_EQ(ended, graph);
  instantiate();
  EXPECT_EQ(launch_graph(), 10);
}

TEST_F(Graphs, ALaunchOfAGraphIsCapturedAsAGraphWithinIt) {
  begin();
  EXPECT_EQ(launch(kernels.add, 3, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  cudaGraph_t const inner = graph;
  begin();
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(inner), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_THAT(types(), ElementsAre(cudaGraphNodeTypeGraph, cudaGraphNodeTypeGraph));
  instantiate();
  EXPECT_EQ(launch_graph(), 6);
}

TEST_F(Graphs, ExternalEventsAreNodes) {
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(stream, second_event, cudaEventWaitExternal), cudaSuccess);
  EXPECT_EQ(launch(kernels.add, 3, stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_THAT(types(), ElementsAre(cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeKernel, cudaGraphNodeTypeEventRecord));
  instantiate();
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(read(), 3);
}

TEST(Captures, AreIndependentOnSeveralThreads) {
  auto const work = [](int thread, int& result) {
    int* value = nullptr;
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&value), sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int round = 0; round < 10; ++round) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
      ASSERT_EQ(cudaMemsetAsync(value, 0, sizeof(int), stream), cudaSuccess);
      void* arguments[] = {&value, &thread};
      for (int i = 0; i < 3; ++i)
        ASSERT_EQ(cudaLaunchKernel(&order_kernels().add, dim3(1), dim3(1), arguments, 0, stream), cudaSuccess);
      ASSERT_EQ(cudaMemcpyAsync(&result, value, sizeof(int), cudaMemcpyDeviceToHost, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
      ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
      ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
      ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    ASSERT_EQ(cudaFree(value), cudaSuccess);
  };
  std::array<int, 4> results{};
  std::array<std::thread, 4> threads;
  for (int i = 0; i < 4; ++i)
    threads[static_cast<std::size_t>(i)] = std::thread(work, i + 1, std::ref(results[static_cast<std::size_t>(i)]));
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(results, ElementsAre(3, 6, 9, 12));
}

TEST(Captures, CaptureTheDefaultStreamOfAThread) {
  int* value = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&value), sizeof(int), cudaMemAttachGlobal), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(value, 1, sizeof(int), cudaStreamPerThread), cudaSuccess);
  std::thread([] {
    cudaStreamCaptureStatus status{};
    EXPECT_EQ(cudaStreamIsCapturing(cudaStreamPerThread, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusNone) << "the stream of another thread";
  }).join();
  ASSERT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph), cudaSuccess);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(value), cudaSuccess);
}

TEST_F(Graphs, CooperativeLaunchesAreNotCaptured) {
  begin();
  int number = 1;
  void* arguments[] = {&value, &number};
  EXPECT_EQ(cudaLaunchCooperativeKernel(&kernels.add, dim3(1), dim3(1), arguments, 0, stream),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, OtherStreamsRunWhileOneIsCaptured) {
  begin();
  EXPECT_EQ(launch(kernels.add, 4, other), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(read(), 4);
  EXPECT_TRUE(types().empty());
}

}}  // namespace cuda_cpu::graph
