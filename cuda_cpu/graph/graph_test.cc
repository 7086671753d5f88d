// Graphs made by hand: nodes, edges, parameters, copies.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda_cpu/graph/graph_test_support.h"

namespace cuda_cpu::graph { namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Graphs, NodesRunAfterThoseThatTheyDependOn) {
  make_graph();
  // Nodes are added in the opposite order of their edges.
  cudaGraphNode_t const last = add_kernel(kernels.multiply, 10);
  cudaGraphNode_t const middle = add_kernel(kernels.add, 2);
  cudaGraphNode_t const first = add_kernel(kernels.set, 5);
  std::array const from{first, middle};
  std::array const to{middle, last};
  ASSERT_EQ(cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, 2), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 70);
}

TEST_F(Graphs, ACycleIsAnErrorOfTheInstantiation) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 5);
  cudaGraphNode_t const second = add_kernel(kernels.add, 2, {first});
  ASSERT_EQ(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1), cudaSuccess);
  cudaGraphInstantiateParams params{};
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateInvalidStructure);
  EXPECT_EQ(exec, nullptr);
}

TEST_F(Graphs, EdgesAreCheckedAndListed) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 5);
  cudaGraphNode_t const second = add_kernel(kernels.add, 2, {first});
  EXPECT_EQ(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1), cudaErrorInvalidValue) << "added twice";
  EXPECT_EQ(cudaGraphAddDependencies(graph, &first, &first, nullptr, 1), cudaErrorInvalidValue) << "on itself";

  std::size_t count = 2;
  std::array<cudaGraphNode_t, 2> from{};
  std::array<cudaGraphNode_t, 2> to{};
  ASSERT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_THAT(from, ElementsAre(first, nullptr));
  EXPECT_THAT(to, ElementsAre(second, nullptr));
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphGetRootNodes(graph, &node, &(count = 1)), cudaSuccess);
  EXPECT_EQ(node, first);
  ASSERT_EQ(cudaGraphNodeGetDependencies(second, &node, nullptr, &(count = 1)), cudaSuccess);
  EXPECT_EQ(node, first);
  ASSERT_EQ(cudaGraphNodeGetDependentNodes(first, &node, nullptr, &(count = 1)), cudaSuccess);
  EXPECT_EQ(node, second);

  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 0u);
}

TEST_F(Graphs, TheDataOfAnEdgeIsNotLostUnnoticed) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 5);
  cudaGraphNode_t const second = add_kernel(kernels.add, 2);
  cudaGraphEdgeData data{};
  data.type = cudaGraphDependencyTypeProgrammatic;
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  ASSERT_EQ(cudaGraphAddDependencies(graph, &first, &second, &data, 1), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  EXPECT_EQ(cudaGraphNodeGetDependencies(second, &node, nullptr, &count), cudaErrorLossyQuery);
  cudaGraphEdgeData found{};
  ASSERT_EQ(cudaGraphNodeGetDependencies(second, &node, &found, &count), cudaSuccess);
  EXPECT_EQ(found.from_port, cudaGraphKernelNodePortProgrammatic);
}

TEST_F(Graphs, ANodeDependsOnNodesOfItsGraphOnly) {
  make_graph();
  cudaGraph_t second = nullptr;
  ASSERT_EQ(cudaGraphCreate(&second, 0), cudaSuccess);
  cudaGraphNode_t const node = add_kernel(kernels.set, 5);
  cudaGraphNode_t empty = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&empty, second, &node, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(second), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(second), cudaErrorInvalidValue) << "destroyed twice";
}

TEST_F(Graphs, ANodeThatIsDestroyedTakesItsEdgesWithIt) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 5);
  cudaGraphNode_t const second = add_kernel(kernels.add, 2, {first});
  add_kernel(kernels.multiply, 10, {first});
  EXPECT_EQ(cudaGraphDestroyNode(second), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroyNode(second), cudaErrorInvalidValue);
  std::size_t edges = 0;
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(edges, 1u);
  instantiate();
  EXPECT_EQ(launch_graph(), 50);
}

TEST_F(Graphs, TheParametersOfAKernelAreGivenBackAndReplaced) {
  make_graph();
  cudaGraphNode_t const node = add_kernel(kernels.set, 5);
  cudaKernelNodeParams params{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(node, &params), cudaSuccess);
  EXPECT_EQ(params.func, &kernels.set);
  EXPECT_EQ(params.gridDim.x, 1u);
  EXPECT_EQ(*static_cast<int**>(params.kernelParams[0]), value);
  EXPECT_EQ(*static_cast<int*>(params.kernelParams[1]), 5);
  int number = 6;
  std::array<void*, 2> arguments{params.kernelParams[0], &number};
  params.kernelParams = arguments.data();
  ASSERT_EQ(cudaGraphKernelNodeSetParams(node, &params), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 6);
}

