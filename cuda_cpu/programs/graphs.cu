// CUDA graphs: a sum of many numbers, reduced in two kernels, as a captured graph, by hand, updated, and over two streams.
#include <cstring>
#include <numeric>
#include <vector>

#include "check.h"

namespace {

constexpr int kCount = 1 << 14;
constexpr int kBlocks = 32;
constexpr int kThreads = 128;

// Each block leaves the sum of its part in sums[block].
__global__ void reduce(float const* input, double* sums, int count) {
  __shared__ double parts[kThreads];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += input[i];
  parts[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = parts[0];
}

__global__ void reduce_final(double const* sums, double* result, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += sums[i];
  *result = sum;
}

__global__ void scale(float* values, float factor, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

// A result on the host that a graph copies there, and how often its host function was called with it.
struct Result {
  double value = 0;
  int calls = 0;

  static void CUDART_CB count(void* data) { ++static_cast<Result*>(data)->calls; }
};

struct Fixture {
  std::vector<float> input = std::vector<float>(kCount);
  double expected = 0;
  float* device_input = nullptr;
  double* sums = nullptr;
  double* device_result = nullptr;
  Result result;
  cudaStream_t stream = nullptr;

  Fixture() {
    for (int i = 0; i < kCount; ++i) input[i] = static_cast<float>(i % 17);
    expected = std::accumulate(input.begin(), input.end(), 0.0);
    CUDA(cudaMalloc(&device_input, kCount * sizeof(float)));
    CUDA(cudaMalloc(&sums, kBlocks * sizeof(double)));
    CUDA(cudaMalloc(&device_result, sizeof(double)));
    CUDA(cudaStreamCreate(&stream));
  }
  ~Fixture() {
    CUDA(cudaStreamDestroy(stream));
    for (void* const memory : {static_cast<void*>(device_input), static_cast<void*>(sums), static_cast<void*>(device_result)})
      CUDA(cudaFree(memory));
  }

  void launch(cudaGraph_t graph, int times) {
    cudaGraphExec_t exec = nullptr;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    result = {};
    for (int i = 0; i < times; ++i) CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
  }
};

cudaGraph_t capture(Fixture& f) {
  cudaGraph_t graph = nullptr;
  CUDA(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemcpyAsync(f.device_input, f.input.data(), kCount * sizeof(float), cudaMemcpyDefault, f.stream));
  CUDA(cudaMemsetAsync(f.sums, 0, kBlocks * sizeof(double), f.stream));
  reduce<<<kBlocks, kThreads, 0, f.stream>>>(f.device_input, f.sums, kCount);
  reduce_final<<<1, 1, 0, f.stream>>>(f.sums, f.device_result, kBlocks);
  CUDA(cudaMemcpyAsync(&f.result.value, f.device_result, sizeof(double), cudaMemcpyDefault, f.stream));
  CUDA(cudaLaunchHostFunc(f.stream, Result::count, &f.result));
  CUDA(cudaStreamEndCapture(f.stream, &graph));
  return graph;
}

void a_captured_graph_runs_as_often_as_it_is_launched() {
  Fixture f;
  cudaGraph_t const graph = capture(f);
  CHECK(f.result.calls == 0);
  f.launch(graph, 3);
  CHECK(f.result.value == f.expected && f.result.calls == 3);

  cudaGraph_t clone = nullptr;
  CUDA(cudaGraphClone(&clone, graph));
  CUDA(cudaGraphDestroy(graph));
  f.launch(clone, 2);
  CHECK(f.result.value == f.expected && f.result.calls == 2);
  CUDA(cudaGraphDestroy(clone));
}

void a_graph_by_hand_does_the_same() {
  Fixture f;
  cudaGraph_t graph = nullptr;
  CUDA(cudaGraphCreate(&graph, 0));
  std::vector<cudaGraphNode_t> before;
  cudaGraphNode_t node = nullptr;

  cudaMemcpy3DParms copy_in = {};
  copy_in.srcPtr = make_cudaPitchedPtr(f.input.data(), kCount * sizeof(float), kCount, 1);
  copy_in.dstPtr = make_cudaPitchedPtr(f.device_input, kCount * sizeof(float), kCount, 1);
  copy_in.extent = make_cudaExtent(kCount * sizeof(float), 1, 1);
  copy_in.kind = cudaMemcpyHostToDevice;
  CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy_in));
  before.push_back(node);

  cudaMemsetParams clear = {};
  clear.dst = f.sums;
  clear.elementSize = 4;
  clear.width = kBlocks * 2;
  clear.height = 1;
  CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &clear));
  before.push_back(node);

  int count = kCount;
  void* reduce_arguments[] = {&f.device_input, &f.sums, &count};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(reduce);
  kernel.gridDim = dim3(kBlocks);
  kernel.blockDim = dim3(kThreads);
  kernel.kernelParams = reduce_arguments;
  CUDA(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &kernel));

  int blocks = kBlocks;
  void* final_arguments[] = {&f.sums, &f.device_result, &blocks};
  kernel.func = reinterpret_cast<void*>(reduce_final);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = final_arguments;
  CUDA(cudaGraphAddKernelNode(&node, graph, &node, 1, &kernel));
  CUDA(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, &f.result.value, f.device_result, sizeof(double), cudaMemcpyDeviceToHost));
  cudaHostNodeParams const host{Result::count, &f.result};
  CUDA(cudaGraphAddHostNode(&node, graph, &node, 1, &host));

  size_t nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 6);
  size_t roots = 0;
  CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(roots == 2);
  f.launch(graph, 2);
  CHECK(f.result.value == f.expected && f.result.calls == 2);
  CUDA(cudaGraphDestroy(graph));
}

