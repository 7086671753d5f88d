// Graphs by the calls of the driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>

#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda { namespace {

class DriverGraphs : public InContext {
 protected:
  DriverGraphs() {
    EXPECT_EQ(cuModuleLoadData(&module, kTestKernels), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&add_one, module, "add_one"), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&store, module, "store"), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&value, sizeof(int)), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    int const zero = 0;
    EXPECT_EQ(cuMemcpyHtoD(value, &zero, sizeof zero), CUDA_SUCCESS);
  }
  ~DriverGraphs() override {
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(value), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }

  int run(CUgraphExec exec, int times = 1) const {
    for (int i = 0; i < times; ++i) EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    int number = -1;
    EXPECT_EQ(cuMemcpyDtoH(&number, value, sizeof number), CUDA_SUCCESS);
    return number;
  }
  int launch(CUgraph graph, int times) const {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    int const number = run(exec, times);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    return number;
  }
  // A copy of one int of the device.
  static CUDA_MEMCPY3D of_words(CUdeviceptr to, CUdeviceptr from) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = sizeof(int);
    copy.Height = copy.Depth = 1;
    return copy;
  }
  // The result of a call that prints why it failed.
  template <class Call>
  static CUresult refused(Call call) {
    ::testing::internal::CaptureStderr();
    CUresult const result = call();
    EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
    return result;
  }

  CUmodule module = nullptr;
  CUfunction add_one = nullptr;
  CUfunction store = nullptr;
  CUdeviceptr value = 0;
  CUstream stream = nullptr;
};

