// Device times measured by events of a fake driver: each event happens one millisecond after the event before it.
#define TRACE_TARGET "tracing::cuda_test"
#include "tracing_core/cuda/device_times/event_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tracing_core/cuda/activity_test_support.h"
#include "tracing_core/cuda/device_times.h"
#include "tracing_core/cuda/driver/driver_test_support.h"
#include "tracing_core/support/span_clock.h"

namespace tracing::cuda_test { namespace {

using cuda::internal::EventTimes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Device {
  float now_ms = 0;
  std::map<CUevent, float> events;  // when they happened last
  int created = 0, destroyed = 0;
  std::optional<DeviceCall> call_in_driver;  // the call that the driver itself could report
};
Device device;

constexpr std::int64_t kNow = 1'000'000'000;

DriverApi measurable() {
  device = {};
  DriverApi api = answering();
  api.ctx_get_current = [](CUcontext* context) {
    *context = handle<CUcontext>(1);
    return CUDA_SUCCESS;
  };
  api.event_create = [](CUevent* event, unsigned) {
    *event = handle<CUevent>(static_cast<std::uintptr_t>(++device.created));
    return CUDA_SUCCESS;
  };
  api.event_destroy = [](CUevent) {
    ++device.destroyed;
    return CUDA_SUCCESS;
  };
  api.event_record = [](CUevent event, CUstream) {
    device.events[event] = ++device.now_ms;
    return CUDA_SUCCESS;
  };
  api.event_elapsed_time = [](float* milliseconds, CUevent from, CUevent to) {
    *milliseconds = device.events[to] - device.events[from];
    return CUDA_SUCCESS;
  };
  api.func_get_attribute = [](int* value, CUfunction_attribute which, CUfunction) {
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 20 : 16;
    return CUDA_SUCCESS;
  };
  api.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                         void**, void**) {
    answers.launched.push_back(current_launch());
    device.call_in_driver = current_device_call(ActivityKind::kernel);
    return answers.launch;
  };
  api.memcpy_2d = [](CUDA_MEMCPY2D const*) { return CUDA_SUCCESS; };
  api.memcpy_3d_async = [](CUDA_MEMCPY3D const*, CUstream) { return CUDA_SUCCESS; };
  api.memcpy_peer_async = [](CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t, CUstream) {
    return CUDA_SUCCESS;
  };
  return api;
}

class EventTimesTest : public testing::Test {
 protected:
  void SetUp() override {
    support::simulate_time(kNow);
    times.emplace(measurable());
    driver.emplace(times->measuring());
  }
  void TearDown() override {
    driver.reset();
    times.reset();
    support::simulate_time(0);
    EXPECT_EQ(device.created, device.destroyed);
  }
  void launch(CUstream stream = nullptr) {
    driver->launch_kernel(function_of(*driver, "first"), {4}, {32}, 8, stream, nullptr);
  }

