// Tests the times that the CPU backend reports for kernels and copies of memory, read back from a recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_kernels.h"
#include "cuda_cpu/cpu/cpu_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/cuda/activity.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/record/record.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/tracing.h"

namespace cuda_cpu { namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using tracing::Instant;
using tracing::cuda::Driver;
using tracing::recording::Entry;
using tracing::recording::EntryType;

struct RecordedSpan {
  std::string name;
  std::string track;
  std::map<std::string, std::string> fields;
  Instant begin;
  Instant end;
  std::uint64_t parent = 0;
  std::uint64_t cause = 0;
};
// Spans by key, in the order of their beginnings.
using RecordedSpans = std::map<std::uint64_t, RecordedSpan>;

class CpuActivity : public CpuDriver {
 protected:
  CpuActivity() { EXPECT_EQ(driver.module_load(&module, kTestKernels, "kernels", sizeof(kTestKernels)), CUDA_SUCCESS); }

  // Calls `f` and records its events up to `level`. Then calls `f_later` without recording.
  template <class F>
  RecordedSpans record(
      F f, tracing::LevelFilter level = tracing::LevelFilter::trace, std::function<void()> const& f_later = [] {}) {
    std::string const file = folder_ / ("run" + std::to_string(++recordings_) + ".rec");
    auto [layer, failed] = tracing::record_layer({.path = file});
    EXPECT_FALSE(failed) << failed.message();
    auto filter = tracing::filter_fn([level](tracing::Metadata const& m) { return m.level() <= level; });
    tracing::with_default(tracing::RegistryBuilder().with(std::move(layer), std::move(filter)).build(), f);
    f_later();
    std::string error;
    auto const recording = tracing::recording::Recording::read_file(file, error);
    EXPECT_NE(recording, nullptr) << error;
    RecordedSpans spans;
    recording->for_each([&spans](Entry const& entry) { add(entry, spans); });
    EXPECT_THAT(recording->problems(), IsEmpty());
    return spans;
  }
  CUresult launch(char const* name, CUstream stream, std::vector<void*> parameters, unsigned shared_bytes = 0) {
    CUfunction function = nullptr;
    EXPECT_EQ(driver.module_get_function(&function, module, name), CUDA_SUCCESS);
    return driver.launch_kernel(function, {2, 1, 1}, {4, 1, 1}, shared_bytes, stream, parameters.data());
  }

  Driver driver{api};
  CUmodule module = nullptr;

 private:
  static void add(Entry const& entry, RecordedSpans& spans) {
    RecordedSpan& span = spans[entry.span];
    switch (entry.type) {
      case EntryType::scope_begin:
      case EntryType::new_span:
        span.name = entry.metadata->name();
        span.track = entry.track_name;
        span.begin = entry.time;
        span.parent = entry.parent;
        add_fields(entry, span);
        break;
      case EntryType::scope_end:
      case EntryType::exit:
        if (span.end < entry.time) span.end = entry.time;
        break;
      case EntryType::follows_from: span.cause = entry.cause; break;
      default: break;
    }
  }
  static void add_fields(Entry const& entry, RecordedSpan& span) {
    tracing::FieldValues const values(*entry.metadata, entry.values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values.value(i).is_empty()) continue;
      tracing::InlineTextBuffer<256> text;
      append_debug(text, values.value(i));
      span.fields[std::string(values.name(i))] = text.view();
    }
  }

  tracing_test::TemporaryFolder const folder_;
  int recordings_ = 0;
};

std::vector<RecordedSpan> on_track(RecordedSpans const& spans, std::string_view track) {
  std::vector<RecordedSpan> found;
  for (auto const& [key, span] : spans) {
    if (span.track == track) found.push_back(span);
  }
  return found;
}
std::vector<std::string> names(std::vector<RecordedSpan> const& spans) {
  std::vector<std::string> all;
  for (RecordedSpan const& span : spans) all.push_back(span.name);
  return all;
}

