// Spans and events of the runtime's and the driver's calls that the tests of tracing::cuda::Driver leave out: arrays,
// managed memory, modules, graphs.
#include <cuda.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>

#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/runtime/runtime_test_support.h"
#include "tests/approval.h"
#include "tests/support/printed.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu::runtime { namespace {

// Leaves out times and addresses; also the numbers of streams, launches and graphs, which count over the whole program.
std::string shown(std::function<void()> const& calls) {
  tracing::FormatOptions format;
  format.timer = nullptr;
  tracing::PrintOptions options{.event_format = tracing::make_event_format(format)};
  options.span_events = tracing::SpanEvents::exit;
  // Leaves out what the device does on a thread of its own.
  std::string text = tracing_test::printed(std::move(options), calls, "trace,tracing::cuda::device=off");
  text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "<pointer>");
  text = std::regex_replace(text, std::regex("(stream|graph|launch|texture|surface)=[0-9]+"), "$1=<n>");
  text = std::regex_replace(text, std::regex("([a-z]+_[mu]?s|gb_per_s)=[0-9.e+-]+"), "$1=<n>");
  return std::regex_replace(text, std::regex("cuda_cpu::runtime(::UnitWithStore)?: "), "");
}

TEST(RuntimeSpans, GiveShapeAndFormatOfArrays) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // opens the device
  tracing::testing::expect_approved(
      "spans/arrays.txt", shown([] {
        cudaArray_t array = nullptr;
        cudaChannelFormatDesc const four_floats = cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
        EXPECT_EQ(cudaMalloc3DArray(&array, &four_floats, {8, 4, 2}, cudaArraySurfaceLoadStore), cudaSuccess);
        EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
      }));
}

TEST(RuntimeSpans, SayWhereManagedMemoryShouldBe) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal), cudaSuccess);
  tracing::testing::expect_approved(
      "spans/managed.txt", shown([&] {
        EXPECT_EQ(
            cudaMemAdvise(memory, 64, cudaMemAdviseSetPreferredLocation, {.type = cudaMemLocationTypeHost, .id = 0}),
            cudaSuccess);
        EXPECT_EQ(cudaMemPrefetchAsync(memory, 64, {.type = cudaMemLocationTypeDevice, .id = 0}, 0, nullptr),
                  cudaSuccess);
        CUmemLocation const node{.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 1};
        EXPECT_EQ(cuMemPrefetchAsync(reinterpret_cast<CUdeviceptr>(memory), 32, node, 0, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cudaStreamAttachMemAsync(nullptr, memory, 64, cudaMemAttachHost), cudaSuccess);
      }));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(RuntimeSpans, RecordCopiesOnTheHost) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // opens the device
  int const from = 7;
  int to = 0;
  tracing::testing::expect_approved("spans/host_copies.txt", shown([&] {
                                      EXPECT_EQ(cudaMemcpy(&to, &from, sizeof to, cudaMemcpyDefault), cudaSuccess);
                                      EXPECT_EQ(cudaMemcpyAsync(&to, &from, sizeof to, cudaMemcpyHostToHost, nullptr),
                                                cudaSuccess);
                                    }));
  EXPECT_EQ(to, 7);
}

TEST(RuntimeSpans, NameModules) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // opens the device
  tracing::testing::expect_approved(
      "spans/modules.txt", shown([] {
        CUmodule module = nullptr;
        CUjit_option option = CU_JIT_OPTIMIZATION_LEVEL;
        void* level = nullptr;
        EXPECT_EQ(cuModuleLoadDataEx(&module, kTestKernels, 1, &option, &level), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
        cudaLibrary_t library = nullptr;
        EXPECT_EQ(cudaLibraryLoadData(&library, kTestKernels, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
        EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
      }));
}

TEST(RuntimeSpans, NameTheResourceOfTexturesAndSurfaces) {
  void* memory = nullptr;
  cudaArray_t array = nullptr;
  cudaChannelFormatDesc const floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  ASSERT_EQ(cudaMalloc(&memory, 256), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&array, &floats, 8, 4, cudaArraySurfaceLoadStore), cudaSuccess);
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {memory, floats, 256};
  cudaResourceDesc of_array{};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = array;
  cudaTextureDesc const how{};
  tracing::testing::expect_approved("spans/images.txt", shown([&] {
                                      cudaTextureObject_t texture = 0;
                                      cudaSurfaceObject_t surface = 0;
                                      EXPECT_EQ(cudaCreateTextureObject(&texture, &linear, &how, nullptr), cudaSuccess);
                                      EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
                                      EXPECT_EQ(cudaCreateSurfaceObject(&surface, &of_array), cudaSuccess);
                                      EXPECT_EQ(cuSurfObjectDestroy(surface), CUDA_SUCCESS);
                                    }));
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(RuntimeSpans, GiveTheBoundOfMemoryPools) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // opens the device
  tracing::testing::expect_approved("spans/pools.txt", shown([] {
                                      cudaMemPoolProps properties{};
                                      properties.maxSize = 4096;
                                      cudaMemPool_t pool = nullptr;
                                      EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
                                      EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
                                    }));
}

TEST(RuntimeSpans, NameTheNodesOfAGraphThatAProgramMakes) {
  DeviceInt const target;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  tracing::testing::expect_approved("spans/made_graph.txt", shown([&] {
                                      cudaGraph_t graph = nullptr;
                                      cudaGraph_t outer = nullptr;
                                      cudaGraphNode_t fill = nullptr;
                                      cudaGraphNode_t end = nullptr;
                                      cudaGraphExec_t exec = nullptr;
                                      EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
                                      cudaMemsetParams const zeros{target.its, 0, 0, 4, 1, 1};
                                      EXPECT_EQ(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros), cudaSuccess);
                                      EXPECT_EQ(cudaGraphAddEmptyNode(&end, graph, &fill, 1), cudaSuccess);
                                      EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
                                      EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                                                cudaSuccess);
                                      EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
                                      EXPECT_EQ(cudaStreamEndCapture(stream, &outer), cudaSuccess);
                                      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
                                      EXPECT_EQ(cudaGraphDestroy(outer), cudaSuccess);
                                      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
                                    }));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(RuntimeSpans, FollowAGraphFromItsCaptureToItsEnd) {
  UnitWithStore const unit;
  DeviceInt const target;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(unit.launch(target.its, stream), cudaSuccess);  // loads its module
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  tracing::testing::expect_approved("spans/graph.txt", shown([&] {
                                      cudaGraph_t graph = nullptr;
                                      cudaGraphExec_t exec = nullptr;
                                      void* memory = nullptr;
                                      EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
                                                cudaSuccess);
                                      EXPECT_EQ(cudaMallocAsync(&memory, 16, stream), cudaSuccess);
                                      EXPECT_EQ(cudaMemsetAsync(memory, 0, 16, stream), cudaSuccess);
                                      EXPECT_EQ(unit.launch(static_cast<int*>(memory), stream), cudaSuccess);
                                      EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
                                      EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
                                      EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
                                      cudaGraphExecUpdateResultInfo info{};
                                      EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &info), cudaSuccess);
                                      EXPECT_EQ(cudaGraphUpload(exec, stream), cudaSuccess);
                                      EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
                                      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
                                      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
                                      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
                                    }));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}}  // namespace cuda_cpu::runtime
