// Statistics of recordings.
#include "tracing_core/inspect/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/approval.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/inspect/statistics_reader.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using recording::Recording;
using recording::StatisticsReader;
using recording::StatisticsSource;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::int64_t kStart = 1'800'000'000'000'000'000;

// Emits spans at known times, on separate tracks for threads and for a device.
class Timeline {
 public:
  explicit Timeline(std::shared_ptr<Registry> registry) : registry_(std::move(registry)) {}

  struct Names {
    std::string_view name, target;
    std::vector<std::string_view> fields{};
  };
  // Makes and enters a span. Times are in ns since the start.
  SpanId enter(Track const& track, std::int64_t at, Names const& names, std::vector<Value> values = {}) {
    CallsiteDescription description{
        .kind = Kind::span, .name = names.name, .target = names.target, .fields = names.fields};
    RuntimeCallsite const callsite(description);
    values.resize(names.fields.size());
    SpanId const span =
        registry_->new_span({FieldValues(callsite.metadata(), values.data()), {}, ~LayerMask{0}, origin(track, at)});
    registry_->enter(span, origin(track, at));
    return span;
  }
  void leave(Track const& track, std::int64_t at, SpanId span) {
    registry_->exit(span, origin(track, at));
    registry_->drop_reference(span, origin(track, at));
  }
  void enter_again(Track const& track, std::int64_t at, SpanId span) {
    registry_->exit(span, origin(track, at));
    registry_->enter(span, origin(track, at));
  }
  void span(Track const& track, std::int64_t begin, std::int64_t end, Names const& names,
            std::vector<Value> values = {}) {
    leave(track, end, enter(track, begin, names, std::move(values)));
  }
  void event(Track const& track, std::int64_t at, std::string_view message, std::vector<std::string_view> fields,
             std::vector<Value> values) {
    fields.insert(fields.begin(), "message");
    values.insert(values.begin(), Value::of_text(message));
    RuntimeCallsite const callsite({.target = "tracing::cuda", .fields = fields});
    registry_->event({FieldValues(callsite.metadata(), values.data()), {}, ~LayerMask{0}, origin(track, at)});
  }

 private:
  static Origin origin(Track const& track, std::int64_t at) { return {&track, Instant{kStart + at}}; }

  std::shared_ptr<Registry> const registry_;
};

Track const kThread{9001, "worker"};
Track const kStream{9002, "GPU 0 stream 7"};
std::vector<std::string_view> const kKernelFields{"kernel.name", "grid", "block", "shared_bytes", "registers"};

class StatisticsTest : public ::testing::Test {
 protected:
  // Records what `f(timeline)` does, and returns the path of the recording.
  std::string record(std::function<void(Timeline&)> const& f) {
    std::string const path = folder_ / std::to_string(++files_) + ".rec";
    auto [layer, error] = record_layer({.path = path});
    EXPECT_FALSE(error) << error.message();
    std::shared_ptr<Registry> const registry = RegistryBuilder().with(std::move(layer)).build();
    Timeline timeline(registry);
    with_default(registry, [&] { f(timeline); });
    return path;
  }
  static std::unique_ptr<Recording> read(std::string const& path) {
    std::string error;
    auto recording = Recording::read_file(path, error);
    EXPECT_NE(recording, nullptr) << error;
    return recording;
  }
  static Statistics statistics_of(std::vector<std::string> const& paths, StatisticsBy by = StatisticsBy::all) {
    StatisticsReader reader(by);
    for (std::string const& path : paths) {
      auto const recording = read(path);
      reader.add(StatisticsSource(*recording));
    }
    return reader.finish();
  }
  StatisticsGroup all_of(std::function<void(Timeline&)> const& f) {
    Statistics statistics = statistics_of({record(f)});
    EXPECT_EQ(statistics.groups.size(), 1u);
    return statistics.empty() ? StatisticsGroup{} : std::move(statistics.groups.front());
  }

  tracing_test::TemporaryFolder const folder_;
  int files_ = 0;
};

