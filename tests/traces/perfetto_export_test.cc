// `testlog export --perfetto`: the viewer shows what was recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/traces/perfetto_reader.h"
#include "tests/traces/traces_test.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/record/record.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/tracing.h"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testlog_test::PerfettoRow;
using testlog_test::PerfettoSlice;
using testlog_test::PerfettoTrace;
using tracing::kv;

class Perfetto : public testlog_test::TracesTest {
 protected:
  static std::string exported(std::vector<std::string> arguments) {
    arguments.emplace_back("--perfetto");
    return run_export(arguments);
  }
  static PerfettoTrace trace_of(std::vector<std::string> const& arguments) {
    PerfettoTrace trace = PerfettoTrace::read(exported(arguments));
    EXPECT_THAT(trace.problems, IsEmpty());
    return trace;
  }
};

std::vector<std::string> names(PerfettoRow const& row) {
  std::vector<std::string> all;
  for (PerfettoSlice const& slice : row.slices) all.push_back(std::string(slice.depth, ' ') + slice.name);
  return all;
}

TEST_F(Perfetto, HasASliceForEachSpanAndAMarkForEachEvent) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    TRACE_SPAN(info, "request", kv("id", 7), kv("late", tracing::empty));
    tracing::Span::current().record(kv("late", 2.5));
    { TRACE_SPAN(debug, "load", kv("path", "a.bin")); }
    TRACE_WARN("moved {} bytes", 64, kv("kept", true));
  })});
  PerfettoRow const& row = trace.row("main");
  EXPECT_EQ(row.kind, "thread");
  EXPECT_EQ(row.number, getpid());
  EXPECT_THAT(names(row), ElementsAre("request", " load", " moved 64 bytes"));
  PerfettoSlice const& request = row.slices[0];
  EXPECT_THAT(request.args, ElementsAre(Pair("id", "7"), Pair("late", "2.500000")));
  EXPECT_THAT(request.categories, ElementsAre("perfetto_export_test", "INFO"));
  EXPECT_THAT(request.place, HasSubstr("perfetto_export_test.cc:"));
  EXPECT_THAT(row.slices[1].args, ElementsAre(Pair("path", "\"a.bin\"")));
  PerfettoSlice const& event = row.slices[2];
  EXPECT_TRUE(event.is_instant);
  EXPECT_THAT(event.args, ElementsAre(Pair("kept", "true")));
  EXPECT_THAT(event.categories, ElementsAre("perfetto_export_test", "WARN"));
}

TEST_F(Perfetto, HasTheTimesOfTheRecording) {
  std::string const file = record("a.rec", [] {
    TRACE_SPAN(info, "outer");
    TRACE_SPAN(info, "inner");
    TRACE_INFO("event");
  });
  std::string error;
  auto const recording = tracing::recording::Recording::read_file(file, error);
  std::vector<std::uint64_t> recorded;
  recording->for_each([&](tracing::recording::Entry const& entry) {
    using tracing::recording::EntryType;
    if (entry.type == EntryType::scope_begin || entry.type == EntryType::scope_end || entry.type == EntryType::event)
      recorded.push_back(static_cast<std::uint64_t>(entry.time.ns));
  });
  auto const trace = trace_of({file});
  auto const& slices = trace.row("main").slices;
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_THAT(recorded, ElementsAre(slices[0].begin, slices[1].begin, slices[2].begin, slices[1].end, slices[0].end));
}

TEST_F(Perfetto, HasEveryTypeOfValue) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    TRACE_INFO("values", kv("b", false), kv("u", std::uint64_t{18446744073709551615U}), kv("i", -1), kv("f", 0.5F),
               kv("text", "a \xFF\xE2\x82"), kv("pointer", reinterpret_cast<void*>(255)), kv("none", tracing::empty),
               kv("list", std::vector<int>{1, 2}), kv("large", std::string(1 << 20, 'x')));
  })});
  auto const& args = trace.row("main").slices.at(0).args;
  EXPECT_THAT(
      args, AllOf(Contains(Pair("b", "false")), Contains(Pair("u", "18446744073709551615")), Contains(Pair("i", "-1")),
                  Contains(Pair("f", "0.500000")), Contains(Pair("text", "\"a \xEF\xBF\xBD\xEF\xBF\xBD\"")),
                  Contains(Pair("pointer", "pointer 255")), Contains(Pair("list", "\"[1, 2]\""))));
  EXPECT_FALSE(args.contains("none"));
  EXPECT_GT(args.at("large").size(), 4000u);
}

TEST_F(Perfetto, HasARowForEachThreadBelowItsProcess) {
  auto [layer, error] = tracing::record_layer({.path = folder_ / "worker.rec"});
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  std::thread([&registry] {
    tracing::set_thread_name("loader");
    tracing::with_default(registry, [] { TRACE_SPAN(info, "load"); });
  }).join();
  PerfettoTrace const trace = trace_of({folder_ / "worker.rec"});
  PerfettoRow const& row = trace.row("loader");
  EXPECT_THAT(names(row), ElementsAre("load"));
  EXPECT_EQ(trace.rows.at(row.parent).kind, "process");
  EXPECT_EQ(trace.rows.at(row.parent).name, "worker");
  EXPECT_EQ(trace.rows.at(row.parent).number, getpid());
}