// As in programs that capture each step again and instantiate only when its shape has changed.
void an_executable_graph_is_updated() {
  Fixture f;
  cudaGraphExec_t exec = nullptr;
  double expected = f.expected;
  CUDA(cudaMemcpy(f.device_input, f.input.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  for (float const factor : {2.0f, 3.0f, 0.5f}) {
    cudaGraph_t graph = nullptr;
    CUDA(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeThreadLocal));
    scale<<<kCount / kThreads, kThreads, 0, f.stream>>>(f.device_input, factor, kCount);
    reduce<<<kBlocks, kThreads, 0, f.stream>>>(f.device_input, f.sums, kCount);
    reduce_final<<<1, 1, 0, f.stream>>>(f.sums, f.device_result, kBlocks);
    CUDA(cudaMemcpyAsync(&f.result.value, f.device_result, sizeof(double), cudaMemcpyDeviceToHost, f.stream));
    CUDA(cudaStreamEndCapture(f.stream, &graph));
    cudaGraphExecUpdateResultInfo info = {};
    if (exec == nullptr) CUDA(cudaGraphInstantiate(&exec, graph, 0));
    else CUDA(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphLaunch(exec, f.stream));
    CUDA(cudaStreamSynchronize(f.stream));
    expected *= factor;
    CHECK(f.result.value == expected);
  }
  CUDA(cudaGraphExecDestroy(exec));
}

// Two halves on two streams that join before the sum of both.
void streams_fork_and_join() {
  Fixture f;
  cudaStream_t other = nullptr;
  cudaEvent_t forked = nullptr;
  cudaEvent_t joined = nullptr;
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CUDA(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  cudaGraph_t graph = nullptr;
  CUDA(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemcpyAsync(f.device_input, f.input.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, f.stream));
  CUDA(cudaEventRecord(forked, f.stream));
  CUDA(cudaStreamWaitEvent(other, forked, 0));
  reduce<<<kBlocks / 2, kThreads, 0, f.stream>>>(f.device_input, f.sums, kCount / 2);
  reduce<<<kBlocks / 2, kThreads, 0, other>>>(f.device_input + kCount / 2, f.sums + kBlocks / 2, kCount / 2);
  CUDA(cudaEventRecord(joined, other));
  CUDA(cudaStreamWaitEvent(f.stream, joined, 0));
  reduce_final<<<1, 1, 0, f.stream>>>(f.sums, f.device_result, kBlocks);
  CUDA(cudaMemcpyAsync(&f.result.value, f.device_result, sizeof(double), cudaMemcpyDeviceToHost, f.stream));
  CUDA(cudaStreamEndCapture(f.stream, &graph));

  size_t edges = 0;
  CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(edges == 5);
  f.launch(graph, 1);
  CHECK(f.result.value == f.expected);
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaEventDestroy(forked));
  CUDA(cudaEventDestroy(joined));
  CUDA(cudaStreamDestroy(other));
}

void memory_is_part_of_a_graph() {
  Fixture f;
  cudaGraph_t graph = nullptr;
  double* temporary = nullptr;
  CUDA(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMallocAsync(&temporary, kBlocks * sizeof(double), f.stream));
  CUDA(cudaMemcpyAsync(f.device_input, f.input.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, f.stream));
  reduce<<<kBlocks, kThreads, 0, f.stream>>>(f.device_input, temporary, kCount);
  reduce_final<<<1, 1, 0, f.stream>>>(temporary, f.device_result, kBlocks);
  CUDA(cudaFreeAsync(temporary, f.stream));
  CUDA(cudaMemcpyAsync(&f.result.value, f.device_result, sizeof(double), cudaMemcpyDeviceToHost, f.stream));
  CUDA(cudaStreamEndCapture(f.stream, &graph));
  f.launch(graph, 2);
  CHECK(f.result.value == f.expected);
  CUDA(cudaGraphDestroy(graph));
}

void what_does_not_fit_a_capture_fails() {
  Fixture f;
  cudaGraph_t graph = nullptr;
  void* memory = nullptr;
  CUDA(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
  CUDA_FAILS(cudaErrorStreamCaptureUnsupported, cudaMalloc(&memory, 16));
  CUDA_FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(f.stream, &graph));
  CHECK(graph == nullptr);
  cudaGetLastError();
  reduce<<<kBlocks, kThreads, 0, f.stream>>>(f.device_input, f.sums, 0);
  CUDA(cudaGetLastError());
  CUDA(cudaStreamSynchronize(f.stream));
}

}  // namespace

int main() {
  a_captured_graph_runs_as_often_as_it_is_launched();
  a_graph_by_hand_does_the_same();
  an_executable_graph_is_updated();
  streams_fork_and_join();
  memory_is_part_of_a_graph();
  what_does_not_fit_a_capture_fails();
}