TEST_F(CpuActivity, KernelIsASpanOfItsStreamThatFollowsFromTheLaunch) {
  CUstream stream = nullptr;
  ASSERT_EQ(driver.stream_create(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  CUdeviceptr address = allocate(64);
  auto const spans = record([&] {
    EXPECT_EQ(launch("add_one", stream, {&address}), CUDA_SUCCESS);
    EXPECT_EQ(driver.stream_synchronize(stream), CUDA_SUCCESS);
  });
  auto const kernels = on_track(spans, "GPU 0 stream 1");
  ASSERT_THAT(names(kernels), ElementsAre("kernel"));
  RecordedSpan const& kernel = kernels[0];
  EXPECT_EQ(kernel.parent, 0u) << "it is not inside of what the host did";
  ASSERT_TRUE(spans.contains(kernel.cause));
  RecordedSpan const& launched = spans.at(kernel.cause);
  EXPECT_EQ(launched.name, "launch");
  EXPECT_THAT(kernel.fields,
              AllOf(SizeIs(8), Contains(Pair("kernel.name", "add_one")), Contains(Pair("grid", "(2, 1, 1)")),
                    Contains(Pair("block", "(4, 1, 1)")), Contains(Pair("shared_bytes", "0")),
                    Contains(Pair("registers", Not("0"))), Contains(Pair("stream", "1")), Contains(Pair("device", "0")),
                    Contains(Pair("launch", launched.fields.at("launch")))));
}

TEST_F(CpuActivity, KernelHasTheSharedMemoryThatItsLaunchAskedFor) {
  CUdeviceptr address = allocate(64);
  auto const spans = record([&] {
    EXPECT_EQ(launch("add_one", nullptr, {&address}, 32), CUDA_SUCCESS);
    EXPECT_EQ(driver.ctx_synchronize(), CUDA_SUCCESS);
  });
  auto const kernels = on_track(spans, "GPU 0 stream 0");
  ASSERT_THAT(names(kernels), ElementsAre("kernel"));
  EXPECT_THAT(kernels[0].fields,
              AllOf(Contains(Pair("shared_bytes", "32")), Contains(Pair("dynamic_shared_bytes", "32"))));
}

// The kernel has the name that its launch has, so `testlog stats` has one row for both.
TEST_F(CpuActivity, KernelHasTheNameOfTheSource) {
  constexpr char kSource[] =
      ".version 8.0 .target sm_75 .address_size 64 .visible .entry _ZN3app5scaleIfEEvPT_() { ret; }";
  CUmodule in_cpp = nullptr;
  ASSERT_EQ(driver.module_load(&in_cpp, kSource, "in_cpp", sizeof(kSource)), CUDA_SUCCESS);
  CUfunction function = nullptr;
  ASSERT_EQ(driver.module_get_function(&function, in_cpp, "_ZN3app5scaleIfEEvPT_"), CUDA_SUCCESS);
  auto const spans = record([&] {
    EXPECT_EQ(driver.launch_kernel(function, {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(driver.ctx_synchronize(), CUDA_SUCCESS);
  });
  auto const kernels = on_track(spans, "GPU 0 stream 0");
  ASSERT_THAT(names(kernels), ElementsAre("kernel"));
  EXPECT_EQ(kernels[0].fields.at("kernel.name"), "app::scale<float>");
  EXPECT_EQ(spans.at(kernels[0].cause).fields.at("kernel.name"), "app::scale<float>");
}

TEST_F(CpuActivity, KernelRunsBetweenItsLaunchAndTheObservationOfItsEnd) {
  CUdeviceptr address = allocate(64);
  Instant const before = Instant::now();
  auto const spans = record([&] {
    EXPECT_EQ(launch("add_one", nullptr, {&address}), CUDA_SUCCESS);
    EXPECT_EQ(driver.ctx_synchronize(), CUDA_SUCCESS);
  });
  Instant const after = Instant::now();
  auto const kernels = on_track(spans, "GPU 0 stream 0");
  ASSERT_THAT(names(kernels), ElementsAre("kernel"));
  EXPECT_LT(before, kernels[0].begin);
  EXPECT_LE(spans.at(kernels[0].cause).begin, kernels[0].begin);
  EXPECT_LT(kernels[0].begin, kernels[0].end);
  EXPECT_LT(kernels[0].end, after);
  for (auto const& [key, span] : spans) {
    if (span.name == "ctx_synchronize") {
      EXPECT_LE(kernels[0].end, span.end);
    }
  }
}

TEST_F(CpuActivity, CopiesAndFillsHaveTheirBytes) {
  CUstream stream = nullptr;
  ASSERT_EQ(driver.stream_create(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr const from = allocate(64), to = allocate(64);
  char text[32] = {};
  auto* const pinned = allocate_pinned<char>(16);
  auto const spans = record([&] {
    EXPECT_EQ(driver.memcpy_htod(from, text, 32), CUDA_SUCCESS);
    EXPECT_EQ(driver.memset_d32_async(from, 7, 3, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.memset_d2d16_async(from, 16, 7, 3, 4, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.memcpy_htod_async(from, text, 8, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.memcpy_dtod_async(to, from, 64, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.memcpy_dtoh_async(pinned, to, 16, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.stream_synchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.memcpy_dtoh(text, from, 4), CUDA_SUCCESS);
  });
  auto const of_default = on_track(spans, "GPU 0 stream 0");
  ASSERT_THAT(names(of_default), ElementsAre("memcpy_htod", "memcpy_dtoh"));
  EXPECT_THAT(of_default[0].fields, ElementsAre(Pair("bytes", "32"), Pair("device", "0"), Pair("stream", "0")));
  EXPECT_EQ(of_default[1].fields.at("bytes"), "4");
  EXPECT_EQ(spans.at(of_default[1].cause).name, "memcpy_dtoh");
  EXPECT_NE(spans.at(of_default[1].cause).track, "GPU 0 stream 0") << "the cause is the call";
  auto const of_stream = on_track(spans, "GPU 0 stream 1");
  ASSERT_THAT(names(of_stream), ElementsAre("memset", "memset", "memcpy_htod", "memcpy_dtod", "memcpy_dtoh"));
  EXPECT_EQ(of_stream[0].fields.at("bytes"), "12");
  EXPECT_EQ(of_stream[1].fields.at("bytes"), "24");
  EXPECT_EQ(of_stream[2].fields.at("bytes"), "8");
  EXPECT_EQ(of_stream[3].fields.at("bytes"), "64");
  EXPECT_EQ(of_stream[4].fields.at("bytes"), "16");
  EXPECT_EQ(of_stream[4].fields.at("stream"), "1");
  EXPECT_EQ(spans.at(of_stream[3].cause).name, "memcpy_dtod_async");
  for (std::size_t i = 1; i < of_stream.size(); ++i) EXPECT_LE(of_stream[i - 1].end, of_stream[i].begin);
}

TEST_F(CpuActivity, IsNotMeasuredWhileItIsOff) {
  static bool is_wanted;
  is_wanted = true;
  tracing::cuda::DriverApi asking = api;
  asking.memset_d8 = [](CUdeviceptr, unsigned char, std::size_t) {
    is_wanted = tracing::cuda::current_device_call(tracing::cuda::ActivityKind::memset).has_value();
    return CUDA_SUCCESS;
  };
  CUdeviceptr address = allocate(64);
  auto const spans = record(
      [&] {
        EXPECT_EQ(Driver(asking).memset_d8(address, 0, 1), CUDA_SUCCESS);
        EXPECT_EQ(launch("add_one", nullptr, {&address}), CUDA_SUCCESS);
        EXPECT_EQ(driver.ctx_synchronize(), CUDA_SUCCESS);
      },
      tracing::LevelFilter::debug);
  EXPECT_FALSE(is_wanted);
  EXPECT_THAT(on_track(spans, "GPU 0 stream 0"), IsEmpty());
}

TEST_F(CpuActivity, IsRecordedWhereItsCallWasAlsoWhenTheScopeOfThatRegistryHasEnded) {
  CUstream stream = nullptr;
  ASSERT_EQ(driver.stream_create(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr const memory = allocate(64);
  HeldUp held(api, stream);
  auto const spans = record([&] { EXPECT_EQ(driver.memset_d8_async(memory, 1, 64, stream), CUDA_SUCCESS); },
                            tracing::LevelFilter::trace,
                            [&] {
                              held.release();
                              EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
                            });
  EXPECT_THAT(names(on_track(spans, "GPU 0 stream 1")), ElementsAre("memset"));
}

TEST_F(CpuActivity, IsNotReportedForCallsThatNoDriverMade) {
  auto const spans = record([&] {
    EXPECT_EQ(api.memset_d8(allocate(64), 0, 1), CUDA_SUCCESS);
    EXPECT_EQ(api.ctx_synchronize(), CUDA_SUCCESS);
  });
  EXPECT_THAT(on_track(spans, "GPU 0 stream 0"), IsEmpty());
}

}}  // namespace cuda_cpu
