// A Driver over libcuda.so.1, as a program with load_driver() finds this library on a machine without a GPU: the Driver
// and the library's own Driver make each call together.
#define TRACE_TARGET "user"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string>

#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "tests/support/printed.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/driver_library.h"
#include "tracing_core/tracing.h"

namespace user { namespace {

using testing::HasSubstr;
using testing::Not;

// A kernel fails on purpose. The library reads the variable when it is loaded.
int const ignored = setenv("TRACE_CUDA_STATUS", "off", 1);

class UnderDriver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(loaded_, nullptr) << dlerror();
    ASSERT_TRUE(library_) << library_.explanation;
    ASSERT_EQ(driver_.open_device(0), CUDA_SUCCESS);
    ASSERT_EQ(driver_.module_load(&module_, cuda_cpu::kTestKernels, "kernels", sizeof cuda_cpu::kTestKernels),
              CUDA_SUCCESS);
  }
  CUfunction function(char const* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(driver_.module_get_function(&found, module_, name), CUDA_SUCCESS);
    return found;
  }

  // load_driver() then finds this library by its name.
  void* const loaded_ = dlopen(LIBCUDA, RTLD_NOW);
  tracing::cuda::DriverLibrary library_ = tracing::cuda::load_driver();
  tracing::cuda::Driver driver_{library_.api};
  CUmodule module_ = nullptr;
};

// Returns the lines of `emit` without times and numbers of launches.
template <class F>
std::string lines(F emit) {
  tracing::FormatOptions format;
  format.timer = nullptr;
  std::string text = tracing_test::printed({.event_format = tracing::make_event_format(format)}, emit,
                                           "trace,tracing::cuda::device=off,tracing::cuda::compile=off,cuda_cpu=off");
  text = std::regex_replace(text, std::regex("launch([= ])[0-9]+"), "launch$01#");
  text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "<pointer>");
  return std::regex_replace(text, std::regex("(after_us|duration_us|gb_per_s)=[0-9.e+-]+"), "$1=<n>");
}

TEST_F(UnderDriver, RecordsEachCallOnce) {
  CUfunction const store = function("store");
  EXPECT_EQ(lines([&] {
              CUdeviceptr memory = 0;
              int value = 7;
              void* arguments[] = {&memory, &value};
              driver_.mem_alloc(&memory, sizeof value);
              driver_.launch_kernel(store, {1}, {1}, 0, nullptr, arguments);
              driver_.ctx_synchronize();
              driver_.mem_free(memory);
            }),
            "TRACE mem_alloc{bytes=4 device=0}: user: allocated pointer=<pointer>\n"
            "TRACE launch{kernel.name=store grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream=0 device=0 "
            "launch=#}: user: launched\n"
            "TRACE launch{kernel.name=store grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream=0 device=0 "
            "launch=#}: user: completed launch=# observed_by=cuCtxSynchronize after_us=<n>\n"
            "TRACE mem_free{pointer=<pointer>}: user: freed bytes=4\n");
}

TEST_F(UnderDriver, SaysWhatTheLibraryKnowsOfAFailedCall) {
  std::string const text = lines([&] { driver_.mem_free(16); });
  EXPECT_THAT(text, HasSubstr("ERROR mem_free{pointer=<pointer>}: user: cuMemFree(<pointer>) failed: "));
  EXPECT_THAT(text, HasSubstr("detail=\""));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(UnderDriver, RecordsTheNodesBelowTheLaunchOfTheirGraph) {
  CUfunction const store = function("store");
  std::string const text = lines([&] {
    CUdeviceptr memory = 0;
    int value = 7;
    void* arguments[] = {&memory, &value};
    driver_.mem_alloc(&memory, sizeof value);
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    driver_.stream_create(&stream, CU_STREAM_NON_BLOCKING);
    driver_.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    driver_.launch_kernel(store, {1}, {1}, 0, stream, arguments);
    driver_.stream_end_capture(stream, &graph);
    driver_.graph_instantiate(&exec, graph, 0);
    driver_.graph_launch(exec, stream);
    driver_.stream_synchronize(stream);
  });
  EXPECT_THAT(text, HasSubstr("TRACE graph_launch{graph=1 nodes=1 stream=1 launch=#}:launch{kernel.name=store "));
  EXPECT_THAT(text, HasSubstr("TRACE graph_launch{graph=1 nodes=1 stream=1 launch=#}: user: launched\n"));
  EXPECT_THAT(text, Not(HasSubstr("graph_launch{graph=1 nodes=1 stream=1 launch=#}:graph_launch{"))) << text;
}

// Last, since the context is lost afterwards.
TEST_F(UnderDriver, TheLaunchThatFailedIsKnown) {
  CUfunction const store = function("store");
  std::string const text = lines([&] {
    CUdeviceptr nowhere = 16;
    CUdeviceptr memory = 0;
    int value = 7;
    void* good[] = {&memory, &value};
    void* bad[] = {&nowhere, &value};
    driver_.mem_alloc(&memory, sizeof value);
    CUstream streams[2] = {};
    for (CUstream& stream : streams) driver_.stream_create(&stream, CU_STREAM_NON_BLOCKING);
    driver_.launch_kernel(store, {1}, {1}, 0, streams[0], good);
    driver_.launch_kernel(store, {1}, {2}, 0, streams[1], bad);
    driver_.ctx_synchronize();
  });
  EXPECT_THAT(text, HasSubstr("block=(2, 1, 1) shared_bytes=0 stream=2 device=0 launch=#}: user: launch # of "
                              "store caused the failure error=CUDA_ERROR_ILLEGAL_ADDRESS detail=\""))
      << text;
}

}}  // namespace user
