// Device times read from records of CUPTI: the records are made by hand and read by the real
// cuptiActivityGetNextRecord, which needs neither a driver nor a GPU. The other calls of CUPTI are a fake, whose client
// is DeviceTimes.
#define TRACE_TARGET "tracing::cuda_test"
#include "tracing_core/cuda/device_times/device_times.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tracing_core/cuda/activity_test_support.h"
#include "tracing_core/cuda/device_times/cupti_library.h"
#include "tracing_core/cuda/driver/driver_test_support.h"

namespace tracing::cuda_test { namespace {

using cuda::internal::DeviceTimes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using SetRecord = CUpti_ActivityMemset4;

// What CUPTI was asked for, and the records that it delivers at the next flush.
struct Cupti {
  CUptiResult subscribed = CUPTI_SUCCESS;
  CUptiResult enabled = CUPTI_SUCCESS;
  CUpti_CallbackFunc on_call = nullptr;
  void* client = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<CUpti_CallbackId> callbacks;
  std::vector<unsigned char> records;
  int flushes = 0;
  std::uint32_t last_call = 0;
};
Cupti cupti;

constexpr CUpti_CallbackId kLaunch = 307, kCopy = 278, kGraphLaunch = 514;

CuptiApi faked() {
  CuptiApi api = load_cupti().api;
  cupti = {};
  api.get_callback_name = [](CUpti_CallbackDomain, std::uint32_t id, char const** name) {
    *name = id == kLaunch        ? "cuLaunchKernel"
            : id == kCopy        ? "cuMemcpyHtoDAsync_v2"
            : id == kGraphLaunch ? "cuGraphLaunch"
                                 : "cuInit";
    return CUPTI_SUCCESS;
  };
  api.subscribe = [](CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* client) {
    if (cupti.subscribed != CUPTI_SUCCESS) return cupti.subscribed;
    *subscriber = handle<CUpti_SubscriberHandle>(1);
    cupti.on_call = callback;
    cupti.client = client;
    return CUPTI_SUCCESS;
  };
  api.unsubscribe = [](CUpti_SubscriberHandle) { return CUPTI_SUCCESS; };
  api.enable_callback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId id) {
    cupti.callbacks.push_back(id);
    return CUPTI_SUCCESS;
  };
  api.activity_register_callbacks = [](CUpti_BuffersCallbackRequestFunc request,
                                       CUpti_BuffersCallbackCompleteFunc complete) {
    cupti.request = request;
    cupti.complete = complete;
    return CUPTI_SUCCESS;
  };
  api.activity_enable = [](CUpti_ActivityKind) { return cupti.enabled; };
  api.activity_disable = [](CUpti_ActivityKind) { return CUPTI_SUCCESS; };
  api.activity_flush_all = [](std::uint32_t) {
    ++cupti.flushes;
    if (cupti.records.empty()) return CUPTI_SUCCESS;
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0, max_records = 1;
    cupti.request(&buffer, &bytes, &max_records);
    EXPECT_GE(bytes, cupti.records.size());
    std::memcpy(buffer, cupti.records.data(), cupti.records.size());
    cupti.complete(nullptr, 0, buffer, bytes, std::exchange(cupti.records, {}).size());
    return CUPTI_SUCCESS;
  };
  return api;
}

// Makes a call of the driver as CUPTI sees it, and returns its number.
template <class Call>
std::uint32_t seen_by_cupti(CUpti_CallbackId id, CUresult result, Call const& call) {
  CUpti_CallbackData data{};
  data.callbackSite = CUPTI_API_ENTER;
  data.correlationId = ++cupti.last_call;
  data.functionReturnValue = &result;
  std::uint32_t const number = data.correlationId;
  call([&] {
    if (std::ranges::count(cupti.callbacks, id) == 0) return;
    cupti.on_call(cupti.client, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
    data.callbackSite = CUPTI_API_EXIT;
    cupti.on_call(cupti.client, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  });
  return number;
}

template <class Record>
void deliver(Record const& record) {
  auto const* const bytes = reinterpret_cast<unsigned char const*>(&record);
  cupti.records.insert(cupti.records.end(), bytes, bytes + sizeof(record));
}

struct At {
  std::uint32_t call = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t stream = 13;
};

void deliver_kernel(At const& at) {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = at.call;
  record.start = at.begin;
  record.end = at.end;
  record.deviceId = 1;
  record.streamId = at.stream;
  record.name = "_Z5scalePfi";
  record.gridX = 4, record.gridY = 1, record.gridZ = 1;
  record.blockX = 32, record.blockY = 1, record.blockZ = 1;
  record.staticSharedMemory = 16;
  record.dynamicSharedMemory = 8;
  record.registersPerThread = 20;
  deliver(record);
}

void deliver_copy(At const& at, CUpti_ActivityMemcpyKind kind) {
  CopyRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = static_cast<std::uint8_t>(kind);
  record.correlationId = at.call;
  record.start = at.begin;
  record.end = at.end;
  record.deviceId = 1;
  record.streamId = at.stream;
  record.bytes = 64;
  deliver(record);
}

void deliver_set(At const& at) {
  SetRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.correlationId = at.call;
  record.start = at.begin;
  record.end = at.end;
  record.streamId = at.stream;
  record.bytes = 64;
  deliver(record);
}

std::function<void()> in_launch;  // called by the fake driver during a launch

DriverApi launching() {
  DriverApi api = answering();
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                         void**, void**) {
    answers.launched.push_back(current_launch());
    if (in_launch) in_launch();
    return answers.launch;
  };
  return api;
}

// Launches a kernel through `driver`, and returns its number in CUPTI.
std::uint32_t launch(Driver& driver, CUstream stream = nullptr) {
  return seen_by_cupti(kLaunch, answers.launch, [&](auto const& see) {
    in_launch = see;
    driver.launch_kernel(function_of(driver, "first"), {}, {}, 0, stream, nullptr);
    in_launch = nullptr;
  });
}

class DeviceTimesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (CuptiLibrary const library = load_cupti(); !library) GTEST_SKIP() << library.explanation;
    times.emplace(faked());
    ASSERT_EQ(times->start(), "");
  }
  void TearDown() override { times.reset(); }