TEST_F(StatisticsTest, HaveTheTimesOfSpans) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    SpanId const outer = timeline.enter(kThread, 0, {"outer", "lib"});
    timeline.span(kThread, 100, 120, {"inner", "lib"});
    timeline.span(kThread, 200, 210, {"inner", "lib"});
    timeline.span(kThread, 300, 330, {"inner", "lib"});
    timeline.leave(kThread, 1000, outer);
  });
  ASSERT_EQ(group.spans.size(), 2u);
  SpanStatistics const& outer = group.spans[0];
  EXPECT_EQ(outer.name, "lib::outer");
  EXPECT_EQ(outer.time.calls, 1u);
  EXPECT_EQ(outer.time.total_ns, 1000u);
  EXPECT_EQ(outer.self_ns, 940u);
  EXPECT_DOUBLE_EQ(outer.share, 0.94);
  SpanStatistics const& inner = group.spans[1];
  EXPECT_EQ(inner.name, "lib::inner");
  EXPECT_EQ(inner.time.calls, 3u);
  EXPECT_EQ(inner.time.total_ns, 60u);
  EXPECT_EQ(inner.time.mean_ns, 20u);
  EXPECT_EQ(inner.time.min_ns, 10u);
  EXPECT_EQ(inner.time.p50_ns, 20u);
  EXPECT_EQ(inner.time.p95_ns, 30u);
  EXPECT_EQ(inner.time.max_ns, 30u);
  EXPECT_EQ(inner.open, 0u);
}

TEST_F(StatisticsTest, CountTheTimeOfARecursionOnceInTheTotal) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    SpanId const outer = timeline.enter(kThread, 0, {"visit", "tree"});
    timeline.span(kThread, 100, 400, {"visit", "tree"});
    timeline.leave(kThread, 1000, outer);
  });
  ASSERT_EQ(group.spans.size(), 1u);
  EXPECT_EQ(group.spans[0].time.calls, 2u);
  EXPECT_EQ(group.spans[0].time.total_ns, 1000u);
  EXPECT_EQ(group.spans[0].time.mean_ns, 650u);
  EXPECT_EQ(group.spans[0].self_ns, 1000u);
}

TEST_F(StatisticsTest, CountAHeldSpanEachTimeThatItIsEntered) {
  StatisticsGroup const group = all_of([](Timeline&) {
    auto const span = TRACE_MAKE_SPAN(info, "request");
    for (int i = 0; i < 3; ++i) span.in_scope([] {});
  });
  ASSERT_EQ(group.spans.size(), 1u);
  EXPECT_EQ(group.spans[0].time.calls, 3u);
}

TEST_F(StatisticsTest, SayHowManySpansDidNotEnd) {
  StatisticsGroup const group = all_of([this](Timeline& timeline) {
    timeline.span(kThread, 0, 50, {"work", "lib"});
    timeline.enter(kThread, 100, {"work", "lib"});
    timeline.span(kThread, 200, 400, {"other", "lib"});
    std::string error;  // while the span is open
    ASSERT_NE(Recording::read_file(folder_ / "1.rec", error), nullptr) << error;
    std::filesystem::copy_file(folder_ / "1.rec", folder_ / "open.rec");
  });
  Statistics const open = statistics_of({folder_ / "open.rec"});
  ASSERT_EQ(open.groups.size(), 1u);
  ASSERT_EQ(open.groups[0].spans.size(), 2u);
  SpanStatistics const& work = open.groups[0].spans[1];
  EXPECT_EQ(work.name, "lib::work");
  EXPECT_EQ(work.time.calls, 2u);
  EXPECT_EQ(work.open, 1u);
  EXPECT_EQ(work.time.max_ns, 300u) << "until the last record";
}