  std::optional<EventTimes> times;
  std::optional<Driver> driver;
};

// The events of a kernel happen at 1 and 2 ms, those of the next one at 3 and 4 ms, and the anchor then at 6 ms, now.
TEST_F(EventTimesTest, ReportWhenTheWorkOfAStreamWasDone) {
  EXPECT_THAT(activity_of([&] {
                CUstream stream = nullptr;
                driver->stream_create(&stream, 0);
                launch(stream);
                launch();
                driver->ctx_synchronize();
              }),
              ElementsAre("launch -> kernel", "GPU 0 stream 1: kernel 995000000-996000000", "launch -> kernel",
                          "GPU 0 stream 0: kernel 997000000-998000000"));
}

TEST_F(EventTimesTest, DescribeTheKernelAndAddItsTimeToTheLaunch) {
  std::string const text = printed_of_driver([&] { launch(), driver->stream_synchronize(nullptr); }, SpanEvents::close);
  EXPECT_THAT(text, HasSubstr("kernel{kernel.name=first grid=(4, 1, 1) block=(32, 1, 1) shared_bytes=24 "
                              "dynamic_shared_bytes=8 registers=20 stream=0 device=0 launch=#1}: "
                              "tracing::cuda::device: close"));
  EXPECT_THAT(text, HasSubstr(" launch=#1 gpu.time=1.00ms}: tracing::cuda_test: close"));
}

TEST_F(EventTimesTest, HaveTheKindAndTheBytesOfCopiesAndMemsets) {
  CUDA_MEMCPY2D to_host{};
  to_host.srcMemoryType = CU_MEMORYTYPE_DEVICE, to_host.dstMemoryType = CU_MEMORYTYPE_HOST;
  to_host.WidthInBytes = 8, to_host.Height = 2;
  CUDA_MEMCPY3D to_array{};
  to_array.srcMemoryType = CU_MEMORYTYPE_HOST, to_array.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  to_array.WidthInBytes = 8, to_array.Height = 2, to_array.Depth = 3;
  struct Case {
    std::function<void(Driver&)> call;
    char const* shown;
  };
  for (Case const& c : std::vector<Case>{
           {[](Driver& d) { d.memcpy_htod(1, nullptr, 12); }, "memcpy_htod{bytes=12 "},
           {[](Driver& d) { d.memcpy_dtoh(nullptr, 1, 12); }, "memcpy_dtoh{bytes=12 "},
           {[](Driver& d) { d.memcpy_dtod(1, 2, 12); }, "memcpy_dtod{bytes=12 "},
           {[](Driver& d) { d.memcpy_htod_async(1, nullptr, 12, nullptr); }, "memcpy_htod{bytes=12 "},
           {[](Driver& d) { d.memcpy_dtoh_async(nullptr, 1, 12, nullptr); }, "memcpy_dtoh{bytes=12 "},
           {[](Driver& d) { d.memcpy_dtod_async(1, 2, 12, nullptr); }, "memcpy_dtod{bytes=12 "},
           {[&](Driver& d) { d.memcpy_2d(to_host); }, "memcpy_dtoh{bytes=16 "},
           {[&](Driver& d) { d.memcpy_3d_async(to_array, nullptr); }, "memcpy_htod{bytes=48 "},
           {[](Driver& d) { d.memcpy_peer_async(1, nullptr, 2, nullptr, 12, nullptr); }, "memcpy_dtod{bytes=12 "},
           {[](Driver& d) { d.memset_d8(1, 0, 12); }, "memset{bytes=12 "},
           {[](Driver& d) { d.memset_d32_async(1, 0, 12, nullptr); }, "memset{bytes=48 "},
           {[](Driver& d) { d.memset_d2d16_async(1, 64, 0, 3, 4, nullptr); }, "memset{bytes=24 "},
       }) {
    std::string const text =
        printed_of_driver([&] { c.call(*driver), driver->stream_synchronize(nullptr); }, SpanEvents::close);
    EXPECT_THAT(text, HasSubstr(std::string(" ") + c.shown + "stream=0 device=0}: tracing::cuda::device: close"));
  }
}

TEST_F(EventTimesTest, AreReadOnceTheWorkHasEnded) {
  std::string const text = printed_of_driver(
      [&] {
        launch();
        answers.query = CUDA_ERROR_NOT_READY;
        driver->stream_synchronize(handle<CUstream>(16));  // another stream
        TRACE_TRACE("it runs");
        answers.query = CUDA_SUCCESS;
        driver->stream_synchronize(nullptr);
      },
      SpanEvents::close);
  EXPECT_LT(text.find("it runs"), text.find("TRACE kernel{")) << text;
  EXPECT_THAT(text, HasSubstr("TRACE kernel{"));
}

TEST_F(EventTimesTest, AreNotThereForCallsThatDoNoWork) {
  answers.launch = CUDA_ERROR_INVALID_VALUE;
  EXPECT_THAT(activity_of([&] { launch(), driver->ctx_synchronize(); }), IsEmpty());
  answers.launch = CUDA_SUCCESS;
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_THAT(activity_of([&] {
                launch();
                driver->memcpy_htod_async(1, nullptr, 12, nullptr);
                driver->ctx_synchronize();
              }),
              IsEmpty());
}

TEST_F(EventTimesTest, DoNotOverlapOnAStream) {
  EXPECT_THAT(activity_of([&] {
                launch();
                // As if another thread had recorded its event before the launch above.
                device.now_ms = -4;
                launch();
                device.now_ms = 8;
                driver->ctx_synchronize();
              }),
              ElementsAre("launch -> kernel", "GPU 0 stream 0: kernel 991000000-992000000", "launch -> kernel",
                          "GPU 0 stream 0: kernel 992000000-992000000"));
}

TEST_F(EventTimesTest, UseEventsAgain) {
  activity_of([&] {
    for (int i = 0; i < 10; ++i) launch(), driver->ctx_synchronize();
  });
  EXPECT_EQ(device.created, 3) << "two for a launch, and the anchor";
}

TEST_F(EventTimesTest, ReplaceWhatTheDriverItselfWouldReport) {
  activity_of([&] { launch(), driver->ctx_synchronize(); });
  EXPECT_FALSE(device.call_in_driver);
}

TEST_F(EventTimesTest, CloseTheSpansOfLostWork) {
  std::string const text = printed_of_driver(
      [&] {
        launch();
        answers.query = CUDA_ERROR_NOT_READY;
        driver->stream_synchronize(nullptr);
        answers.query = CUDA_ERROR_ILLEGAL_ADDRESS;
        TRACE_TRACE("lost");
        times->flush(true);
      },
      SpanEvents::close);
  EXPECT_LT(text.find("lost"), text.find("launch=#1}: tracing::cuda_test: close")) << text;
  EXPECT_THAT(text, Not(HasSubstr("gpu.time")));
}

TEST_F(EventTimesTest, CostNoEventWhileNobodyWantsThem) {
  tracing_test::printed(
      {}, [&] { launch(), driver->ctx_synchronize(); }, "trace,tracing::cuda::device=off");
  EXPECT_EQ(device.created, 0);
}

TEST_F(EventTimesTest, DoNothingInAChildOfFork) {
  pid_t const child = fork();
  if (child == 0) {
    activity_of([&] { launch(), driver->ctx_synchronize(); });
    _exit(device.created);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(EventTimesTest, AreOfOneTable) {
  DriverApi other = measurable();
  EXPECT_TRUE(times->is_of(other));
  other.memcpy_dtod = nullptr;
  EXPECT_FALSE(times->is_of(other));
}

// Returns whether a Driver measures a launch with this value of the variable. Called in a child, as the process goes on
// to measure.
bool is_measured(char const* value, bool reports_activity) {
  setenv("TRACE_CUDA_DEVICE_TIMES", value, 1);
  std::string const text = printed_of_driver(
      [&] {
        DriverOptions options;
        options.measures_launches = reports_activity;
        Driver driver(measurable(), options);
        driver.launch_kernel(function_of(driver, "first"), {4}, {32}, 8, nullptr, nullptr);
        driver.ctx_synchronize();
      },
      SpanEvents::close);
  bool const is_said = text.find("tracing::cuda: Device times of a Driver's calls are measured by events") != text.npos;
  bool const is_measured = text.find("TRACE kernel{kernel.name=first") != text.npos;
  return is_said && is_measured;
}

TEST(EventTimesDeathTest, AreTakenIfTheVariableAsksForThem) {
  bool const lacks_cupti = !start_device_times().empty();
  struct Case {
    char const* value;
    bool reports_activity;
    bool is_measured;
  };
  for (Case const& c : {Case{"off", false, false}, Case{"on", false, lacks_cupti}, Case{"on", true, false},
                        Case{"events", false, true}, Case{"events", true, true}}) {
    EXPECT_EXIT(_exit(is_measured(c.value, c.reports_activity) ? 1 : 0), testing::ExitedWithCode(c.is_measured ? 1 : 0),
                "")
        << c.value << c.reports_activity;
  }
}

}}  // namespace tracing::cuda_test
