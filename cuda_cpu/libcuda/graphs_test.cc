// Graphs by the calls of the driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>

#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/libcuda/libcuda_test_support.h"

namespace cuda_cpu::libcuda {
namespace {

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

  int launch(CUgraph graph, int times) {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < times; ++i) EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    int number = -1;
    EXPECT_EQ(cuMemcpyDtoH(&number, value, sizeof number), CUDA_SUCCESS);
    return number;
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

}  // namespace
}  // namespace cuda_cpu::libcuda