TEST_F(StatisticsTest, HaveARowForEachConfigurationOfAKernel) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    auto const run = [&](std::int64_t begin, std::int64_t end, std::string_view grid) {
      timeline.span(kStream, begin, end, {"kernel", "tracing::cuda::device", kKernelFields},
                    {Value::of_verbatim("saxpy"), Value::of_verbatim(grid), Value::of_verbatim("(64, 1, 1)"),
                     Value::of_u64(512), Value::of_u64(24)});
    };
    run(0, 100, "(4, 1, 1)");
    run(200, 500, "(4, 1, 1)");
    run(600, 650, "(1, 1, 1)");
  });
  EXPECT_THAT(group.spans, IsEmpty()) << "they are no spans of a thread";
  ASSERT_EQ(group.kernels.size(), 2u);
  KernelStatistics const& row = group.kernels[0];
  EXPECT_EQ(row.name, "saxpy");
  EXPECT_EQ(row.grid, "(4, 1, 1)");
  EXPECT_EQ(row.block, "(64, 1, 1)");
  EXPECT_EQ(row.shared_bytes, 512u);
  EXPECT_EQ(row.registers, 24u);
  EXPECT_TRUE(row.is_timed);
  EXPECT_EQ(row.time.calls, 2u);
  EXPECT_EQ(row.time.total_ns, 400u);
  EXPECT_EQ(row.time.mean_ns, 200u);
  EXPECT_EQ(row.time.min_ns, 100u);
  EXPECT_EQ(row.time.max_ns, 300u);
  EXPECT_EQ(group.kernels[1].grid, "(1, 1, 1)");
  EXPECT_EQ(group.kernels[1].time.calls, 1u);
}

TEST_F(StatisticsTest, HaveTheThroughputOfCopies) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    timeline.span(kStream, 0, 1000, {"memcpy_htod", "tracing::cuda::device", {"bytes"}}, {Value::of_u64(3000)});
    timeline.span(kStream, 2000, 3000, {"memcpy_htod", "tracing::cuda::device", {"bytes"}}, {Value::of_u64(1000)});
  });
  ASSERT_EQ(group.kernels.size(), 1u);
  EXPECT_EQ(group.kernels[0].name, "memcpy_htod");
  EXPECT_EQ(group.kernels[0].bytes, 4000u);
  EXPECT_DOUBLE_EQ(group.kernels[0].gb_per_s(), 2.0);
  EXPECT_EQ(group.kernels[0].grid, "");
  EXPECT_FALSE(group.kernels[0].shared_bytes.has_value());
}

// Emits a launch as tracing::cuda does, whose span is entered again to report its end.
void launch(Timeline& timeline, std::int64_t at) {
  SpanId const span =
      timeline.enter(kThread, at, {"launch", "tracing::cuda", {"kernel.name", "grid", "block", "shared_bytes"}},
                     {Value::of_verbatim("saxpy"), Value::of_verbatim("(4, 1, 1)"), Value::of_verbatim("(64, 1, 1)"),
                      Value::of_u64(100)});
  timeline.enter_again(kThread, at + 10, span);
  timeline.leave(kThread, at + 15, span);
}

TEST_F(StatisticsTest, CountLaunchesIfTheDeviceReportedNothing) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    timeline.event(kThread, 0, "found kernel", {"kernel.name", "registers", "shared_bytes"},
                   {Value::of_verbatim("saxpy"), Value::of_i64(32), Value::of_i64(28)});
    launch(timeline, 100);
    launch(timeline, 200);
    timeline.span(kThread, 300, 310, {"memcpy_htod_async", "tracing::cuda", {"bytes"}}, {Value::of_u64(64)});
    timeline.span(kThread, 320, 330, {"memset_d32", "tracing::cuda", {"value", "count"}},
                  {Value::of_u64(0), Value::of_u64(8)});
  });
  ASSERT_THAT(group.kernels,
              ElementsAre(Field(&KernelStatistics::name, "saxpy"), Field(&KernelStatistics::name, "memcpy_htod"),
                          Field(&KernelStatistics::name, "memset")))
      << "by calls";
  KernelStatistics const& row = group.kernels[0];
  EXPECT_FALSE(row.is_timed);
  EXPECT_EQ(row.time.calls, 2u);
  EXPECT_EQ(row.time.total_ns, 0u) << "what the host took is no time of the kernel";
  EXPECT_EQ(row.grid, "(4, 1, 1)");
  EXPECT_EQ(row.shared_bytes, 128u) << "what the launch asked for, and the kernel's own";
  EXPECT_EQ(row.registers, 32u);
  EXPECT_EQ(group.kernels[1].bytes, 64u);
  EXPECT_EQ(group.kernels[2].bytes, 32u);
}