TEST_F(Perfetto, HasARowForASpanThatIsHeld) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    auto const span = TRACE_MAKE_SPAN(info, "request", kv("id", 7));
    span.in_scope([] { TRACE_INFO("first"); });
    span.in_scope([] { TRACE_INFO("second"); });
    auto const once = TRACE_MAKE_SPAN(info, "once");
    once.in_scope([] {});
  })});
  PerfettoRow const& held = trace.row("request");
  ASSERT_THAT(names(held), ElementsAre("request"));
  EXPECT_THAT(held.slices[0].args, ElementsAre(Pair("id", "7")));
  EXPECT_TRUE(held.slices[0].end.has_value());
  EXPECT_THAT(names(trace.row("main")), ElementsAre("request", " first", "request", " second", "once"));
  EXPECT_EQ(trace.row("main").slices[2].flows, held.slices[0].flows) << "an arrow leads there";
  EXPECT_THAT(trace.row("once").slices, IsEmpty())
      << "a span that a thread enters once is a slice of that thread alone";
}

TEST_F(Perfetto, HasAnArrowFromACauseToWhatFollows) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    auto const cause = TRACE_MAKE_SPAN(info, "cause");
    auto const effect = TRACE_MAKE_SPAN(info, "effect");
    effect.follows_from(cause);
  })});
  auto const& to = trace.row("effect").slices.at(0).flows;
  EXPECT_THAT(trace.row("cause").slices.at(0).flows, Contains(testing::AnyOfArray(to)));
}

TEST_F(Perfetto, HasAnArrowFromACauseThatAThreadWasIn) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    auto const cause = TRACE_MAKE_SPAN(info, "cause");
    cause.in_scope([] {});
    auto const effect = TRACE_MAKE_SPAN(info, "effect");
    effect.follows_from(cause);
    effect.in_scope([&cause] { cause.in_scope([] {}); });
  })});
  PerfettoRow const& row = trace.row("main");
  ASSERT_THAT(names(row), ElementsAre("cause", "effect", " cause"));
  EXPECT_EQ(row.slices[0].flows.size(), 1u);
  EXPECT_EQ(row.slices[1].flows, row.slices[0].flows) << "from the first time that a thread was in it";
}

TEST_F(Perfetto, HasARowForAStreamWithSlicesThatHaveTheNamesOfKernels) {
  tracing::RuntimeCallsite const kernel({.kind = tracing::Kind::span,
                                         .name = "kernel",
                                         .target = "tracing::cuda::device",
                                         .level = tracing::Level::trace,
                                         .fields = {"kernel.name", "launch"}});
  tracing::RuntimeCallsite const copy({.kind = tracing::Kind::span,
                                       .name = "memcpy_htod",
                                       .target = "tracing::cuda::device",
                                       .level = tracing::Level::trace,
                                       .fields = {"bytes"}});
  tracing::Track const track{1u << 30, "GPU 0 stream 7"};
  auto const at = [begin = tracing::Instant::now()](std::int64_t us) { return tracing::Instant{begin.ns + us * 1000}; };
  PerfettoTrace const trace = trace_of({record("a.rec", [&] {
    auto const launch = TRACE_MAKE_SPAN(trace, "launch", kv("launch", 3));
    launch.in_scope([] {});
    tracing::Value const bytes[] = {tracing::Value::of_u64(64)};
    tracing::emit_past_span(copy.callsite(), bytes, {track, at(10), at(20)});
    tracing::Value const values[] = {tracing::Value::of_verbatim("saxpy"), tracing::Value::of_u64(3)};
    tracing::emit_past_span(kernel.callsite(), values, {track, at(20), at(50)}, launch);
    tracing::Value const nameless[] = {tracing::Value(), tracing::Value()};
    tracing::emit_past_span(kernel.callsite(), nameless, {track, at(60), at(60)});
  })});
  PerfettoRow const& row = trace.row("GPU 0 stream 7");
  EXPECT_EQ(trace.rows.at(row.parent).kind, "process");
  ASSERT_THAT(names(row), ElementsAre("memcpy_htod", "saxpy", "kernel"));
  EXPECT_EQ(row.slices[1].begin, static_cast<std::uint64_t>(at(20).ns));
  EXPECT_EQ(row.slices[1].end, static_cast<std::uint64_t>(at(50).ns));
  EXPECT_THAT(row.slices[1].args, ElementsAre(Pair("kernel.name", "\"saxpy\""), Pair("launch", "3")));
  EXPECT_EQ(row.slices[1].flows.size(), 1u);
  EXPECT_EQ(row.slices[1].flows, trace.row("main").slices.at(0).flows);
  EXPECT_THAT(row.slices[0].flows, IsEmpty());
}

