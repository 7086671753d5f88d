// A fault breaks the context until the process ends, so each of these tests runs in a separate process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/cpu/cpu_test_support.h"
#include "cuda_cpu/cpu/device.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/cuda/driver/launch_log.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu { namespace {

// The state of a child process. A failed check is printed to stderr and ends the process.
class Child {
 public:
  Child() {
    CUcontext context = nullptr;
    expect(api.init(0), CUDA_SUCCESS, "init");
    expect(api.device_primary_ctx_retain(&context, 0), CUDA_SUCCESS, "retain");
    expect(api.ctx_set_current(context), CUDA_SUCCESS, "set current");
    expect(api.module_load_data_ex(&module, kTestKernels, 0, nullptr, nullptr), CUDA_SUCCESS, "load");
  }

  static void expect(CUresult is, CUresult should, char const* what) {
    if (is == should) return;
    fprintf(stderr, "%s: got %d, expected %d: %s\n", what, is, should, cpu_driver_last_message().c_str());
    _exit(1);
  }
  static void expect(bool holds, char const* what) {
    if (holds) return;
    fprintf(stderr, "check failed: %s\n", what);
    _exit(1);
  }
  template <class... A>
  CUresult launch(CUstream stream, char const* name, A... arguments) {
    CUfunction function = nullptr;
    expect(api.module_get_function(&function, module, name), CUDA_SUCCESS, name);
    void* parameters[] = {&arguments..., nullptr};
    return api.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  }
  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    expect(api.mem_alloc(&address, bytes), CUDA_SUCCESS, "mem_alloc");
    return address;
  }

  tracing::cuda::DriverApi const api = cpu_driver_api();
  CUmodule module = nullptr;
};