// For example, TRACE_LAUNCH(scale<float>, ...) in namespace lib, with the stand-in for the runtime library.
TEST_F(StatisticsTest, CountALaunchInsideALaunchOnce) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    auto const enter = [&](std::int64_t at, char const* target, char const* kernel) {
      return timeline.enter(
          kThread, at, {"launch", target, {"kernel.name", "grid", "block"}},
          {Value::of_verbatim(kernel), Value::of_verbatim("(4, 1, 1)"), Value::of_verbatim("(64, 1, 1)")});
    };
    for (std::int64_t const at : {100, 200}) {
      SpanId const outer = enter(at, "lib", "scale<float>"),
                   inner = enter(at + 10, "tracing::cuda", "lib::scale<float>");
      timeline.leave(kThread, at + 20, inner);
      timeline.leave(kThread, at + 30, outer);
    }
    timeline.leave(kThread, 310, enter(300, "lib", "other"));
  });
  ASSERT_THAT(group.kernels, ElementsAre(Field(&KernelStatistics::name, "lib::scale<float>"),
                                         Field(&KernelStatistics::name, "other")));
  EXPECT_EQ(group.kernels[0].time.calls, 2u);
  EXPECT_EQ(group.kernels[1].time.calls, 1u) << "on a GPU there is no launch inside";
}

TEST_F(StatisticsTest, DoNotCountCallsThatAreCapturedIntoAGraph) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    timeline.span(kThread, 100, 110, {"launch", "tracing::cuda", {"kernel.name", "grid", "block", "capture"}},
                  {Value::of_verbatim("saxpy"), Value::of_verbatim("(4, 1, 1)"), Value::of_verbatim("(64, 1, 1)"),
                   Value::of_text("active")});
    timeline.span(
        kThread, 120, 130, {"launch", "tracing::cuda", {"kernel.name", "grid", "block", "capture"}},
        {Value::of_verbatim("saxpy"), Value::of_verbatim("(4, 1, 1)"), Value::of_verbatim("(64, 1, 1)"), Value()});
    timeline.span(kThread, 300, 310, {"memcpy_htod_async", "tracing::cuda", {"bytes", "capture"}},
                  {Value::of_u64(64), Value::of_text("active")});
    timeline.span(kThread, 320, 330, {"memset_d32_async", "tracing::cuda", {"count", "capture"}},
                  {Value::of_u64(8), Value::of_text("active")});
  });
  ASSERT_THAT(group.kernels, ElementsAre(Field(&KernelStatistics::name, "saxpy")));
  EXPECT_EQ(group.kernels[0].time.calls, 1u);
}

TEST_F(StatisticsTest, CountTheBytesOfRows) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    timeline.span(kThread, 0, 10, {"memcpy_3d", "tracing::cuda", {"row_bytes", "rows", "slices"}},
                  {Value::of_u64(5), Value::of_u64(3), Value::of_u64(2)});
    timeline.span(kThread, 20, 30, {"memset_d2d16_async", "tracing::cuda", {"row_bytes", "rows"}},
                  {Value::of_u64(6), Value::of_u64(4)});
  });
  ASSERT_EQ(group.kernels.size(), 2u);
  EXPECT_EQ(group.kernels[0].name, "memcpy_3d");
  EXPECT_EQ(group.kernels[0].bytes, 30u);
  EXPECT_EQ(group.kernels[1].name, "memset");
  EXPECT_EQ(group.kernels[1].bytes, 24u);
}

TEST_F(StatisticsTest, CountACopyOfRowsOnceThatTheDeviceReported) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    timeline.span(kThread, 0, 10, {"memcpy_3d", "tracing::cuda", {"row_bytes", "rows", "slices"}},
                  {Value::of_u64(5), Value::of_u64(3), Value::of_u64(2)});
    timeline.span(kStream, 2, 8, {"memcpy_htod", "tracing::cuda::device", {"bytes"}}, {Value::of_u64(30)});
  });
  ASSERT_EQ(group.kernels.size(), 1u);
  EXPECT_EQ(group.kernels[0].name, "memcpy_htod");
  EXPECT_EQ(group.kernels[0].time.calls, 1u);
  EXPECT_EQ(group.kernels[0].bytes, 30u);
}