TEST_F(Graphs, BadKernelNodesAreRefused) {
  make_graph();
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams params{};
  char no_kernel = 0;
  params.func = &no_kernel;
  params.gridDim = params.blockDim = dim3(1);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params), cudaErrorInvalidDeviceFunction);
  params.func = &kernels.set;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params), cudaErrorInvalidValue) << "no arguments";
  params.blockDim = dim3(2048);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params), cudaErrorInvalidConfiguration);
  EXPECT_TRUE(types().empty());
}

TEST_F(Graphs, NodesCopySetAndCallTheHost) {
  make_graph();
  int source = 3;
  int target = 0;
  cudaGraphNode_t copy_in = nullptr;
  cudaGraphNode_t to_symbol = nullptr;
  cudaGraphNode_t from_symbol = nullptr;
  cudaGraphNode_t host = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, value, &source, sizeof(int), cudaMemcpyHostToDevice),
            cudaSuccess);
  cudaGraphNode_t const add = add_kernel(kernels.add, 4, {copy_in});
  ASSERT_EQ(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, &add, 1, &kernels.variable, value, sizeof(int), 0,
                                           cudaMemcpyDeviceToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNodeFromSymbol(&from_symbol, graph, &to_symbol, 1, &target, &kernels.variable,
                                             sizeof(int), 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  cudaHostNodeParams const times_ten{[](void* data) { *static_cast<int*>(data) *= 10; }, &target};
  ASSERT_EQ(cudaGraphAddHostNode(&host, graph, &from_symbol, 1, &times_ten), cudaSuccess);
  instantiate();
  launch_graph();
  EXPECT_EQ(target, 70);

  cudaMemcpy3DParms params{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(copy_in, &params), cudaSuccess);
  EXPECT_EQ(params.srcPtr.ptr, &source);
  EXPECT_EQ(params.extent.width, sizeof(int));
  EXPECT_EQ(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, nullptr, 0, &kernels.variable, value, 5, 0,
                                           cudaMemcpyDeviceToDevice),
            cudaErrorInvalidValue)
      << "five bytes of a variable of four";
}

TEST_F(Graphs, MemsetsHaveElementsAndRows) {
  make_graph();
  unsigned char* memory = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 16), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 0, 16), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  cudaMemsetParams const halves{memory, 8, 0x0201, 2, 2, 2};  // two elements in each of two rows
  ASSERT_EQ(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &halves), cudaSuccess);
  cudaMemsetParams const words{memory + 4, 0, 0x06050403, 4, 1, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &words), cudaSuccess);
  instantiate();
  launch_graph();
  std::array<unsigned char, 16> found{};
  ASSERT_EQ(cudaMemcpy(found.data(), memory, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(found, ElementsAre(1, 2, 1, 2, 3, 4, 5, 6, 1, 2, 1, 2, 0, 0, 0, 0));
  cudaMemsetParams const threes{memory, 0, 0, 3, 1, 1};
  EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &threes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Graphs, CopiesHaveRows) {
  make_graph();
  std::array<int, 4> source{1, 2, 3, 4};
  std::array<int, 4> target{};
  cudaMemcpy3DParms params{};
  params.srcPtr = {source.data(), 8, 2, 2};
  params.dstPtr = {target.data(), 8, 2, 2};
  params.srcPos.x = 4;
  params.extent = {4, 2, 1};  // the second column
  params.kind = cudaMemcpyHostToHost;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params), cudaSuccess);
  instantiate();
  launch_graph();
  EXPECT_THAT(target, ElementsAre(2, 0, 4, 0));
}

TEST_F(Graphs, AGraphInANodeIsACopy) {
  make_graph();
  add_kernel(kernels.add, 3);
  cudaGraph_t const inner = graph;
  make_graph();
  cudaGraphNode_t node = nullptr;
  cudaGraphNode_t const set = add_kernel(kernels.set, 1);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph, &set, 1, inner), cudaSuccess);
  add_kernel(kernels.multiply, 10, {node});
  EXPECT_EQ(cudaGraphDestroy(inner), cudaSuccess);
  cudaGraph_t found = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &found), cudaSuccess);
  EXPECT_NE(found, inner);
  EXPECT_EQ(cudaGraphDestroy(found), cudaErrorInvalidValue) << "it belongs to the node";
  instantiate();
  EXPECT_EQ(launch_graph(), 40);
}

