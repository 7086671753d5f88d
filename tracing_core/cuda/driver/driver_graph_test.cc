// The methods of Driver for graphs, and for calls that a driver may lack.
#define TRACE_TARGET "tracing::cuda_test"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tracing_core/cuda/driver/driver_test_support.h"

namespace tracing::cuda_test { namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

DriverApi with_graphs() {
  DriverApi api = answering();
  api.stream_begin_capture = [](CUstream, CUstreamCaptureMode) { return CUDA_SUCCESS; };
  api.stream_end_capture = [](CUstream, CUgraph* graph) {
    *graph = handle<CUgraph>(8);
    return CUDA_SUCCESS;
  };
  api.graph_get_nodes = [](CUgraph, CUgraphNode*, std::size_t* count) {
    *count = 3;
    return CUDA_SUCCESS;
  };
  api.graph_destroy = [](CUgraph) { return CUDA_SUCCESS; };
  api.graph_instantiate_with_flags = [](CUgraphExec* exec, CUgraph, unsigned long long) {
    *exec = handle<CUgraphExec>(16);
    return CUDA_SUCCESS;
  };
  api.graph_exec_destroy = [](CUgraphExec) { return CUDA_SUCCESS; };
  api.graph_launch = [](CUgraphExec, CUstream) {
    answers.launched.push_back(current_launch());
    return answers.launch;
  };
  return api;
}

CUgraphExec captured(Driver& driver) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  driver.stream_begin_capture(nullptr, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  driver.stream_end_capture(nullptr, &graph);
  driver.graph_instantiate(&exec, graph, 0);
  driver.graph_destroy(graph);
  return exec;
}

TEST(DriverGraph, HasSpansForItsCalls) {
  EXPECT_EQ(printed_of_driver(
                [] {
                  Driver driver(with_graphs());
                  CUgraphExec const exec = captured(driver);
                  driver.graph_launch(exec, nullptr);
                  driver.stream_synchronize(nullptr);
                  driver.graph_exec_destroy(exec);
                },
                SpanEvents::new_span),
            "TRACE stream_begin_capture{stream=0 mode=\"thread_local\"}: tracing::cuda_test: new\n"
            "TRACE stream_end_capture{stream=0}: tracing::cuda_test: new\n"
            "TRACE graph_instantiate{flags=0}: tracing::cuda_test: new\n"
            "TRACE graph_instantiate{flags=0}: tracing::cuda_test: instantiated graph=1 nodes=3\n"
            "TRACE graph_destroy: tracing::cuda_test: new\n"
            "TRACE graph_launch{graph=1 nodes=3 stream=0 launch=#1}: tracing::cuda_test: new\n"
            "TRACE graph_launch{graph=1 nodes=3 stream=0 launch=#1}: tracing::cuda_test: launched\n"
            "TRACE stream_synchronize{stream=0}: tracing::cuda_test: new\n"
            "TRACE graph_launch{graph=1 nodes=3 stream=0 launch=#1}: tracing::cuda_test: completed launch=#1 "
            "observed_by=cuStreamSynchronize after_us=<us>\n"
            "TRACE graph_exec_destroy{graph=1}: tracing::cuda_test: new\n");
}

TEST(DriverGraph, IsOutstandingUntilItsEndIsObserved) {
  Driver driver(with_graphs());
  driver.graph_launch(captured(driver), nullptr);
  ASSERT_THAT(driver.outstanding_launches(), SizeIs(1));
  EXPECT_EQ(driver.outstanding_launches().front().kernel, "graph 1");
  driver.stream_synchronize(nullptr);
  EXPECT_THAT(driver.outstanding_launches(), SizeIs(0));
}

TEST(DriverGraph, IsNamedByTheErrorThatOneOfItsKernelsCaused) {
  Driver driver(with_graphs());
  driver.graph_launch(captured(driver), nullptr);
  answers.synchronize = CUDA_ERROR_ILLEGAL_ADDRESS;
  driver.stream_synchronize(nullptr);
  ASSERT_TRUE(driver.loss());
  EXPECT_THAT(driver.loss()->to_string(), HasSubstr("of graph 1, the only one outstanding"));
}

TEST(DriverGraph, IsNotOutstandingIfItsLaunchWasRefused) {
  Driver driver(with_graphs());
  answers.launch = CUDA_ERROR_INVALID_VALUE;
  std::string const text = printed_of_driver([&] { driver.graph_launch(captured(driver), nullptr); });
  EXPECT_THAT(text, HasSubstr("cuGraphLaunch(graph 1, the default stream) failed"));
  EXPECT_THAT(driver.outstanding_launches(), SizeIs(0));
}

TEST(DriverCalls, FailWithAnErrorThatNamesThemIfTheDriverLacksThem) {
  CUresult result = CUDA_SUCCESS;
  std::string const text = printed_of_driver([&] {
    Driver driver(answering());
    result = driver.memcpy_peer(0, nullptr, 0, nullptr, 64);
  });
  EXPECT_EQ(result, CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(text, HasSubstr("cuMemcpyPeer(64 bytes) failed"));
}

}}  // namespace tracing::cuda_test