TEST_F(StatisticsTest, CountALaunchOnceThatTheDeviceReported) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    launch(timeline, 0);
    timeline.span(kStream, 20, 120, {"kernel", "tracing::cuda::device", kKernelFields},
                  {Value::of_verbatim("saxpy"), Value::of_verbatim("(4, 1, 1)"), Value::of_verbatim("(64, 1, 1)"),
                   Value::of_u64(128)});
  });
  ASSERT_EQ(group.kernels.size(), 1u);
  EXPECT_EQ(group.kernels[0].time.calls, 1u);
  EXPECT_EQ(group.kernels[0].time.total_ns, 100u);
}

TEST_F(StatisticsTest, CountCompilationsAndHits) {
  StatisticsGroup const group = all_of([](Timeline& timeline) {
    auto const compile = [&](std::int64_t at, std::string_view name, Value cache, Value duration_ms) {
      timeline.span(kThread, at, at + 10, {"compile", "tracing::cuda", {"kernel.name", "cache", "duration_ms"}},
                    {Value::of_text(name), cache, duration_ms});
    };
    compile(0, "saxpy", Value::of_text("miss"), Value::of_f64(2.5));
    compile(20, "saxpy", Value::of_text("memory"), Value());
    compile(40, "saxpy", Value::of_text("disk"), Value());
    compile(60, "dot", Value(), Value::of_f64(1));          // without a cache
    compile(80, "wrong", Value::of_text("none"), Value());  // a failed compilation
    compile(100, "zoo", Value(), Value::of_f64(7e229));     // of a damaged recording
  });
  ASSERT_EQ(group.compiles.size(), 4u);
  auto const row = [&](std::size_t i) {
    return std::tuple(group.compiles[i].name, group.compiles[i].misses, group.compiles[i].hits,
                      group.compiles[i].total_ns);
  };
  EXPECT_EQ(row(0), std::tuple("saxpy", 1u, 2u, 2'500'000u));
  EXPECT_EQ(row(1), std::tuple("dot", 1u, 0u, 1'000'000u));
  EXPECT_EQ(row(2), std::tuple("wrong", 1u, 0u, 0u));
  EXPECT_EQ(row(3), std::tuple("zoo", 1u, 0u, 0u));
}

// Emits an allocation as tracing::cuda does.
void allocate(std::uint64_t pointer, std::uint64_t bytes) {
  auto const address = reinterpret_cast<void const*>(pointer);
  TRACE_SPAN(trace, "mem_alloc", tracing::target("tracing::cuda"), bytes, kv("device", 0));
  TRACE_TRACE("allocated", tracing::target("tracing::cuda"), kv("pointer", address));
}
void release(std::uint64_t pointer) {
  auto const address = reinterpret_cast<void const*>(pointer);
  TRACE_SPAN(trace, "mem_free", tracing::target("tracing::cuda"), kv("pointer", address));
  TRACE_TRACE("freed", tracing::target("tracing::cuda"));
}

TEST_F(StatisticsTest, HaveThePeakOfMemoryBySpan) {
  StatisticsGroup const group = all_of([](Timeline&) {
    {
      TRACE_SPAN(info, "load", tracing::target("lib"));
      allocate(1, 100);
      allocate(2, 50);
    }
    {
      TRACE_SPAN(info, "run", tracing::target("lib"));
      release(1);
      allocate(3, 30);
      release(3);
      allocate(3, 30);
    }
  });
  auto const row = [&](std::size_t i) {
    MemoryStatistics const& memory = group.memory.at(i);
    return std::tuple(memory.memory, memory.span, memory.allocations, memory.bytes, memory.peak_bytes,
                      memory.kept_bytes);
  };
  ASSERT_EQ(group.memory.size(), 3u);
  EXPECT_EQ(row(0), std::tuple("GPU 0", "", 4u, 210u, 150u, 80u));
  EXPECT_EQ(row(1), std::tuple("GPU 0", "lib::load", 2u, 150u, 150u, 50u));
  EXPECT_EQ(row(2), std::tuple("GPU 0", "lib::run", 2u, 60u, 30u, 30u));
}