TEST_F(Perfetto, KeepsTheArrowsOfSpansThatAreEnteredOnce) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    auto const cause = TRACE_MAKE_SPAN(info, "cause"), effect = TRACE_MAKE_SPAN(info, "effect");
    effect.follows_from(cause);
    for (auto const& span : {cause, effect}) span.in_scope([] {});
  })});
  auto const& slices = trace.row("main").slices;
  ASSERT_THAT(names(trace.row("main")), ElementsAre("cause", "effect"));
  EXPECT_THAT(slices[0].flows, testing::SizeIs(1));
  EXPECT_EQ(slices[0].flows, slices[1].flows);
}

TEST_F(Perfetto, HasCounters) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    TRACE_VALUES(info, kv("counter.memory.used", 64));
    TRACE_INFO("freed", kv("counter.memory.used", -0.5), kv("bytes", 3));
  })});
  PerfettoRow const& row = trace.row("memory.used");
  EXPECT_EQ(row.kind, "counter");
  ASSERT_EQ(row.counts.size(), 2u);
  EXPECT_EQ(row.counts[0].second, 64);
  EXPECT_EQ(row.counts[1].second, -0.5);
  EXPECT_THAT(names(trace.row("main")), ElementsAre("freed"));
}

TEST_F(Perfetto, LeavesSpansOpenThatDidNotEnd) {
  std::string const file = record_in_child("killed.rec", [] {
    TRACE_SPAN(info, "outer");
    auto const held = TRACE_MAKE_SPAN(info, "held");
    { TRACE_SPAN(info, "inner"); }
    kill(getpid(), SIGKILL);
  });
  PerfettoTrace const trace = trace_of({file});
  auto const& slices = trace.row("main").slices;
  ASSERT_THAT(names(trace.row("main")), ElementsAre("outer", " inner"));
  EXPECT_FALSE(slices[0].end.has_value());
  EXPECT_TRUE(slices[1].end.has_value());
  EXPECT_FALSE(trace.row("held").slices.at(0).end.has_value());
}

TEST_F(Perfetto, EndsSlicesOfSpansThatAreLeftInAnotherOrder) {
  PerfettoTrace const trace = trace_of({record("a.rec", [] {
    tracing::EnteredSpan outer = TRACE_MAKE_SPAN(info, "outer").entered();
    tracing::EnteredSpan const inner = TRACE_MAKE_SPAN(info, "inner").entered();
    (void)std::move(outer).exit();
    TRACE_INFO("in inner alone");
  })});
  EXPECT_THAT(names(trace.row("main")), ElementsAre("outer", " inner", "inner", " in inner alone"));
}

TEST_F(Perfetto, JoinsProcessesAndNamesThemByTheirTests) {
  for (std::string const test : {"Plain.Fails", "SpansOnly.Fails"})
    testlog::testdata::run_scenarios(test, {{"TRACE_RECORD_DEFAULT", folder_ / "recordings"}});
  PerfettoTrace const trace = trace_of({folder_ / "recordings"});
  EXPECT_EQ(trace.row("Plain.Fails").kind, "process");
  EXPECT_EQ(trace.row("SpansOnly.Fails").kind, "process");
  EXPECT_THAT(names(trace.row("tests")), ElementsAre(EndsWith(".Fails")));
}

TEST_F(Perfetto, HasOnlyWhatTheFilterSelects) {
  std::string const file = record("a.rec", [] {
    TRACE_SPAN(info, "outer");
    TRACE_SPAN(debug, "inner");
    TRACE_TRACE("event");
  });
  EXPECT_THAT(names(trace_of({file, "--filter=info"}).row("main")), ElementsAre("outer"));
}

TEST_F(Perfetto, IsReadableAfterAnyCut) {
  std::string const bytes = exported({record("a.rec", [] {
    for (int i = 0; i < 3; ++i) {
      TRACE_SPAN(info, "outer", i);
      TRACE_INFO("event {}", i);
    }
  })});
  std::size_t whole = 0;
  std::vector<std::size_t> const ends = testlog_test::packet_ends(bytes);
  ASSERT_FALSE(ends.empty());
  EXPECT_EQ(ends.back(), bytes.size());
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    PerfettoTrace const trace = PerfettoTrace::read(std::string_view(bytes).substr(0, size));
    if (whole < ends.size() && size == ends[whole]) ++whole;
    ASSERT_EQ(trace.packets, whole);
    ASSERT_THAT(trace.problems, IsEmpty()) << size << " bytes";
  }
}

TEST_F(Perfetto, HasTheTimesOfTheFoldedStacks) {
  std::string const file = record("a.rec", [] {
    for (int i = 0; i < 1000; ++i) {
      TRACE_SPAN(info, "outer", i);
      for (int j = 0; j < i % 4; ++j) {
        TRACE_SPAN(debug, "inner", j);
      }
    }
  });
  PerfettoTrace const trace = trace_of({file});
  std::uint64_t total = 0;
  for (PerfettoSlice const& slice : trace.row("main").slices) {
    if (slice.depth == 0) total += *slice.end - slice.begin;
  }
  std::istringstream folded(run_export({file, "--folded"}));
  std::uint64_t sum = 0;
  for (std::string line; std::getline(folded, line);) {
    if (line.find(';') != line.npos) sum += std::stoull(line.substr(line.rfind(' ')));
  }
  EXPECT_EQ(total, sum);
}

}  // namespace
