// Executable graphs: launches, changes, memory, user objects, and their spans.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "cuda_cpu/graph/graph_test_support.h"
#include "tests/support/printed.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu::graph { namespace {

using ::testing::HasSubstr;

TEST_F(Graphs, LaterChangesOfAGraphDoNotReachWhatWasInstantiated) {
  make_graph();
  add_kernel(kernels.add, 3);
  instantiate();
  add_kernel(kernels.add, 100);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  graph = nullptr;
  EXPECT_EQ(launch_graph(), 3);
}

TEST_F(Graphs, AnExecutableGraphTakesNewParameters) {
  make_graph();
  int first = 3;
  int second = 4;
  cudaGraphNode_t copy = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, value, &first, sizeof(int), cudaMemcpyHostToDevice),
            cudaSuccess);
  cudaGraphNode_t const kernel = add_kernel(kernels.add, 1, {copy});
  instantiate();
  EXPECT_EQ(launch_graph(), 4);
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, value, &second, sizeof(int), cudaMemcpyHostToDevice),
            cudaSuccess);
  int factor = 10;
  std::array<void*, 2> arguments{&value, &factor};
  cudaKernelNodeParams params{};
  params.func = &kernels.multiply;
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments.data();
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, kernel, &params), cudaSuccess);
  EXPECT_EQ(launch_graph(), 40);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, copy, &params), cudaErrorInvalidValue) << "of another type";
}

TEST_F(Graphs, NodesOfAGraphWithinTheGraphTakeNewParameters) {
  make_graph();
  cudaGraphNode_t const inside = add_kernel(kernels.add, 3);
  cudaGraph_t const inner = graph;
  make_graph();
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner), cudaSuccess);
  cudaGraph_t owned = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &owned), cudaSuccess);
  cudaGraphNode_t in_owned = nullptr;
  ASSERT_EQ(cudaGraphNodeFindInClone(&in_owned, inside, owned), cudaSuccess);
  instantiate();
  cudaKernelNodeParams params{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(in_owned, &params), cudaSuccess);
  int number = 7;
  std::array<void*, 2> arguments{&value, &number};
  params.kernelParams = arguments.data();
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, in_owned, &params), cudaSuccess);
  EXPECT_EQ(launch_graph(), 7);
  ASSERT_EQ(cudaGraphExecChildGraphNodeSetParams(exec, node, inner), cudaSuccess);
  EXPECT_EQ(launch_graph(), 10) << "adds three again";
  EXPECT_EQ(cudaGraphDestroy(inner), cudaSuccess);
}

TEST_F(Graphs, AnExecutableGraphIsUpdatedByAGraphWithTheSameNodesAndEdges) {
  for (int const number : {3, 5}) {
    begin();
    EXPECT_EQ(launch(kernels.set, number, stream), cudaSuccess);
    EXPECT_EQ(launch(kernels.multiply, number, stream), cudaSuccess);
    ASSERT_EQ(end(), cudaSuccess);
    cudaGraphExecUpdateResultInfo info{};
    if (exec == nullptr) instantiate();
    EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaSuccess);
    EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
    EXPECT_EQ(launch_graph(), number * number);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    graph = nullptr;
  }
}

TEST_F(Graphs, AnUpdateThatDoesNotFitSaysWhereAndChangesNothing) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 2);
  add_kernel(kernels.multiply, 2, {first});
  instantiate();
  cudaGraph_t const original = graph;
  cudaGraphExecUpdateResultInfo info{};

  make_graph();
  cudaGraphNode_t const changed = add_kernel(kernels.set, 9);
  cudaGraphNode_t const without_edge = add_kernel(kernels.multiply, 9);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(info.errorNode, without_edge);
  EXPECT_EQ(launch_graph(), 4) << "took a parameter of the other graph";

  EXPECT_EQ(cudaGraphDestroyNode(without_edge), cudaSuccess);
  cudaGraphNode_t empty = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph, &changed, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(info.errorNode, empty);
  EXPECT_EQ(cudaGraphDestroy(original), cudaSuccess);
}

TEST_F(Graphs, NodesAreDisabledAndEnabled) {
  make_graph();
  cudaGraphNode_t const set = add_kernel(kernels.set, 2);
  cudaGraphNode_t const add = add_kernel(kernels.add, 5, {set});
  cudaGraphNode_t empty = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0), cudaSuccess);
  instantiate();
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, add, 0), cudaSuccess);
  EXPECT_EQ(launch_graph(), 2);
  unsigned is_enabled = 1;
  EXPECT_EQ(cudaGraphNodeGetEnabled(exec, add, &is_enabled), cudaSuccess);
  EXPECT_EQ(is_enabled, 0u);
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, add, 1), cudaSuccess);
  EXPECT_EQ(launch_graph(), 7);
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, empty, 0), cudaErrorInvalidValue);
}

TEST_F(Graphs, LaunchesOfOneGraphFollowEachOtherOnAnyStreams) {
  static std::atomic<bool> is_held{true};
  is_held = true;
  make_graph();
  cudaGraphNode_t host = nullptr;
  cudaHostNodeParams const wait{[](void*) { is_held.wait(true); }, nullptr};
  ASSERT_EQ(cudaGraphAddHostNode(&host, graph, nullptr, 0, &wait), cudaSuccess);
  add_kernel(kernels.add, 1, {host});
  instantiate();
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, other), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  is_held = false;
  is_held.notify_all();
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(read(), 2);
}