TEST_F(StatisticsTest, AddUpProcessesButTheirPeaks) {
  auto const one = record([](Timeline&) { allocate(1, 100); });
  auto const other = record([](Timeline&) { allocate(1, 60); });
  Statistics const statistics = statistics_of({one, other});
  MemoryStatistics const& all = statistics.groups.at(0).memory.at(0);
  EXPECT_EQ(all.bytes, 160u);
  EXPECT_EQ(all.kept_bytes, 160u);
  EXPECT_EQ(all.peak_bytes, 100u);
  EXPECT_EQ(statistics.groups[0].spans.at(0).time.calls, 2u);
}

std::vector<std::string> names_of(Statistics const& statistics) {
  std::vector<std::string> names;
  for (StatisticsGroup const& group : statistics.groups) {
    for (SpanStatistics const& span : group.spans) names.push_back(group.name + " " + span.name);
    for (KernelStatistics const& kernel : group.kernels) names.push_back(group.name + " " + kernel.name);
  }
  return names;
}

void two_threads_and_a_device(Timeline& timeline) {
  SpanId const outer = timeline.enter(kThread, 0, {"outer", "lib"});
  timeline.span(kThread, 10, 20, {"inner", "other"});
  timeline.leave(kThread, 30, outer);
  timeline.span({9003, "helper"}, 40, 50, {"outer", "lib"});
  timeline.span(kStream, 60, 70, {"memset", "tracing::cuda::device", {"bytes"}}, {Value::of_u64(8)});
}

TEST_F(StatisticsTest, AreGroupedByThread) {
  EXPECT_THAT(names_of(statistics_of({record(two_threads_and_a_device)}, StatisticsBy::thread)),
              ElementsAre("worker lib::outer", "worker other::inner", "helper lib::outer", "GPU 0 stream 7 memset"));
}

TEST_F(StatisticsTest, AreGroupedByTarget) {
  EXPECT_THAT(names_of(statistics_of({record(two_threads_and_a_device)}, StatisticsBy::target)),
              ElementsAre("lib lib::outer", "other other::inner", "tracing::cuda::device memset"));
}

TEST_F(StatisticsTest, AreGroupedByTestOfTheOutermostSpan) {
  auto const recording = read(record([](Timeline&) { TRACE_SPAN(info, "work"); }));
  auto const names = [&](std::optional<std::string> test) {
    StatisticsReader reader(StatisticsBy::test);
    StatisticsSource source(*recording);
    source.test_of = [&](std::uint32_t) { return test; };
    reader.add(std::move(source));
    return names_of(reader.finish());
  };
  EXPECT_THAT(names("Pool.Grows"), ElementsAre("Pool.Grows tracing::work"));
  EXPECT_THAT(names(""), ElementsAre("outside any test tracing::work"));
  EXPECT_THAT(names(std::nullopt), IsEmpty()) << "it is left out";
}

TEST_F(StatisticsTest, HaveOnlyWhatTheFilterSelects) {
  auto const recording = read(record(two_threads_and_a_device));
  StatisticsReader reader(StatisticsBy::target);
  StatisticsSource source(*recording);
  source.filter = to_filter(EnvFilter::parse_lossy("lib=info"));
  reader.add(std::move(source));
  Statistics const statistics = reader.finish();
  EXPECT_THAT(names_of(statistics), ElementsAre("lib lib::outer"));
  EXPECT_EQ(statistics.groups[0].spans[0].self_ns, 40u) << "what is below is the time of the span around it";
}

