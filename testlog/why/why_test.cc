// causes_of(): which difference comes first, and which follow from others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "testlog/why/run_reader.h"
#include "testlog/why/test_recorder_test_support.h"
#include "testlog/why/why_text.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/tracing.h"

namespace testlog::why { namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

char const kTest[] = "Suite.Test";

// Compares run 0, which fails at its end, with runs 1 to 3, which pass. Returns a line for each cause.
std::vector<std::string> lines_of(std::function<void(TestRecorder&, int run)> const& body) {
  tracing_test::TemporaryFolder const folder;
  ComparedTests tests;
  for (int run = 0; run <= 3; ++run) {
    std::string const path = folder / (std::to_string(run) + ".rec");
    TestRecorder recorder(path);
    recorder.run(kTest, [&] {
      body(recorder, run);
      return std::string(run == 0 ? "failed" : "passed");
    });
    std::string error;
    auto const recording = tracing::recording::Recording::read_file(path, error);
    EXPECT_NE(recording, nullptr) << error;
    run == 0 ? add_failing_runs(tests, *recording, path, [](auto) { return true; })
             : add_passing_runs(tests, *recording, path);
  }
  std::vector<std::string> lines;
  Explanation const explanation = explain(kTest, tests[kTest]);
  for (Cause const& cause : explanation.causes) lines.push_back(line_of(cause, explanation.passing));
  return lines;
}

// In a real test whose threads raced, orders that had been equal in three passing runs by chance came before the value
// that made it fail.
TEST(Causes, KindsThatPassingRunsHaveAmongThemselvesComeLast) {
  auto const body = [](TestRecorder&, int run) {
    for (int i = 1; i <= 3; ++i) {
      TRACE_SPAN(info, "part", i);
      if (i == 1) TRACE_INFO("first", tracing::kv("hit", run == i));
      if (i == 2) TRACE_INFO("second", tracing::kv("hit", run == i));
      if (i == 3) TRACE_INFO("third", tracing::kv("hit", run == i));
    }
    TRACE_INFO("agreed by chance", tracing::kv("cores", run == 0 ? 3 : 4));
    if (run != 0) TRACE_INFO("flushed");
    TRACE_INFO("closed");
  };
  EXPECT_THAT(lines_of(body), ElementsAre(HasSubstr("\"flushed\": missing"),
                                          HasSubstr("\"agreed by chance\": cores is 3; 4 in 3 of 3")));
}

TEST(Causes, ARecordAtAnotherPlaceThanInAllPassingRunsNamesBothPlaces) {
  auto const body = [](TestRecorder&, int run) {
    auto const draw = [] { TRACE_SPAN(info, "draw"); };
    for (int i = 0; i < 3; ++i) {
      TRACE_SPAN(info, "loop");
      draw();
    }
    if (run == 0) draw();
  };
  EXPECT_THAT(lines_of(body), ElementsAre(StartsWith("draw: recorded in no span; in loop in 3 of 3 passing runs (")));
}

TEST(Causes, ValueOnAnotherThreadDoesNotFollow) {
  auto const body = [](TestRecorder& recorder, int run) {
    recorder.thread("reader", [run] { TRACE_INFO("read", tracing::kv("is_stopped", run == 0)); }).join();
    TRACE_INFO("waited", tracing::kv("is_stopped", run == 0));
    TRACE_INFO("told", tracing::kv("is_stopped", run == 0));
  };
  EXPECT_THAT(lines_of(body), ElementsAre(HasSubstr("\"read\": is_stopped is true; false in 3 of 3"),
                                          AllOf(HasSubstr("\"waited\": is_stopped is true"), HasSubstr("1 more"))));
}

TEST(Causes, WhatHappensOnOneOtherThreadIsOneLine) {
  auto const body = [](TestRecorder& recorder, int run) {
    auto const use = [](bool is_busy) {
      if (!is_busy) {
        TRACE_INFO("idle");
        return;
      }
      TRACE_INFO("opened");
      TRACE_INFO("read");
      TRACE_INFO("closed");
    };
    recorder.thread("spare", [&use, run] { use(run == 0); }).join();
    recorder.thread("worker", [&use, run] { use(run != 0); }).join();
  };
  std::vector<std::string> const lines = lines_of(body);
  int opened = 0;
  for (std::string const& line : lines) opened += line.find("on spare; on worker") != line.npos;
  EXPECT_EQ(opened, 1) << testing::PrintToString(lines);
}

TEST(Causes, WhatAThreadDoesNotComeToIsOneLine) {
  auto const body = [](TestRecorder& recorder, int run) {
    recorder
        .thread("worker",
                [run] {
                  TRACE_INFO("took");
                  for (int i = 0; i < 3 && (run != 0 || i == 0); ++i) {
                    TRACE_INFO("locked");
                    if (i == 1) TRACE_INFO("loaded");
                    TRACE_INFO("unlocked");
                    if (i == 2) TRACE_INFO("stored");
                  }
                })
        .join();
    TRACE_INFO("checked");
  };
  std::vector<std::string> const lines = lines_of(body);
  int missing = 0;
  for (std::string const& line : lines) missing += line.find("missing") != line.npos;
  EXPECT_EQ(missing, 1) << testing::PrintToString(lines);
}

// A copy to a GPU was a span that the driver's thread ended: before the next call, or after it.
TEST(Causes, OrderIsThatOfTheRecordsWithItsValue) {
  auto const body = [](TestRecorder& recorder, int run) {
    for (int job = 1; job <= 3; ++job) {
      auto const load = [&] { recorder.thread("loader", [job] { TRACE_INFO("loaded", job); }).join(); };
      if (run == 0 && job == 2) load();
      TRACE_INFO("stored", job);
      if (run != 0 || job != 2) load();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  std::vector<std::string> const lines = lines_of(body);
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines[0], HasSubstr("\"loaded\" before \"stored\" of the same job (2); the other way round in 3 of 3"));
  EXPECT_THAT(lines[0], testing::ContainsRegex(", [45]..... ms before the failure"));
}

TEST(Causes, SpanThatIsStillOpenHasNotEnded) {
  auto const body = [](TestRecorder& recorder, int run) {
    TRACE_SPAN(info, "fetch");
    std::this_thread::sleep_for(std::chrono::milliseconds(run == 0 ? 60 : 1));
    if (run == 0) recorder.fail();
  };
  EXPECT_THAT(lines_of(body),
              ElementsAre(testing::ContainsRegex("fetch: took ([0-9.]+ ms) and had not ended; at most .*, "
                                                 "main, [0-9.]+ ms before the failure")));
}

TEST(Causes, EndOfASpanOfAHandleIsNoStep) {
  auto const body = [](TestRecorder&, int run) {
    tracing::Span copy = TRACE_MAKE_SPAN(info, "copy");
    if (run == 0) copy = tracing::Span();
    TRACE_INFO("enqueued");
    copy = tracing::Span();
    TRACE_INFO("waited");
  };
  EXPECT_THAT(lines_of(body), IsEmpty());
}

// Emits two copies of one buffer by two streams of a GPU, and an event of this thread about the buffer.
void copy_on_gpu(bool in_order, bool comes_late) {
  static tracing::RuntimeCallsite const copy({.kind = tracing::Kind::span, .name = "copy", .fields = {"buffer"}});
  static tracing::Track const first{9001, "GPU 0 stream 1"}, second{9002, "GPU 0 stream 2"};
  tracing::Instant const begin{1'600'000'000'000'000'000}, end{begin.ns + 1000};
  tracing::Value const values[] = {tracing::Value::of_u64(4711)};
  if (comes_late) TRACE_INFO("enqueued", tracing::kv("buffer", 4711U));
  tracing::emit_past_span(copy.callsite(), values, {first, in_order ? begin : end, end});
  static tracing::RuntimeCallsite const back({.kind = tracing::Kind::span, .name = "copy back", .fields = {"buffer"}});
  tracing::emit_past_span(back.callsite(), values, {second, in_order ? end : begin, end});
  if (!comes_late) TRACE_INFO("enqueued", tracing::kv("buffer", 4711U));
}

TEST(Causes, RecordsOfAGpuAreComparedWithEachOtherByTime) {
  EXPECT_THAT(lines_of([](TestRecorder&, int run) { copy_on_gpu(run != 0, false); }),
              ElementsAre(StartsWith("copy back: began on GPU 0 stream 2 before copy on GPU 0 stream 1; the other "
                                     "way round in 3 of 3 passing runs (GPU 0 stream 2, ")));
  EXPECT_THAT(lines_of([](TestRecorder&, int run) { copy_on_gpu(true, run == 0); }), IsEmpty());
}

// Two calls set memory on two streams, and a third one reads it. Only the order of the second and the third varies.
void set_and_read_on_gpu(bool in_order) {
  static tracing::RuntimeCallsite const memset({.kind = tracing::Kind::span, .name = "memset", .fields = {"bytes"}});
  static tracing::RuntimeCallsite const copy({.kind = tracing::Kind::span, .name = "memcpy", .fields = {"bytes"}});
  static tracing::Track const streams[] = {
      {9001, "GPU 0 stream 0"}, {9002, "GPU 0 stream 1"}, {9003, "GPU 0 stream 2"}};
  tracing::Value const values[] = {tracing::Value::of_u64(4)};
  auto const emit = [&](auto const& site, int stream, int ns, tracing::Span const& launch) {
    tracing::Instant const begin{1'600'000'000'000'000'000 + ns}, end{begin.ns + 10};
    tracing::emit_past_span(site.callsite(), values, {streams[stream], begin, end}, launch);
  };
  emit(memset, 0, 0, TRACE_MAKE_SPAN(trace, "clear"));
  tracing::Span const set = TRACE_MAKE_SPAN(trace, "set"), read = TRACE_MAKE_SPAN(trace, "read");
  if (in_order) emit(memset, 1, 100, set);
  emit(copy, 2, 200, read);
  if (!in_order) emit(memset, 1, 300, set);
}

TEST(Causes, RecordsOfAGpuAreToldApartByTheCallThatLaunchedThem) {
  EXPECT_THAT(lines_of([](TestRecorder&, int run) { set_and_read_on_gpu(run != 0); }),
              ElementsAre(StartsWith("read:memcpy: began on GPU 0 stream 2 before set:memset on GPU 0 stream 1; "
                                     "the other way round in 3 of 3 passing runs (GPU 0 stream 2, ")));
  EXPECT_THAT(lines_of([](TestRecorder&, int) { set_and_read_on_gpu(true); }), IsEmpty());
}

// A call to a driver keeps a handle to its span if it must wait, and the span then ends in the driver's thread.
TEST(Causes, HandleToASpanDoesNotChangeTheStepsOfItsThread) {
  auto const body = [](TestRecorder&, int run) {
    tracing::Span kept;
    {
      TRACE_SPAN(info, "synchronize");
      if (run != 0) kept = tracing::Span::current();
    }
    TRACE_INFO("launched");
    kept = tracing::Span();
    TRACE_INFO("read");
  };
  EXPECT_THAT(lines_of(body), IsEmpty());
}

// In a test with a stale cache, the value that the failing run had read once more came before the flag that was wrong.
TEST(Causes, FieldWithManyValuesComesAfterOneThatIsConstant) {
  auto const body = [](TestRecorder&, int run) {
    for (int i = 2; i < 10; ++i) TRACE_INFO("read from disk", tracing::kv("value", run == 0 && i == 2 ? 1 : i));
    TRACE_INFO("from the cache", tracing::kv("is_stale", run == 0));
  };
  EXPECT_THAT(lines_of(body), ElementsAre(HasSubstr("is_stale is true; false in 3 of 3"),
                                          HasSubstr("value is 1; one of 8 others in 3 of 3")));
}

}}  // namespace testlog::why