TEST_F(Graphs, AGraphThatMovesIntoANodeKeepsItsHandle) {
  make_graph();
  add_kernel(kernels.add, 3);
  cudaGraph_t const inner = graph;
  make_graph();
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = inner;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaSuccess);
  cudaGraph_t found = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &found), cudaSuccess);
  EXPECT_EQ(found, inner);
  EXPECT_EQ(cudaGraphDestroy(inner), cudaErrorInvalidValue);
  instantiate();
  EXPECT_EQ(launch_graph(), 3);
  EXPECT_EQ(cudaGraphDestroyNode(node), cudaSuccess);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(inner, nullptr, &count), cudaErrorInvalidValue) << "it went with the node";
}

TEST_F(Graphs, AGraphThatFailsToMoveStaysThePrograms) {
  make_graph();
  cudaGraphNode_t const elsewhere = add_kernel(kernels.add, 3);
  cudaGraph_t const inner = graph;
  make_graph();
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = inner;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&node, graph, &elsewhere, nullptr, 1, &params), cudaErrorInvalidValue)
      << "not a node of this graph";
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(inner, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cudaGraphDestroy(inner), cudaSuccess);
}

TEST_F(Graphs, AGraphDoesNotMoveIntoItself) {
  make_graph();
  cudaGraph_t const outer = graph;
  make_graph();
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = outer;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaSuccess);
  params.graph.graph = graph;
  EXPECT_EQ(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params), cudaErrorInvalidValue)
      << "it is in that graph";
}

TEST_F(Graphs, AnyNodeIsAddedByOneStructure) {
  make_graph();
  int number = 8;
  std::array<void*, 2> arguments{&value, &number};
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = &kernels.set;
  params.kernel.gridDim = params.kernel.blockDim = dim3(1);
  params.kernel.kernelParams = arguments.data();
  cudaGraphNode_t kernel = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &params), cudaSuccess);
  cudaGraphNodeParams record{};
  record.type = cudaGraphNodeTypeEventRecord;
  record.eventRecord.event = event;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, &kernel, nullptr, 1, &record), cudaSuccess);
  number = 9;
  ASSERT_EQ(cudaGraphNodeSetParams(kernel, &params), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeSetParams(node, &params), cudaErrorInvalidValue) << "of another type";
  instantiate();
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(read(), 9);
  params.type = cudaGraphNodeTypeConditional;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaErrorNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "testlog: graphs have no conditional nodes here (cudaErrorNotSupported)\n");
}

TEST_F(Graphs, AClonedGraphIsIndependentOfItsOriginal) {
  make_graph();
  cudaGraphNode_t const set = add_kernel(kernels.set, 2);
  add_kernel(kernels.multiply, 5, {set});
  cudaGraph_t const original = graph;
  ASSERT_EQ(cudaGraphClone(&graph, original), cudaSuccess);
  cudaGraphNode_t found = nullptr;
  ASSERT_EQ(cudaGraphNodeFindInClone(&found, set, graph), cudaSuccess);
  EXPECT_NE(found, set);
  EXPECT_EQ(cudaGraphDestroy(original), cudaSuccess);
  instantiate();
  EXPECT_EQ(launch_graph(), 10);
}

TEST_F(Graphs, HintsOfKernelsAreKeptAndOtherAttributesRefused) {
  make_graph();
  cudaGraphNode_t const first = add_kernel(kernels.set, 2);
  cudaGraphNode_t const second = add_kernel(kernels.add, 2);
  cudaLaunchAttributeValue hint{};
  hint.priority = -3;
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributePriority, &hint), cudaSuccess);
  EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(second, first), cudaSuccess);
  cudaLaunchAttributeValue found{};
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributePriority, &found), cudaSuccess);
  EXPECT_EQ(found.priority, -3);
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributeClusterDimension, &hint), cudaErrorNotSupported);
}

TEST_F(Graphs, AGraphIsDrawnForGraphviz) {
  make_graph();
  cudaGraphNode_t const set = add_kernel(kernels.set, 2);
  add_kernel(kernels.multiply, 5, {set});
  std::string const path = ::testing::TempDir() + "graph.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph, path.c_str(), 0), cudaSuccess);
  std::ifstream file(path);
  std::string const text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text,
            "digraph graph_1 {\n"
            "  node [shape=box];\n"
            "  n0 [label=\"store\\ngrid (1, 1, 1) block (1, 1, 1)\"];\n"
            "  n1 [label=\"multiply\\ngrid (1, 1, 1) block (1, 1, 1)\"];\n"
            "  n0 -> n1;\n"
            "}\n");
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0), cudaErrorOperatingSystem);
}

}}  // namespace cuda_cpu::graph