TEST_F(DriverGraphs, LaunchesOfTheDriverAreCaptured) {
  std::array<void*, 1> arguments{&value};
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(cuLaunchKernel(add_one, 1, 1, 1, 1, 1, 1, 0, stream, arguments.data(), nullptr), CUDA_SUCCESS);
  CUstreamCaptureStatus status{};
  std::size_t count = 0;
  EXPECT_EQ(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(launch(graph, 3), 6);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverGraphs, NodesAreMadeOfTheDriversStructures) {
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  int number = 41;
  std::array<void*, 2> arguments{&value, &number};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = store;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments.data();
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
  ASSERT_EQ(cuGraphAddKernelNode(&first, graph, nullptr, 0, &kernel), CUDA_SUCCESS);
  kernel.func = add_one;
  ASSERT_EQ(cuGraphAddKernelNode(&second, graph, &first, 1, &kernel), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS found{};
  ASSERT_EQ(cuGraphKernelNodeGetParams(first, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.func, store);
  EXPECT_EQ(*static_cast<int*>(found.kernelParams[1]), 41);
  kernel.blockDimX = 2048;
  EXPECT_EQ(cuGraphAddKernelNode(&second, graph, nullptr, 0, &kernel), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(graph, 2), 42);

  CUDA_MEMSET_NODE_PARAMS const fill{value, 0, 7, 4, 1, 1};
  CUgraph inner = nullptr;
  ASSERT_EQ(cuGraphCreate(&inner, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemsetNode(&first, inner, nullptr, 0, &fill, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddChildGraphNode(&first, graph, &second, 1, inner), CUDA_SUCCESS);
  EXPECT_EQ(launch(graph, 1), 7);
  EXPECT_EQ(cuGraphDestroy(inner), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverGraphs, NodesOfAnyKindAreMadeOfOneStructure) {
  CUgraph graph = nullptr;
  CUgraphNode fill = nullptr;
  CUgraphNode kernel = nullptr;
  CUgraphNode copy = nullptr;
  CUgraphNode empty = nullptr;
  CUdeviceptr other = 0;
  ASSERT_EQ(cuMemAlloc(&other, sizeof(int)), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {other, 0, 5, 4, 1, 1, nullptr};
  ASSERT_EQ(cuGraphAddNode(&fill, graph, nullptr, nullptr, 0, &params), CUDA_SUCCESS);
  std::array<void*, 1> arguments{&other};
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel = {add_one, 1, 1, 1, 1, 1, 1, 0, arguments.data(), nullptr, nullptr, nullptr};
  ASSERT_EQ(cuGraphAddNode(&kernel, graph, &fill, nullptr, 1, &params), CUDA_SUCCESS);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  params.memcpy.copyParams = of_words(value, other);
  ASSERT_EQ(cuGraphAddNode(&copy, graph, &kernel, nullptr, 1, &params), CUDA_SUCCESS);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  ASSERT_EQ(cuGraphAddNode(&empty, graph, &copy, nullptr, 1, &params), CUDA_SUCCESS);
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  EXPECT_EQ(refused([&] { return cuGraphAddNode(&empty, graph, nullptr, nullptr, 0, &params); }),
            CUDA_ERROR_NOT_SUPPORTED);
  CUgraphConditionalHandle handle = 0;
  EXPECT_EQ(refused([&] { return cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0); }),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(launch(graph, 1), 6);

  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {other, 0, 8, 4, 1, 1, nullptr};
  EXPECT_EQ(cuGraphNodeSetParams(fill, &params), CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS how{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, nullptr, nullptr, {}};
  ASSERT_EQ(cuGraphInstantiateWithParams(&exec, graph, &how), CUDA_SUCCESS);
  EXPECT_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  cuuint64_t flags = 0;
  EXPECT_EQ(cuGraphExecGetFlags(exec, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY});
  EXPECT_EQ(run(exec), 9);
  params.memset.value = 20;
  EXPECT_EQ(cuGraphExecNodeSetParams(exec, fill, &params), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 21);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(other), CUDA_SUCCESS);
}

TEST_F(DriverGraphs, NodesGiveBackAndChangeTheirParameters) {
  CUgraph graph = nullptr;
  CUgraphNode fill = nullptr;
  CUgraphNode copy = nullptr;
  CUgraphNode host = nullptr;
  CUdeviceptr words = 0;
  int calls = 0;
  ASSERT_EQ(cuMemAlloc(&words, 2 * sizeof(int)), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(words, 3, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);  // the stream does not wait for the default one
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS set{words, 0, 7, 4, 1, 1};
  CUDA_MEMCPY3D move = of_words(value, words);
  CUDA_HOST_NODE_PARAMS call{[](void* data) { ++*static_cast<int*>(data); }, &calls};
  ASSERT_EQ(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &set, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &move, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddHostNode(&host, graph, &copy, 1, &call), CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 7);
  EXPECT_EQ(calls, 1);

  set.value = 8;
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(exec, fill, &set, context), CUDA_SUCCESS);
  call.fn = [](void* data) { *static_cast<int*>(data) += 10; };
  EXPECT_EQ(cuGraphExecHostNodeSetParams(exec, host, &call), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 8);
  EXPECT_EQ(calls, 11);
  move = of_words(value, words + 4);
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(exec, copy, &move, context), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 3);

  EXPECT_EQ(cuGraphMemsetNodeSetParams(fill, &set), CUDA_SUCCESS);
  set = {};
  EXPECT_EQ(cuGraphMemsetNodeGetParams(fill, &set), CUDA_SUCCESS);
  EXPECT_EQ(set.dst, words);
  EXPECT_EQ(set.value, 8u);
  EXPECT_EQ(cuGraphMemcpyNodeSetParams(copy, &move), CUDA_SUCCESS);
  move = {};
  EXPECT_EQ(cuGraphMemcpyNodeGetParams(copy, &move), CUDA_SUCCESS);
  EXPECT_EQ(move.srcMemoryType, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(move.srcDevice, words + 4);
  EXPECT_EQ(move.WidthInBytes, sizeof(int));
  EXPECT_EQ(cuGraphHostNodeSetParams(host, &call), CUDA_SUCCESS);
  call = {};
  EXPECT_EQ(cuGraphHostNodeGetParams(host, &call), CUDA_SUCCESS);
  EXPECT_EQ(call.userData, &calls);
  EXPECT_EQ(cuGraphHostNodeGetParams(copy, &call), CUDA_ERROR_INVALID_VALUE) << "of another kind";
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(words), CUDA_SUCCESS);
}

TEST_F(DriverGraphs, NodesHaveEdgesAndKernelsAttributes) {
  CUgraph graph = nullptr;
  std::array<CUgraphNode, 2> nodes{};
  std::array<void*, 1> arguments{&value};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = add_one;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments.data();
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &kernel), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel), CUDA_SUCCESS);
  CUgraphNode found = nullptr;
  std::size_t count = 1;
  EXPECT_EQ(cuGraphNodeGetDependencies(nodes[1], &found, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(found, nodes[0]);
  EXPECT_EQ(cuGraphNodeGetDependentNodes(nodes[0], &found, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(found, nodes[1]);
  EXPECT_EQ(cuGraphRemoveDependencies(graph, &nodes[0], &nodes[1], nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeGetDependencies(nodes[1], nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0u);

  CUkernelNodeAttrValue attribute{};
  attribute.priority = 3;
  EXPECT_EQ(cuGraphKernelNodeSetAttribute(nodes[0], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &attribute), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphKernelNodeCopyAttributes(nodes[1], nodes[0]), CUDA_SUCCESS);
  attribute = {};
  EXPECT_EQ(cuGraphKernelNodeGetAttribute(nodes[1], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &attribute), CUDA_SUCCESS);
  EXPECT_EQ(attribute.priority, 3);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverGraphs, EventsAndGraphsAreNodes) {
  std::array<CUevent, 2> events{};
  for (CUevent& event : events) ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraph inner = nullptr;
  CUgraph found_graph = nullptr;
  CUgraphNode record = nullptr;
  CUgraphNode wait = nullptr;
  CUgraphNode child = nullptr;
  CUgraphNode node = nullptr;
  CUevent found = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&inner, 0), CUDA_SUCCESS);
  CUDA_MEMSET_NODE_PARAMS set{value, 0, 7, 4, 1, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&node, inner, nullptr, 0, &set, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, events[0]), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventWaitNode(&wait, graph, &record, 1, events[0]), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddChildGraphNode(&child, graph, &wait, 1, inner), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeSetEvent(record, events[1]), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(record, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, events[1]);
  EXPECT_EQ(cuGraphEventWaitNodeSetEvent(wait, events[1]), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventWaitNodeGetEvent(wait, &found), CUDA_SUCCESS);
  EXPECT_EQ(found, events[1]);
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(child, &found_graph), CUDA_SUCCESS);
  EXPECT_NE(found_graph, inner) << "a copy";

  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecEventRecordNodeSetEvent(exec, record, events[0]), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecEventWaitNodeSetEvent(exec, wait, events[0]), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 7);
  set.value = 9;
  EXPECT_EQ(cuGraphMemsetNodeSetParams(node, &set), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecChildGraphNodeSetParams(exec, child, inner), CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 9);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(inner), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  for (CUevent const event : events) EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(DriverGraphs, MemoryIsAllocatedAndFreedByNodes) {
  CUgraph graph = nullptr;
  CUgraphNode allocation = nullptr;
  CUgraphNode copy = nullptr;
  CUgraphNode free = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params.bytesize = sizeof(int);
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params), CUDA_SUCCESS);
  CUdeviceptr const memory = params.dptr;
  EXPECT_NE(memory, 0u);
  CUgraphNode fill = nullptr;
  CUDA_MEMSET_NODE_PARAMS const set{memory, 0, 4, 4, 1, 1};
  CUDA_MEMCPY3D const move = of_words(value, memory);
  ASSERT_EQ(cuGraphAddMemsetNode(&fill, graph, &allocation, 1, &set, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &move, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&free, graph, &copy, 1, memory), CUDA_SUCCESS);
  params = {};
  EXPECT_EQ(cuGraphMemAllocNodeGetParams(allocation, &params), CUDA_SUCCESS);
  EXPECT_EQ(params.dptr, memory);
  EXPECT_EQ(params.bytesize, sizeof(int));
  CUdeviceptr freed = 0;
  EXPECT_EQ(cuGraphMemFreeNodeGetParams(free, &freed), CUDA_SUCCESS);
  EXPECT_EQ(freed, memory);
  EXPECT_EQ(launch(graph, 2), 4);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverGraphs, UserObjectsLiveAsLongAsTheirGraph) {
  int destroyed = 0;
  CUuserObject object = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(
      cuUserObjectCreate(
          &object, &destroyed, [](void* data) { ++*static_cast<int*>(data); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
      CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRetain(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, 2, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 1);
}

TEST(DriverContext, EndsWithItsLastUserAlsoAfterCallsOfGraphs) {
  CUcontext context = nullptr;
  CUgraph graph = nullptr;
  unsigned flags = 0;
  int is_active = -1;
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &is_active), CUDA_SUCCESS);
  EXPECT_EQ(is_active, 0);
}

}}  // namespace cuda_cpu::libcuda
