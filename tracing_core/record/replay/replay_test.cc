// A replayed recording prints what was printed live, with the same times and durations to the nanosecond.
#include "tracing_core/record/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

using namespace internal;

std::unique_ptr<Layer> printing_to(std::string& text, FormatKind kind) {
  auto sink = make_sink([&text](Level, std::string_view line) { text += line; });
  FormatOptions format;
  format.kind = kind;
  format.timer = make_timer([](TextBuffer& out, Instant time) {
    out.append_int(time.ns);
    return true;
  });
  return print_layer({.format = format, .span_events = SpanEvents::full, .writer = to_sink(std::move(sink))});
}

class Replayed : public testing::TestWithParam<FormatKind> {
 protected:
  template <class F>
  void record(F f, std::size_t bytes = 1 << 20) {
    auto const store = std::make_shared<RecordStore>(Region::make_anonymous(bytes));
    auto const registry =
        RegistryBuilder().with(std::make_unique<RecordLayer>(store)).with(printing_to(live_, GetParam())).build();
    with_default(registry, [&] { f(registry); });
    auto const recording = read_region(store->region());
    auto const to = RegistryBuilder().with(printing_to(replayed_, GetParam())).build();
    replay(*recording, *to, [](Entry const&) { return true; });
    EXPECT_THAT(recording->problems(), testing::IsEmpty());
  }

  std::string live_, replayed_;
};

TEST_P(Replayed, PrintsTheSameForScopesHandlesAndValues) {
  record([](std::shared_ptr<Registry> const&) {
    int const count = 4;
    TRACE_SPAN(info, "launch", count, kv("kernel.name", "double"));
    TRACE_INFO("moved {} bytes {:>8} {:#x}", 64, "to", 255, kv("pointer", reinterpret_cast<void const*>(0x10)));
    auto request = TRACE_MAKE_SPAN(warn, "request", kv("status", empty));
    request.in_scope([] { TRACE_WARN("inside", kv("list", std::vector<int>{1, 2, 3})); });
    request.record(kv("status", 200));
    TRACE_ERROR("below", parent(request));
    TRACE_DEBUG("at the root", parent(nullptr), kv("error", std::runtime_error("an error")));
    auto other = TRACE_MAKE_SPAN(info, "other", parent(nullptr));
    other.follows_from(request);
    TRACE_VALUES(trace, count, kv("f", 0.1f), kv("text", "two\nlines"));
  });
  EXPECT_EQ(replayed_, live_);
  EXPECT_NE(live_, "");
}

TEST_P(Replayed, PrintsTheSameForSpansOfSeveralThreads) {
  record([](std::shared_ptr<Registry> const& registry) {
    auto request = TRACE_MAKE_SPAN(info, "request", kv("id", 7));
    std::thread([&] {
      ScopedDefault const use(registry);
      request.in_scope([] { TRACE_INFO("working"); });
      TRACE_SPAN(info, "own");
      TRACE_INFO("alone");
    }).join();
    TRACE_INFO("done", parent(request));
  });
  EXPECT_EQ(replayed_, live_);
}

