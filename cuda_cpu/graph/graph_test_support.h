// For tests of captures and graphs: kernels that are registered as nvcc's code registers them, memory, and streams.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "cuda_cpu/cpu/cpu_test_kernels.h"

extern "C" {
void** __cudaRegisterFatBinary(void const* image);
void __cudaRegisterFunction(void** handle, char const* host_function, char*, char const* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host_variable, char*, char const* name, int, std::size_t bytes, int, int);
}

namespace cuda_cpu::graph {

/// Three kernels of kTestKernels, and a variable: only the addresses count. `set` is store(). The result of all three
/// depends on their order.
struct OrderKernels {
  char set = 0;
  char add = 0;
  char multiply = 0;
  char variable = 0;
};

inline OrderKernels& order_kernels() {
  static auto& its = *[] {
    auto* const kernels = new OrderKernels;
    void** const handle = __cudaRegisterFatBinary(kTestKernels);
    auto const add = [&](char const& host, char const* name) {
      __cudaRegisterFunction(handle, &host, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    add(kernels->set, "store");
    add(kernels->add, "add");
    add(kernels->multiply, "multiply");
    __cudaRegisterVar(handle, &kernels->variable, nullptr, "counter", 0, sizeof(int), 0, 0);
    return kernels;
  }();
  return its;
}

class Graphs : public ::testing::Test {
 protected:
  Graphs() {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&value), sizeof(int)), cudaSuccess);
    write(0);
    for (cudaStream_t* const its : {&stream, &other})
      EXPECT_EQ(cudaStreamCreateWithFlags(its, cudaStreamNonBlocking), cudaSuccess);
    for (cudaEvent_t* const its : {&event, &second_event}) EXPECT_EQ(cudaEventCreate(its), cudaSuccess);
    static_cast<void>(cudaGetLastError());
  }
  ~Graphs() override {
    if (exec != nullptr) {
      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    }
    if (graph != nullptr) {
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    for (cudaEvent_t const its : {event, second_event}) EXPECT_EQ(cudaEventDestroy(its), cudaSuccess);
    for (cudaStream_t const its : {stream, other}) EXPECT_EQ(cudaStreamDestroy(its), cudaSuccess);
    EXPECT_EQ(cudaFree(value), cudaSuccess);
  }

  /// Launches set, add or multiply on `value`.
  cudaError_t launch(char const& kernel, int number, cudaStream_t on) {
    void* arguments[] = {&value, &number};
    return cudaLaunchKernel(&kernel, dim3(1), dim3(1), arguments, 0, on);
  }
  /// Adds a node that does what launch() does.
  cudaGraphNode_t add_kernel(char const& kernel, int number, std::vector<cudaGraphNode_t> const& after = {}) {
    cudaGraphNode_t node = nullptr;
    void* arguments[] = {&value, &number};
    cudaKernelNodeParams params{};
    params.func = const_cast<char*>(&kernel);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params), cudaSuccess);
    return node;
  }
  void make_graph() { ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess); }
  void instantiate() { ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess); }
  /// Launches `exec`. Returns the value afterwards.
  int launch_graph() {
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return read();
  }
  int read() const {
    int number = -1;
    EXPECT_EQ(cudaMemcpy(&number, value, sizeof number, cudaMemcpyDeviceToHost), cudaSuccess);
    return number;
  }
  void write(int number) { EXPECT_EQ(cudaMemcpy(value, &number, sizeof number, cudaMemcpyHostToDevice), cudaSuccess); }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  }
  cudaError_t end() { return cudaStreamEndCapture(stream, &graph); }
  cudaStreamCaptureStatus status_of(cudaStream_t its) const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(its, &status), cudaSuccess);
    return status;
  }
  std::vector<cudaGraphNodeType> types() const {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    std::vector<cudaGraphNode_t> nodes(count);
    EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
    std::vector<cudaGraphNodeType> types(count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(cudaGraphNodeGetType(nodes[i], &types[i]), cudaSuccess);
    return types;
  }

  OrderKernels& kernels = order_kernels();
  int* value = nullptr;
  cudaStream_t stream = nullptr;  // non-blocking, as is the other
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  cudaEvent_t second_event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

}  // namespace cuda_cpu::graph