class CpuFaultDeathTest : public ::testing::Test {
 protected:
  CpuFaultDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

#define EXPECT_CHILD(body) EXPECT_EXIT((body(), _exit(0)), ::testing::ExitedWithCode(0), "")

TEST_F(CpuFaultDeathTest, EveryLaterCallReturnsTheErrorOfTheFault) {
  auto const body = [] {
    Child child;
    auto const& api = child.api;
    auto const address = child.allocate(64);
    CUstream stream = nullptr;
    CUevent event = nullptr;
    Child::expect(api.stream_create(&stream, 0), CUDA_SUCCESS, "stream_create");
    Child::expect(api.event_create(&event, 0), CUDA_SUCCESS, "event_create");
    Child::expect(child.launch(stream, "store", address + (std::uint64_t{1} << 40), 1), CUDA_SUCCESS, "the launch");
    Child::expect(api.stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS, "stream_synchronize");
    CUdeviceptr other = 0;
    int value = 0;
    CUcontext context = nullptr;
    Child::expect(api.stream_query(stream), CUDA_ERROR_ILLEGAL_ADDRESS, "stream_query");
    Child::expect(api.stream_destroy(stream), CUDA_ERROR_ILLEGAL_ADDRESS, "stream_destroy");
    Child::expect(api.event_query(event), CUDA_ERROR_ILLEGAL_ADDRESS, "event_query");
    Child::expect(api.event_record(event, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS, "event_record");
    Child::expect(api.mem_alloc(&other, 4), CUDA_ERROR_ILLEGAL_ADDRESS, "mem_alloc");
    Child::expect(api.mem_free(address), CUDA_ERROR_ILLEGAL_ADDRESS, "mem_free");
    Child::expect(api.memcpy_dtoh(&value, address, 4), CUDA_ERROR_ILLEGAL_ADDRESS, "memcpy_dtoh");
    Child::expect(api.memset_d8_async(address, 0, 1, stream), CUDA_ERROR_ILLEGAL_ADDRESS, "memset_d8_async");
    Child::expect(api.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "ctx_synchronize");
    Child::expect(api.module_unload(child.module), CUDA_ERROR_ILLEGAL_ADDRESS, "module_unload");
    Child::expect(api.device_primary_ctx_retain(&context, 0), CUDA_ERROR_ILLEGAL_ADDRESS, "retain");
    int devices = 0;
    Child::expect(api.device_get_count(&devices), CUDA_SUCCESS, "device_get_count needs no context");
    Child::expect(api.device_primary_ctx_release(0), CUDA_SUCCESS, "release");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, FaultNamesItsLaunchKernelAndStream) {
  auto const body = [] {
    Child child;
    Child::expect(!cpu_driver_last_fault(), "there is none before");
    CUstream stream = nullptr;
    Child::expect(child.api.stream_create(&stream, 0), CUDA_SUCCESS, "stream_create");
    auto const address = child.allocate(64);
    Child::expect(child.launch(nullptr, "store", address, 1), CUDA_SUCCESS, "a launch that is well");
    tracing::cuda::LaunchId id = 0;
    {
      HeldUp const held(child.api, stream);  // holds the stream, or the next launch might already report the fault
      {
        tracing::cuda::internal::LaunchScope const scope;
        id = tracing::cuda::current_launch();
        Child::expect(child.launch(stream, "store", std::uint64_t{8}, 1), CUDA_SUCCESS, "one that is not");
      }
      Child::expect(child.launch(stream, "add_one", std::uint64_t{8}), CUDA_SUCCESS, "one that does not come to it");
    }
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "ctx_synchronize");
    auto const fault = cpu_driver_last_fault();
    Child::expect(fault.has_value(), "there is one");
    Child::expect(fault->code == CUDA_ERROR_ILLEGAL_ADDRESS && fault->stream == stream, "its code and stream");
    Child::expect(id != 0 && fault->launch == id, "its launch");
    Child::expect(fault->fault.kernel == "store" && fault->fault.line > 0 && fault->fault.address == 8, "its place");
    Child::expect(fault->fault.message.find("store") != std::string::npos, "its message names the kernel");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, FaultNamesTheNearestAllocationAndTheSpanThatAllocatedIt) {
  auto const body = [] {
    Child child;
    tracing::set_global_default(tracing::RegistryBuilder().build());
    CUdeviceptr address = 0;
    {
      int const layer = 3;
      TRACE_SPAN(info, "load", layer);
      tracing::cuda::Driver driver(child.api, cpu_driver_options());
      Child::expect(driver.mem_alloc(&address, 1024), CUDA_SUCCESS, "mem_alloc");
    }
    Child::expect(child.launch(nullptr, "store", address + 1024, 1), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "ctx_synchronize");
    auto const message = cpu_driver_last_fault()->fault.message;
    Child::expect(
        message.find(", reaching 4 bytes past the end of 1024 bytes allocated in load{layer=3} (allocation ") !=
            std::string::npos,
        message.c_str());
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, UseAfterFreeNamesTheSpanThatFreedTheMemory) {
  auto const body = [] {
    Child child;
    tracing::set_global_default(tracing::RegistryBuilder().build());
    auto const address = child.allocate(64);
    {
      TRACE_SPAN(info, "unload");
      Child::expect(child.api.mem_free(address), CUDA_SUCCESS, "mem_free");
    }
    Child::expect(child.allocate(64) != address, "the next allocation is elsewhere");
    Child::expect(child.launch(nullptr, "add_one", address), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "ctx_synchronize");
    auto const message = cpu_driver_last_fault()->fault.message;
    Child::expect(message.find(") that were freed in unload: kernel add_one") != std::string::npos, message.c_str());
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, WorkQueuedAfterAFaultIsSkipped) {
  auto const body = [] {
    Child child;
    void* pinned = nullptr;
    Child::expect(child.api.mem_host_alloc(&pinned, sizeof(int), 0), CUDA_SUCCESS, "mem_host_alloc");
    auto& value = *static_cast<int*>(pinned);
    value = 7;
    bool called = false;
    auto const address = child.allocate(4);
    {
      HeldUp const held(child.api, nullptr);
      Child::expect(child.launch(nullptr, "store", std::uint64_t{8}, 1), CUDA_SUCCESS, "the launch");
      Child::expect(child.api.memcpy_dtoh_async(&value, address, 4, nullptr), CUDA_SUCCESS, "the copy");
      auto const call = [](void* data) { *static_cast<bool*>(data) = true; };
      Child::expect(child.api.launch_host_func(nullptr, call, &called), CUDA_SUCCESS, "the host function");
    }
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS, "ctx_synchronize");
    Child::expect(value == 7 && !called, "nothing was done");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, MisalignedAddressesAndTrapsHaveTheirOwnErrors) {
  auto const misaligned = [] {
    Child child;
    Child::expect(child.launch(nullptr, "store", child.allocate(64) + 1, 1), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_MISALIGNED_ADDRESS, "ctx_synchronize");
  };
  EXPECT_CHILD(misaligned);
  auto const trap = [] {
    Child child;
    Child::expect(child.launch(nullptr, "trap"), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED, "ctx_synchronize");
  };
  EXPECT_CHILD(trap);
}

// sum_shared writes to dynamic shared memory, but this launch has none.
TEST_F(CpuFaultDeathTest, AccessBeyondSharedMemoryIsLaunchFailed) {
  auto const body = [] {
    Child child;
    Child::expect(child.launch(nullptr, "sum_shared", child.allocate(64)), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED, "ctx_synchronize");
    auto const message = cpu_driver_last_fault()->fault.message;
    Child::expect(message.starts_with("an access of 4 bytes at byte 16 of shared memory, which has 16 bytes: "),
                  message.c_str());
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED, "it stays");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, FaultStopsTheKernelsOfOtherStreams) {
  auto const body = [] {
    Child child;
    CUstream first = nullptr;
    CUstream second = nullptr;
    Child::expect(child.api.stream_create(&first, 0), CUDA_SUCCESS, "stream_create");
    Child::expect(child.api.stream_create(&second, 0), CUDA_SUCCESS, "stream_create");
    auto const flag = child.allocate(4);
    Child::expect(child.api.memset_d8(flag, 0, 4), CUDA_SUCCESS, "memset_d8");
    Child::expect(child.launch(first, "wait_for", flag), CUDA_SUCCESS, "one that never ends");
    Child::expect(child.launch(second, "trap"), CUDA_SUCCESS, "one that fails");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED, "ctx_synchronize");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, BlockingLaunchReturnsTheFaultItself) {
  auto const body = [] {
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    Child child;
    auto const address = child.allocate(4);
    Child::expect(child.launch(nullptr, "store", address, 1), CUDA_SUCCESS, "a launch that is well");
    Child::expect(child.api.stream_query(nullptr), CUDA_SUCCESS, "it has ended");
    Child::expect(child.launch(nullptr, "trap"), CUDA_ERROR_LAUNCH_FAILED, "a launch that fails");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, LaunchThatRunsLongerThanTheTimeoutIsLaunchTimeout) {
  auto const body = [] {
    setenv("TRACE_CUDA_TIMEOUT", "0.05", 1);
    Child child;
    auto const flag = child.allocate(4);
    Child::expect(child.api.memset_d8(flag, 0, 4), CUDA_SUCCESS, "memset_d8");
    Child::expect(child.launch(nullptr, "wait_for", flag), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_TIMEOUT, "ctx_synchronize");
    auto const message = cpu_driver_last_fault()->fault.message;
    Child::expect(message.find("kernel wait_for ran longer than 0.05 s. Block (0,0,0): warp 0 loops at PTX line ") == 0,
                  message.c_str());
  };
  EXPECT_CHILD(body);
}

// Returns a copy of 4 bytes within the device.
CUDA_MEMCPY3D of_word(CUdeviceptr to, CUdeviceptr from) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 4;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return copy;
}

TEST_F(CpuFaultDeathTest, ReadOfMemoryThatNothingWroteIsLaunchFailedIfChecked) {
  auto const reads = [](auto const& write) {
    setenv("TRACE_CUDA_CHECK", "init", 1);
    Child child;
    auto const address = child.allocate(64);
    write(child, address);
    Child::expect(child.launch(nullptr, "add_one", address), CUDA_SUCCESS, "the launch");
    return child.api.ctx_synchronize();
  };
  auto const nothing = [&] {
    Child::expect(reads([](Child&, CUdeviceptr) {}), CUDA_ERROR_LAUNCH_FAILED, "ctx_synchronize");
    auto const message = cpu_driver_last_fault()->fault.message;
    Child::expect(message.find("a read of 4 bytes that were never written, at byte 0 of 64 bytes") == 0,
                  message.c_str());
  };
  EXPECT_CHILD(nothing);
  auto const everything = [&] {
    Child::expect(reads([](Child& child, CUdeviceptr to) { child.api.memset_d32(to, 0, 1); }), CUDA_SUCCESS, "memset");
    Child::expect(reads([](Child& child, CUdeviceptr to) { child.launch(nullptr, "store", to, 1); }), CUDA_SUCCESS,
                  "kernel");
    Child::expect(reads([](Child& child, CUdeviceptr to) {
                    int const value = 1;
                    child.api.memcpy_htod_async(to, &value, sizeof value, nullptr);
                  }),
                  CUDA_SUCCESS, "memcpy_htod_async");
    Child::expect(reads([](Child& child, CUdeviceptr to) { child.api.memset_d2d8_async(to, 8, 0, 4, 2, nullptr); }),
                  CUDA_SUCCESS, "memset_d2d8_async");
    Child::expect(reads([](Child& child, CUdeviceptr to) {
                    child.api.memset_d32(to + 4, 0, 1);
                    child.api.memcpy_dtod(to, to + 4, 4);
                  }),
                  CUDA_SUCCESS, "memcpy_dtod");
    Child::expect(reads([](Child& child, CUdeviceptr to) {
                    child.api.memset_d32(to + 32, 0, 1);
                    auto const copy = of_word(to, to + 32);
                    Child::expect(child.api.memcpy_3d(&copy), CUDA_SUCCESS, "memcpy_3d");
                  }),
                  CUDA_SUCCESS, "memcpy_3d");
  };
  EXPECT_CHILD(everything);
}

// A copy of unwritten bytes to the host is not a fault, because the host may never read them.
TEST_F(CpuFaultDeathTest, ACopyOfMemoryThatNothingWroteIsMemoryThatNothingWrote) {
  auto const after = [](auto const& copy) {
    setenv("TRACE_CUDA_CHECK", "init", 1);
    Child child;
    auto const to = child.allocate(64);
    child.api.memset_d32(to, 0, 1);  // the copy makes these bytes unwritten again
    copy(child, to, child.allocate(64));
    Child::expect(child.api.ctx_synchronize(), CUDA_SUCCESS, "the copy");
    Child::expect(child.launch(nullptr, "add_one", to), CUDA_SUCCESS, "the launch");
    return child.api.ctx_synchronize();
  };
  auto const linear = [&] {
    Child::expect(after([](Child& child, CUdeviceptr to, CUdeviceptr from) { child.api.memcpy_dtod(to, from, 4); }),
                  CUDA_ERROR_LAUNCH_FAILED, "memcpy_dtod");
  };
  EXPECT_CHILD(linear);
  auto const of_rows = [&] {
    Child::expect(after([](Child& child, CUdeviceptr to, CUdeviceptr from) {
                    auto const copy = of_word(to, from);
                    child.api.memcpy_3d(&copy);
                  }),
                  CUDA_ERROR_LAUNCH_FAILED, "memcpy_3d");
  };
  EXPECT_CHILD(of_rows);
  auto const by_the_host = [&] {
    Child::expect(after([](Child& child, CUdeviceptr to, CUdeviceptr from) {
                    int value = 0;
                    child.api.memcpy_dtoh(&value, from, sizeof value);
                    child.api.memcpy_htod(to, &value, sizeof value);
                  }),
                  CUDA_SUCCESS, "memcpy_dtoh and memcpy_htod");
  };
  EXPECT_CHILD(by_the_host);
}

TEST_F(CpuFaultDeathTest, ReadBeforeACopyOfAnotherStreamIsAReadOfMemoryThatNothingWrote) {
  auto const body = [] {
    setenv("TRACE_CUDA_CHECK", "init", 1);
    Child child;
    auto const address = child.allocate(64);
    CUstream copies = nullptr;
    CUstream kernels = nullptr;
    Child::expect(child.api.stream_create(&copies, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS, "stream_create");
    Child::expect(child.api.stream_create(&kernels, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS, "stream_create");
    HeldUp held(child.api, copies);
    Child::expect(child.api.memset_d32_async(address, 0, 1, copies), CUDA_SUCCESS, "memset_d32_async");
    Child::expect(child.launch(kernels, "add_one", address), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.stream_synchronize(kernels), CUDA_ERROR_LAUNCH_FAILED, "stream_synchronize");
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, MemoryThatIsNotFreedIsReportedAtTheEnd) {
  auto const leak = [](bool releases) {
    setenv("TRACE_CUDA_CHECK", "leak", 1);
    Child child;
    tracing::set_global_default(tracing::RegistryBuilder().build());
    Child::expect(child.api.mem_free(child.allocate(32)), CUDA_SUCCESS, "mem_free");
    TRACE_SPAN(info, "load");
    child.allocate(64);
    if (releases) child.api.device_primary_ctx_release(0);
    std::exit(0);
  };
  char const* const text =
      "testlog: TRACE_CUDA_CHECK=leak: 1 allocation was not freed:\n  64 bytes allocated in load \\(allocation "
      "[0-9]+\\)\n$";
  EXPECT_EXIT(leak(false), ::testing::ExitedWithCode(1), text);
  EXPECT_EXIT(leak(true), ::testing::ExitedWithCode(1), text);
}

TEST_F(CpuFaultDeathTest, MemoryThatAStaticObjectFreesIsNoLeak) {
  auto const body = [] {
    setenv("TRACE_CUDA_CHECK", "leak", 1);
    struct Pool {  // made before the first call, so destroyed after the objects that the call registers
      ~Pool() { Child::expect(cpu_driver_api().mem_free(memory), CUDA_SUCCESS, "mem_free"); }
      CUdeviceptr memory = 0;
    };
    static Pool pool;
    pool.memory = Child().allocate(64);
    std::exit(0);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(CpuFaultDeathTest, MemoryThatCannotBeFreedAfterAFaultIsNoLeak) {
  auto const break_context = [] {
    setenv("TRACE_CUDA_CHECK", "leak", 1);
    Child child;
    child.allocate(64);
    Child::expect(child.launch(nullptr, "trap"), CUDA_SUCCESS, "the launch");
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED, "ctx_synchronize");
    std::exit(0);
  };
  EXPECT_EXIT(break_context(), ::testing::ExitedWithCode(0), "^$");
}

// The test runs in a child, since workers only see a global subscriber.
TEST_F(CpuFaultDeathTest, WhatAKernelPrintsIsAlsoAnEventInTheSpanOfTheLaunch) {
  struct Events : tracing::Layer {
    explicit Events(std::string& to) : text(to) {}
    void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
      tracing::InlineTextBuffer<128> message;
      append_message(message, event.fields.value(0));
      auto const span = context.event_span(event);
      text.append(span ? span.metadata().name() : "no span").append(": ").append(message.view()).append("|");
    }
    std::string& text;
  };
  auto const body = [] {
    std::string events;
    Child child;
    tracing::set_global_default(tracing::RegistryBuilder().with(std::make_unique<Events>(events)).build());
    {
      TRACE_SPAN(info, "step");
      Child::expect(child.launch(nullptr, "say", 7), CUDA_SUCCESS, "the launch");
    }
    Child::expect(child.api.ctx_synchronize(), CUDA_SUCCESS, "ctx_synchronize");
    Child::expect(events == "step: block 0 says 7|", events.c_str());
  };
  EXPECT_CHILD(body);
}

TEST_F(CpuFaultDeathTest, BadSettingsAreReported) {
  auto const body = [] {
    setenv("TRACE_CUDA_CHECK", "races", 1);
    Child const child;
  };
  EXPECT_EXIT((body(), _exit(0)), ::testing::ExitedWithCode(0),
              "TRACE_CUDA_CHECK=races: unknown value; expected one of race");
}

TEST_F(CpuFaultDeathTest, ExceptionOfAHostFunctionEndsTheProcess) {
  auto const body = [] {
    Child child;
    auto const thrower = [](void*) { throw std::runtime_error("of the user"); };
    Child::expect(child.api.launch_host_func(nullptr, thrower, nullptr), CUDA_SUCCESS, "the host function");
    child.api.ctx_synchronize();
  };
  EXPECT_EXIT((body(), _exit(0)), ::testing::KilledBySignal(SIGABRT), "of the user");
}

TEST_F(CpuFaultDeathTest, DestructorsOfStaticObjectsMakeCallsThatFail) {
  auto const body = [] {
    static Child child;
    static auto const fails = [] {
      CUdeviceptr address = 0;
      Child::expect(child.api.mem_alloc(&address, std::size_t{1} << 40), CUDA_ERROR_OUT_OF_MEMORY, "mem_alloc");
      Child::expect(cpu_driver_last_message().starts_with("1099511627776 bytes requested"), "its message");
    };
    struct Pool {
      ~Pool() { fails(); }
    };
    static Pool const pool;
    fails();
    exit(0);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "");
}

TEST_F(CpuFaultDeathTest, ExceptionOfInternalWorkBreaksTheContext) {
  auto const body = [] {
    Child child;
    auto& device = *cpu::Device::get();
    device.submit(device.streams.legacy(), [] { throw 1; });
    Child::expect(child.api.ctx_synchronize(), CUDA_ERROR_LAUNCH_FAILED, "ctx_synchronize");
    Child::expect(cpu_driver_last_fault()->fault.message == "an exception of an unknown type", "its message");
  };
  EXPECT_CHILD(body);
}

}}  // namespace cuda_cpu