TEST_P(Replayed, PrintsTheLastLinesIfTheFirstAreLost) {
  record(
      [](std::shared_ptr<Registry> const&) {
        TRACE_SPAN(info, "outer", kv("id", 7));
        auto held = TRACE_MAKE_SPAN(info, "held", kv("text", "long ago"));
        for (int i = 0; i < 100'000; ++i) {
          TRACE_SPAN(debug, "inner", i);
          TRACE_INFO("step");
        }
        TRACE_INFO("the end", parent(held));
      },
      Region::kMinBytes);
  ASSERT_GT(replayed_.size(), 10'000u);
  // Those before may begin within a span; those after have durations since the lost beginning of spans.
  auto const last_lines = [](std::string const& text) {
    std::size_t const begin = text.rfind("99990");
    return text.substr(begin, text.rfind("the end") - begin);
  };
  EXPECT_EQ(last_lines(replayed_), last_lines(live_));
}

INSTANTIATE_TEST_SUITE_P(Formats, Replayed,
                         testing::Values(FormatKind::full, FormatKind::compact, FormatKind::pretty, FormatKind::json));

// The times of entries, exits and ends.
class Times final : public Layer {
 public:
  explicit Times(std::vector<std::int64_t>& to) : to_(to) {}
  void on_enter(SpanRef, Context const& context) noexcept override { to_.push_back(context.time().ns); }
  void on_exit(SpanRef, Context const& context) noexcept override { to_.push_back(context.time().ns); }
  void on_close(SpanRef, Context const& context) noexcept override { to_.push_back(context.time().ns); }

 private:
  std::vector<std::int64_t>& to_;
};

std::string at(std::uint32_t ticks, std::string record) {
  std::memcpy(record.data(), &ticks, sizeof(ticks));
  return record;
}

std::vector<std::int64_t> times_of(tracing_test::RecordingBytes const& file, LostEntries lost,
                                   ReplayTimes which = ReplayTimes::recorded) {
  std::string error;
  auto const recording = Recording::read_bytes(file.bytes(), error);
  EXPECT_NE(recording, nullptr) << error;
  std::vector<std::int64_t> times;
  if (recording == nullptr) return times;
  replay(
      *recording, *RegistryBuilder().with(std::make_unique<Times>(times)).build(), [](Entry const&) { return true; },
      lost, which);
  return times;
}

// As in a damaged recording, or of a past span whose clock was set back.
TEST(Replay, FiltersByTheSpansOfTheThreadThatRecorded) {
  auto const store = std::make_shared<RecordStore>(Region::make_anonymous(1 << 20));
  auto const registry = RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build();
  with_default(registry, [&] {
    TRACE_SPAN(info, "work");
    TRACE_TRACE("before");
    std::thread([&] {
      ScopedDefault const use(registry);
      TRACE_TRACE("outside of work");
      TRACE_SPAN(info, "idle");
      TRACE_TRACE("outside of work, too");
    }).join();
    TRACE_TRACE("after");
  });
  std::string text;
  auto const to = RegistryBuilder()
                      .with(printing_to(text, FormatKind::full), to_filter(EnvFilter::parse_lossy("[work]=trace")))
                      .build();
  replay(*read_region(store->region()), *to, [](Entry const&) { return true; });
  EXPECT_THAT(text, testing::AllOf(testing::HasSubstr("before"), testing::HasSubstr("after")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("outside")));
}

TEST(Replay, EndsNoSpanBeforeItBegins) {
  using tracing_test::record;
  constexpr std::uint64_t kHeld = std::uint64_t{1} << 40 | 7;
  tracing_test::SiteBytes site;
  site.row.kind = static_cast<std::uint8_t>(Kind::span);
  tracing_test::RecordingBytes file;
  file.add(0, site.record(1));
  file.add(1, at(50, record(EntryType::scope_begin, 1)) + at(20, record(EntryType::scope_end, 0)) +
                  at(40, record(EntryType::new_span, 1, 1, {kHeld})) + at(30, record(EntryType::enter, 1, 0, {kHeld})) +
                  at(10, record(EntryType::exit, 1, 0, {kHeld})) + at(0, record(EntryType::enter, 1, 0, {kHeld})) +
                  at(9, record(EntryType::exit, 1, 0, {kHeld})) + at(15, record(EntryType::close, 1, 0, {kHeld})));
  EXPECT_THAT(times_of(file, LostEntries::restored), testing::ElementsAre(50, 50, 50, 30, 30, 1, 9, 40));
}

TEST(Replay, SteadyTimesHaveNoStepsOfTheClock) {
  using tracing_test::record;
  constexpr std::uint64_t kRate = std::uint64_t{1} << 32;
  tracing_test::SiteBytes site;
  site.row.kind = static_cast<std::uint8_t>(Kind::span);
  for (std::int64_t const step : {std::int64_t{0}, std::int64_t{-3'600'000'000'000}, std::int64_t{3'600'000'000'000}}) {
    auto const clock = [](std::int64_t ns) {
      return record(EntryType::clock, 0, kRestated, {static_cast<std::uint64_t>(ns), kRate});
    };
    constexpr std::int64_t kBegin = 4'000'000'000'000;
    tracing_test::RecordingBytes file;
    file.add(0, site.record(1));
    file.add(1, clock(kBegin) + at(100, record(EntryType::scope_begin, 1)) +
                    at(200, record(EntryType::scope_begin, 1)) + at(300, record(EntryType::scope_end, 0)));
    constexpr std::uint64_t kOuter = std::uint64_t{1} << 40;
    file.add(1,
             clock(kBegin + step) + at(300, record(EntryType::state, 1, kRestated | kEntered, {kOuter, 0, 0})) +
                 at(400, record(EntryType::new_span, 1, 1, {kOuter + 7})) +
                 at(600, record(EntryType::close, 1, 0, {kOuter + 7})) + at(1000, record(EntryType::scope_end, 0)),
             3);
    std::vector<std::int64_t> times = times_of(file, LostEntries::shown, ReplayTimes::steady);
    for (std::int64_t& time : times) time -= kBegin;
    std::vector<std::int64_t> recorded = times_of(file, LostEntries::shown);
    for (std::int64_t& time : recorded) time -= kBegin;
    EXPECT_EQ(times.size(), recorded.size());
    EXPECT_EQ(recorded == times, step == 0);
    EXPECT_THAT(times, testing::ElementsAre(100, 200, 300, 300, 600, 1000, 1000));
  }
}

// The first records of a test or a profile are kept, as are those with errors, so those in the middle may be missing.
TEST(Replay, EndsASpanThatIsLeftWhereRecordsAreMissingWithTheLastOneBefore) {
  using tracing_test::record;
  constexpr std::uint64_t kOuter = std::uint64_t{1} << 40 | 7, kInner = kOuter + 1, kNotEntered = kOuter + 2;
  constexpr std::uint64_t kLater = kOuter + 3;
  tracing_test::SiteBytes site;
  site.row.kind = static_cast<std::uint8_t>(Kind::span);
  tracing_test::RecordingBytes file;
  file.add(0, site.record(1));
  file.add(1, at(1, record(EntryType::new_span, 1, 1, {kOuter})) + at(2, record(EntryType::enter, 1, 0, {kOuter})) +
                  at(3, record(EntryType::new_span, 1, 1, {kInner})) + at(4, record(EntryType::enter, 1, 0, {kInner})) +
                  at(5, record(EntryType::new_span, 1, 1, {kNotEntered})));
  file.add(1,
           at(100, record(EntryType::state, 1, kRestated | kEntered, {kOuter, 0, 0})) +
               at(100, record(EntryType::state, 1, kRestated | kEntered, {kLater, kOuter, 0})) +
               at(110, record(EntryType::exit, 1, 0, {kLater})) + at(120, record(EntryType::exit, 1, 0, {kOuter})),
           1000);
  for (LostEntries const lost : {LostEntries::shown, LostEntries::restored}) {
    std::vector<std::int64_t> times = times_of(file, lost);
    ASSERT_GE(times.size(), 6u);
    times.resize(6);  // without the ends of spans that no thread is in
    EXPECT_THAT(times, testing::ElementsAre(2, 4, 5, 100, 110, 120));
  }
}

}}  // namespace tracing::recording