TEST_F(StatisticsTest, AreSorted) {
  Statistics statistics = statistics_of({record([](Timeline& timeline) {
    timeline.span(kThread, 0, 100, {"long", "a"});
    for (int i = 0; i < 3; ++i) timeline.span(kThread, 200 + 20 * i, 210 + 20 * i, {"often", "b"});
    SpanId const around = timeline.enter(kThread, 300, {"around", "c"});
    timeline.span(kThread, 310, 400, {"inside", "d"});
    timeline.leave(kThread, 410, around);
  })});
  auto const sorted = [&](StatisticsOrder order) {
    sort_statistics(statistics, order);
    std::string first;
    for (SpanStatistics const& span : statistics.groups[0].spans) first += span.name.substr(0, 1);
    return first;
  };
  EXPECT_EQ(sorted(StatisticsOrder::self), "adbc");
  EXPECT_EQ(sorted(StatisticsOrder::total), "cadb");
  EXPECT_EQ(sorted(StatisticsOrder::calls), "bacd");
  EXPECT_EQ(sorted(StatisticsOrder::mean), "cadb");
  EXPECT_EQ(sorted(StatisticsOrder::name), "abcd");
}

// Emits a little of everything, at times that do not change from run to run.
void everything(Timeline& timeline) {
  SpanId const outer = timeline.enter(kThread, 0, {"forward", "numbers"});
  timeline.span(kThread, 1'000, 2'501'000, {"multiply\x1b[31m", "numbers"});
  timeline.span(kThread, 3'000'000, 3'000'950, {"multiply\x1b[31m", "numbers"});
  timeline.leave(kThread, 4'000'000, outer);
  timeline.span(kThread, 4'000'000, 4'100'000, {"compile", "tracing::cuda", {"kernel.name", "cache", "duration_ms"}},
                {Value::of_text("saxpy"), Value::of_text("miss"), Value::of_f64(0.1)});
  for (int i = 0; i < 3; ++i)
    timeline.span(kStream, 5'000'000 + 30'000 * i, 5'020'000 + 31'000 * i,
                  {"kernel", "tracing::cuda::device", kKernelFields},
                  {Value::of_verbatim("saxpy"), Value::of_verbatim("(4, 64, 1)"), Value::of_verbatim("(64, 1, 1)"),
                   Value::of_u64(2048), Value::of_u64(24)});
  timeline.span(kStream, 6'000'000, 6'010'000, {"memcpy_htod", "tracing::cuda::device", {"bytes"}},
                {Value::of_u64(1 << 17)});
  SpanId const allocating = timeline.enter(kThread, 7'000'000, {"mem_alloc", "tracing::cuda", {"bytes", "device"}},
                                           {Value::of_u64(1 << 20), Value::of_i64(0)});
  timeline.event(kThread, 7'000'100, "allocated", {"pointer"}, {Value::of_pointer(reinterpret_cast<void*>(64))});
  timeline.leave(kThread, 7'001'000, allocating);
}

TEST_F(StatisticsTest, PrintTables) {
  std::string const file = record(everything);
  TextBuffer all, short_tables, by_thread;
  append_statistics_table(all, statistics_of({file}));
  testing::expect_approved("statistics.txt", all.view());
  append_statistics_table(short_tables, statistics_of({file}), {.max_rows = 1});
  testing::expect_approved("statistics_short.txt", short_tables.view());
  append_statistics_table(by_thread, statistics_of({file}, StatisticsBy::thread));
  testing::expect_approved("statistics_by_thread.txt", by_thread.view());
}

TEST_F(StatisticsTest, PrintJson) {
  TextBuffer json;
  append_statistics_json(json, statistics_of({record(everything)}, StatisticsBy::thread));
  testing::expect_approved("statistics.json", json.view());
  auto const parsed = nlohmann::json::parse(json.view());
  EXPECT_FALSE(parsed["groups"][1]["kernels"][0].contains("gb_per_s")) << "a kernel's bytes are not known";
  EXPECT_DOUBLE_EQ(parsed["groups"][1]["kernels"][1]["gb_per_s"], 13.1072);
}

TEST_F(StatisticsTest, PrintNothingOfNothing) {
  Statistics const nothing = statistics_of({record([](Timeline&) { TRACE_INFO("no span"); })});
  EXPECT_TRUE(nothing.empty());
  TextBuffer text, json;
  append_statistics_table(text, nothing);
  EXPECT_EQ(text.view(), "");
  append_statistics_json(json, nothing);
  EXPECT_EQ(json.view(), "{\"by\":\"all\",\"groups\":[]}\n");
}

}}  // namespace tracing