TEST_F(Graphs, MemoryOfAGraphIsThereFromItsAllocationToItsFree) {
  make_graph();
  cudaGraphNode_t alloc = nullptr;
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = sizeof(int);
  ASSERT_EQ(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params), cudaSuccess);
  ASSERT_NE(params.dptr, nullptr);
  int* const own = value;
  value = static_cast<int*>(params.dptr);
  cudaGraphNode_t const set = add_kernel(kernels.set, 42, {alloc});
  value = own;
  cudaGraphNode_t copy = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, value, params.dptr, sizeof(int), cudaMemcpyDeviceToDevice),
            cudaSuccess);
  cudaGraphNode_t free_node = nullptr;
  ASSERT_EQ(cudaGraphAddMemFreeNode(&free_node, graph, &copy, 1, params.dptr), cudaSuccess);
  std::uint64_t zero = 0;
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 42);
  EXPECT_EQ(launch_graph(), 42);
  std::uint64_t used = 1;
  std::uint64_t high = 0;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high), cudaSuccess);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(high, sizeof(int));

  cudaGraph_t clone = nullptr;
  EXPECT_EQ(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
  cudaGraphExec_t second = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported) << "its memory has one address";
  EXPECT_EQ(cudaGraphAddMemFreeNode(&free_node, graph, nullptr, 0, value), cudaErrorInvalidValue) << "not of a graph";
}

TEST_F(Graphs, MemoryThatAGraphLeavesIsFreedByTheProgram) {
  void* memory = nullptr;
  begin();
  EXPECT_EQ(cudaMallocAsync(&memory, sizeof(int), stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  launch_graph();
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue) << "allocated by the first launch";
  int number = 0;
  EXPECT_EQ(cudaMemcpy(&number, memory, sizeof number, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(number, 0x01010101);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue) << "freed twice";
  launch_graph();
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Graphs, ALaunchThatFailsAllocatesNothing) {
  void* first = nullptr;
  void* second = nullptr;
  begin();
  EXPECT_EQ(cudaMallocAsync(&first, sizeof(int), stream), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&second, sizeof(int), stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  instantiate();
  launch_graph();
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue) << "the second is allocated";
  EXPECT_EQ(cudaFree(first), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  launch_graph();
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
}

TEST_F(Graphs, MemoryThatAGraphLeavesCanBeFreedByItsNextLaunch) {
  void* memory = nullptr;
  begin();
  EXPECT_EQ(cudaMallocAsync(&memory, sizeof(int), stream), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch), cudaSuccess);
  launch_graph();
  launch_graph();
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Graphs, MemoryOfAGraphEndsWithIt) {
  std::uint64_t before = 0;
  std::uint64_t reserved = 0;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &before), cudaSuccess);
  make_graph();
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeMemAlloc;
  params.alloc.bytesize = 1024;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaSuccess);
  EXPECT_NE(params.alloc.dptr, nullptr);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved), cudaSuccess);
  EXPECT_EQ(reserved, before + 1024);
  EXPECT_EQ(cudaGraphNodeSetParams(node, &params), cudaErrorInvalidValue) << "its address would change";
  EXPECT_EQ(cudaGraphDestroyNode(node), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  graph = nullptr;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved), cudaSuccess);
  EXPECT_EQ(reserved, before);
}

TEST_F(Graphs, OnlyMemoryOfGraphsIsFreedInACapture) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 16, stream), cudaSuccess);
  begin();
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
}

TEST_F(Graphs, UserObjectsLiveAsLongAsWhatRefersToThem) {
  int destroyed = 0;
  auto const destroy = [](void* data) { ++*static_cast<int*>(data); };
  cudaUserObject_t object = nullptr;
  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync), cudaSuccess);
  make_graph();
  add_kernel(kernels.add, 1);
  EXPECT_EQ(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue) << "the reference moved";
  instantiate();
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  graph = nullptr;
  EXPECT_EQ(destroyed, 0);
  launch_graph();
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  exec = nullptr;
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, UserObjectsAreCounted) {
  int destroyed = 0;
  auto const destroy = [](void* data) { ++*static_cast<int*>(data); };
  cudaUserObject_t object = nullptr;
  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, destroy, 2, cudaUserObjectNoDestructorSync), cudaSuccess);
  make_graph();
  EXPECT_EQ(cudaGraphRetainUserObject(graph, object, 2, 0), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 1), cudaSuccess);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 1), cudaSuccess);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
}

TEST_F(Graphs, FlagsAreKeptAndUnsupportedOnesRefused) {
  make_graph();
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagUseNodePriority), cudaSuccess);
  unsigned long long flags = 0;
  EXPECT_EQ(cudaGraphExecGetFlags(exec, &flags), cudaSuccess);
  EXPECT_EQ(flags, cudaGraphInstantiateFlagUseNodePriority);
  EXPECT_EQ(cudaGraphUpload(exec, stream), cudaSuccess);
  cudaGraphExec_t refused = nullptr;
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&refused, graph, cudaGraphInstantiateFlagDeviceLaunch),
            cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&refused, graph, 1 << 10), cudaErrorInvalidValue);
}

TEST_F(Graphs, LaunchesAreSpansInThatOfTheGraph) {
  tracing::FormatOptions format;
  format.timer = nullptr;
  tracing::PrintOptions options{.event_format = tracing::make_event_format(format)};
  std::string const text = tracing_test::printed(std::move(options), [&] {
    begin();
    EXPECT_EQ(launch(kernels.add, 5, stream), cudaSuccess);
    ASSERT_EQ(end(), cudaSuccess);
    instantiate();
    launch_graph();
  });
  EXPECT_THAT(text, HasSubstr("capture=\"active\"}: cuda_cpu::graph::Graphs: captured\n"));
  EXPECT_THAT(text, HasSubstr(" nodes=1 stream="));
  EXPECT_THAT(text, HasSubstr("}:launch{kernel.name=add grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream="));
  EXPECT_THAT(text, HasSubstr(": cuda_cpu::graph::Graphs: launched\n"));
}

}}  // namespace cuda_cpu::graph