  std::optional<DeviceTimes> times;
};

TEST_F(DeviceTimesTest, AsksForTheCallsThatGiveADeviceWork) {
  EXPECT_THAT(cupti.callbacks, ElementsAre(kCopy, kLaunch, kGraphLaunch));
}

TEST_F(DeviceTimesTest, GivesAKernelTheTimesOfItsRecordAndTheStreamOfItsLaunch) {
  auto const lines = activity_of([&] {
    Driver driver(launching());
    CUstream stream = nullptr;
    driver.stream_create(&stream, 0);
    deliver_kernel({launch(driver, stream), 1000, 3000});
    times->flush(false);
  });
  EXPECT_THAT(lines, ElementsAre("launch -> kernel", "GPU 0 stream 1: kernel 1000-3000"));
}

TEST_F(DeviceTimesTest, AddsTheTimeOfTheKernelToTheSpanOfItsLaunch) {
  std::string const text = printed_of_driver(
      [&] {
        Driver driver(launching());
        deliver_kernel({launch(driver), 1000, 13'300});
        times->flush(false);
        driver.stream_synchronize(nullptr);
      },
      SpanEvents::close);
  EXPECT_THAT(text,
              HasSubstr("launch{kernel.name=first grid=(1, 1, 1) block=(1, 1, 1) shared_bytes=0 stream=0 device=0 "
                        "launch=#1 gpu.time=12.3µs}: tracing::cuda_test: close"));
}

TEST_F(DeviceTimesTest, DescribesTheKernelOfALaunchThatNoDriverMade) {
  FormatOptions format;
  format.timer = nullptr;
  std::string const text =
      tracing_test::printed({.event_format = make_event_format(format), .span_events = SpanEvents::close}, [&] {
        TRACE_SPAN(trace, "step");
        deliver_kernel({seen_by_cupti(kLaunch, CUDA_SUCCESS, [](auto const& see) { see(); }), 1000, 3000});
        times->flush(false);
      });
  EXPECT_THAT(text, HasSubstr("kernel{kernel.name=scale grid=(4, 1, 1) block=(32, 1, 1) shared_bytes=24 "
                              "dynamic_shared_bytes=8 registers=20 stream=13 device=1}: tracing::cuda::device: close"));
}

TEST_F(DeviceTimesTest, ReportsTheActivitiesOfABufferInTheOrderOfTheirTimes) {
  auto const lines = activity_of([&] {
    deliver_copy({.begin = 500, .end = 600}, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
    deliver_kernel({.begin = 300, .end = 400});
    deliver_set({.begin = 100, .end = 200, .stream = 7});
    deliver_copy({.begin = 200, .end = 250}, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
    deliver_copy({.begin = 250, .end = 300}, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
    times->flush(true);
  });
  EXPECT_THAT(lines, ElementsAre("GPU 0 stream 7: memset 100-200", "GPU 1 stream 13: memcpy_htod 200-250",
                                 "GPU 1 stream 13: memcpy_dtod 250-300", "GPU 1 stream 13: kernel 300-400",
                                 "GPU 1 stream 13: memcpy_dtoh 500-600"));
}

TEST_F(DeviceTimesTest, GivesEachNodeOfAGraphTheSpanOfTheGraphsLaunch) {
  auto const lines = activity_of([&] {
    TRACE_SPAN(trace, "graph_launch");
    std::uint32_t const number = seen_by_cupti(kGraphLaunch, CUDA_SUCCESS, [](auto const& see) { see(); });
    deliver_kernel({number, 1000, 2000});
    deliver_kernel({number, 2000, 3000});
    times->flush(false);
  });
  EXPECT_THAT(lines, ElementsAre("graph_launch -> kernel", "GPU 1 stream 13: kernel 1000-2000",
                                 "graph_launch -> kernel", "GPU 1 stream 13: kernel 2000-3000"));
}

TEST_F(DeviceTimesTest, LeavesOutRecordsWithoutTimes) {
  auto const lines = activity_of([&] {
    deliver_kernel({.begin = 0, .end = 0});
    deliver_kernel({.begin = 300, .end = 0});  // it never ended, because the context was lost
    times->flush(true);
  });
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(DeviceTimesTest, ClosesTheSpanOfARefusedLaunchAtOnce) {
  std::string const text = printed_of_driver(
      [&] {
        Driver driver(launching());
        answers.launch = CUDA_ERROR_INVALID_VALUE;
        launch(driver);
      },
      SpanEvents::close);
  EXPECT_THAT(text, HasSubstr("close"));
  times->flush(false);
  EXPECT_EQ(cupti.flushes, 0) << "no call is in flight";
}

TEST_F(DeviceTimesTest, ClosesTheSpansOfWorkWhoseTimesNeverCameWhenTheDeviceIsIdle) {
  std::string const text = printed_of_driver(
      [&] {
        TRACE_TRACE("before");
        Driver driver(launching());
        launch(driver);
        driver.stream_synchronize(nullptr);
        TRACE_TRACE("waited");
        times->flush(true);
      },
      SpanEvents::close);
  EXPECT_LT(text.find("waited"), text.find("launch=#1}: tracing::cuda_test: close"));
}

TEST_F(DeviceTimesTest, DoesNotAskForRecordsWhileNobodyWantsThem) {
  tracing_test::printed(
      {},
      [&] {
        Driver driver(launching());
        launch(driver);
        times->flush(false);
      },
      "trace,tracing::cuda::device=off");
  EXPECT_EQ(cupti.flushes, 0);
}

TEST_F(DeviceTimesTest, DoesNothingInAChildOfFork) {
  pid_t const child = fork();
  if (child == 0) {
    times->flush(true);
    _exit(cupti.flushes);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(DeviceTimesTest, ReadsRecordsOnAThreadOfCupti) {
  auto const lines = activity_of([&] {
    Driver driver(launching());
    std::uint32_t const first = launch(driver);
    std::uint32_t const second = launch(driver);
    deliver_kernel({first, 1000, 2000});
    std::thread([&] { times->flush(false); }).join();
    deliver_kernel({second, 2000, 3000});
    times->flush(false);
  });
  EXPECT_THAT(lines, ElementsAre("launch -> kernel", "GPU 0 stream 0: kernel 1000-2000", "launch -> kernel",
                                 "GPU 0 stream 0: kernel 2000-3000"));
}

TEST(DeviceTimes, NamesTheProfilerThatTakesCuptisOnlyPlace) {
  CuptiLibrary const library = load_cupti();
  if (!library) GTEST_SKIP() << library.explanation;
  DeviceTimes times(faked());
  cupti.subscribed = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_EQ(
      times.start(),
      "No device times: cuptiSubscribe returned CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39). CUPTI serves "
      "one client: run the program without a profiler or debugger of CUDA.");
}

TEST(DeviceTimes, NameTheMissingPrivilege) {
  CuptiLibrary const library = load_cupti();
  if (!library) GTEST_SKIP() << library.explanation;
  DeviceTimes times(faked());
  cupti.enabled = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  EXPECT_THAT(times.start(), HasSubstr("allows profiling to administrators only"));
}

TEST(LoadCupti, NamesTheMissingFile) {
  EXPECT_EQ(
      load_cupti("/nowhere/libcupti.so.13").explanation,
      "No CUPTI: /nowhere/libcupti.so.13: cannot open shared object file: No such file or directory. It is part of "
      "the CUDA Toolkit, 12 or newer: set CUDA_PATH to the toolkit's folder, or LD_LIBRARY_PATH to the folder of "
      "libcupti.so.");
}

TEST(LoadCupti, NamesTheMissingCall) {
  EXPECT_THAT(load_cupti("libc.so.6").explanation, HasSubstr("No CUPTI: libc.so.6 lacks cupti"));
}

}}  // namespace tracing::cuda_test
