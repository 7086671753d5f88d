#include "tracing_core/perf/recorders.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "tests/approval.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/perf/perf_layer.h"
#include "tracing_core/perf/timed.h"
#include "tracing_core/tracing.h"

namespace gpu {

void record_all() {
  using namespace std::chrono_literals;
  TRACE_PERF_ALLOCATION(4096, "pool");
  TRACE_PERF_EXECUTION("gemm", 83'999ns);
  TRACE_PERF_TRANSFER(4096, tracing::H2D, 250us);
  TRACE_PERF_TRANSFER(3 * 1024 * 1024, tracing::D2H, 1ms);
  TRACE_PERF_TRANSFER(1, tracing::D2D, 0ns);
  TRACE_PERF_THROUGHPUT(1000, 250us);
  TRACE_PERF_FLOPS(2 * 128 * 128 * 128, 5ms);
}

}  // namespace gpu

namespace tracing { namespace {

using namespace std::chrono_literals;

std::string recorded(FormatKind kind, std::chrono::nanoseconds threshold = 0ns) {
  std::string text;
  auto [layer, filter, statistics] = perf_layer();
  WriterPtr writer = to_sink(make_sink([&](Level, std::string_view line) { text += line; }));
  auto const registry =
      RegistryBuilder()
          .with(print_layer(
              {.format = {.kind = kind, .timer = nullptr}, .threshold = threshold, .writer = std::move(writer)}))
          .with(std::move(layer), std::move(filter))
          .build();
  with_default(registry, gpu::record_all);
  return text;
}

TEST(Recorders, HaveTheApprovedFields) {
  tracing::testing::expect_approved("recorders.txt", recorded(FormatKind::full) + "\n" + recorded(FormatKind::json));
}

TEST(Recorders, AreNotPrintedBelowTheThreshold) {
  std::string const all = recorded(FormatKind::full), long_ones = recorded(FormatKind::full, 250us);
  for (char const* const duration : {"duration_us=83 ", "duration_us=0 "}) {
    EXPECT_NE(all.find(duration), all.npos);
    EXPECT_EQ(long_ones.find(duration), long_ones.npos);
  }
  for (char const* const kept : {"duration_us=250 ", "duration_us=1000 ", "memory_allocation", "gflops"}) {
    EXPECT_NE(long_ones.find(kept), long_ones.npos) << kept;
  }
}

TEST(Recorders, TakeAnyDuration) {
  constexpr auto kLong = internal::recorded_duration(std::chrono::hours::max());
  static_assert(kLong.us == ~std::uint64_t{0} / 1000 && kLong.seconds > 1.8e10 && kLong.ms > 1.8e13);
  constexpr auto kNone = internal::recorded_duration(std::chrono::hours::min());
  static_assert(kNone.us == 0 && kNone.seconds == 0 && kNone.rate(1) == 0);
}

TEST(Recorders, EvaluateNothingWhileOff) {
  int evaluated = 0;
  TRACE_PERF_ALLOCATION(++evaluated, "x");
  TRACE_PERF_EXECUTION("x", std::chrono::seconds(++evaluated));
  TRACE_PERF_TRANSFER(++evaluated, H2D, 1s);
  TRACE_PERF_THROUGHPUT(++evaluated, 1s);
  if (evaluated == 0) TRACE_PERF_FLOPS(++evaluated, 1s);
  EXPECT_EQ(evaluated, 0);
}

TEST(Timed, ReturnsResultAndDuration) {
  auto const [result, duration] = timed([] {
    std::this_thread::sleep_for(2ms);
    return std::string("done");
  });
  EXPECT_EQ(result, "done");
  EXPECT_GE(duration, 2ms);
  EXPECT_GE(timed([] { std::this_thread::sleep_for(2ms); }), 2ms);
}

TEST(Timed, PassesOnReferencesAndExceptions) {
  int value = 0;
  timed([&]() -> int& { return value; }).result = 7;
  EXPECT_EQ(value, 7);
  EXPECT_THROW(static_cast<void>(timed([]() -> int { throw 1; })), int);
}

}}  // namespace tracing
