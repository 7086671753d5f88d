// The spans and log records that are made of recordings.
#include "testlog/cli/otlp/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "testlog/cli/otlp/otlp_encoding.h"
#include "tests/support/record_to.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/tracing.h"

namespace testlog::cli::otlp { namespace {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using tracing::kv;
using tracing::environment::TraceIds;
using tracing::recording::Recording;

struct Collected final : Receiver {
  void begin_resource(Resource const& resource) override { resources.push_back(resource); }
  void add(Span span) override { spans.push_back(std::move(span)); }
  void add(LogRecord record) override { records.push_back(std::move(record)); }

  Span const& span(std::string_view name) const {
    auto const found = std::find_if(spans.begin(), spans.end(), [name](Span const& one) { return one.name == name; });
    if (found == spans.end()) throw std::runtime_error("no span " + std::string(name));
    return *found;
  }
  std::set<std::uint64_t> ids() const {
    std::set<std::uint64_t> all;
    for (Span const& one : spans) all.insert(one.id);
    return all;
  }

  std::vector<Resource> resources;
  std::vector<Span> spans;
  std::vector<LogRecord> records;
};

struct Settings {
  bool span_events = false;
  std::uint64_t max_trace_bytes = 4'000'000;
};

void export_to(Collected& to, std::string const& path, Settings settings = {}) {
  std::string error, reports;
  auto const recording = Recording::read_file(path, error);
  ASSERT_NE(recording, nullptr) << error;
  Exporter exporter({[] { return nullptr; }, settings.span_events, settings.max_trace_bytes}, to);
  exporter.add(
      *recording, path, [](tracing::recording::Entry const&) {}, reports);
  exporter.finish();
  EXPECT_EQ(reports, "");
}

// Returns the text of a value: of a number or text itself.
std::string text_of(Any const& value) {
  if (auto const* text = std::get_if<std::string>(&value.value)) return *text;
  if (auto const* yes = std::get_if<bool>(&value.value)) return *yes ? "true" : "false";
  if (auto const* number = std::get_if<std::int64_t>(&value.value)) return std::to_string(*number);
  if (auto const* real = std::get_if<double>(&value.value)) return std::to_string(*real);
  if (auto const* bytes = std::get_if<Bytes>(&value.value)) return "bytes " + bytes->bytes;
  std::string all;
  for (std::string const& one : std::get<std::vector<std::string>>(value.value)) all += "[" + one + "]";
  return all;
}

std::string attribute(Attributes const& attributes, std::string_view key) {
  for (Attribute const& one : attributes)
    if (one.key == key) return text_of(one.value);
  return "none";
}

void work() {
  TRACE_SPAN(info, "request", kv("id", 7), kv("late", tracing::empty), kv("big", std::uint64_t{1} << 63));
  TRACE_INFO("moved {} bytes", 64, kv("real", 1.5), kv("on", true));
  tracing::Span::current().record(kv("late", 200));
  std::thread([current = tracing::Span::current()] {
    tracing::set_thread_name("worker");
    current.in_scope([] {
      TRACE_SPAN(debug, "inner");
      TRACE_ERROR("broken");
    });
  }).join();
}

TEST(Exporter, KeepsParentsTimesThreadsAndTypedFields) {
  tracing_test::TemporaryFolder const folder;
  Collected all;
  export_to(all, tracing_test::record_to({.path = folder / "run.rec"}, work));
  Span const &root = all.span("run"), &request = all.span("request");
  EXPECT_EQ(root.parent, 0u);
  EXPECT_EQ(request.parent, root.id);
  EXPECT_EQ(request.trace, root.trace);
  EXPECT_LE(root.begin, request.begin);
  EXPECT_LE(request.begin, request.end);
  EXPECT_LE(request.end, root.end);
  EXPECT_EQ(attribute(request.attributes, "id"), "7");
  EXPECT_EQ(attribute(request.attributes, "late"), "200");
  EXPECT_EQ(attribute(request.attributes, "big"), "9223372036854775808");
  EXPECT_EQ(attribute(request.attributes, "thread.id"), std::to_string(gettid()));
  EXPECT_EQ(attribute(request.attributes, "code.function.name"), "work");
  EXPECT_EQ(attribute(request.attributes, "testlog.target"), "testlog::cli::otlp");
  EXPECT_EQ(request.status, StatusCode::unset);
  ASSERT_THAT(all.records, Not(IsEmpty()));
  LogRecord const& moved = all.records.front();
  EXPECT_EQ(text_of(moved.body), "moved 64 bytes");
  EXPECT_EQ(moved.severity, 9);
  EXPECT_EQ(moved.severity_text, "INFO");
  EXPECT_EQ(moved.span, request.id);
  EXPECT_EQ(moved.trace, request.trace);
  EXPECT_EQ(attribute(moved.attributes, "on"), "true");
  EXPECT_EQ(attribute(moved.attributes, "real"), "1.500000");
}

TEST(Exporter, MakesEventsPartsOfTheirSpans) {
  tracing_test::TemporaryFolder const folder;
  Collected all;
  auto const path = tracing_test::record_to({.path = folder / "run.rec"}, [] {
    TRACE_SPAN(info, "loop");
    for (int i = 0; i < 130; ++i) TRACE_INFO("turn", i);
  });
  export_to(all, path, {.span_events = true});
  Span const& loop = all.span("loop");
  EXPECT_THAT(all.records, IsEmpty());
  ASSERT_THAT(loop.events, SizeIs(128));
  EXPECT_EQ(loop.dropped_events, 2u);
  EXPECT_EQ(loop.events[5].name, "turn");
  EXPECT_EQ(attribute(loop.events[5].attributes, "i"), "5");
}

TEST(Exporter, MarksSpansThatDidNotEnd) {
  tracing_test::TemporaryFolder const folder;
  tracing_test::record_in_child({.path = folder / "run.rec"}, [] {
    TRACE_SPAN(info, "outer");
    TRACE_SPAN(info, "inner");
    _exit(3);
  });
  Collected all;
  export_to(all, folder / "run.rec");
  for (char const* const name : {"outer", "inner"})
    EXPECT_EQ(attribute(all.span(name).attributes, "testlog.is_open"), "true");
  EXPECT_EQ(all.span("inner").parent, all.span("outer").id);
}

TEST(Exporter, LinksSpansToTheirCauses) {
  tracing_test::TemporaryFolder const folder;
  Collected all;
  export_to(all, tracing_test::record_to({.path = folder / "run.rec"}, [] {
              auto const cause = TRACE_MAKE_SPAN(info, "cause");
              auto const effect = TRACE_MAKE_SPAN(info, "effect");
              effect.follows_from(cause);
            }));
  ASSERT_THAT(all.span("effect").links, SizeIs(1));
  EXPECT_EQ(all.span("effect").links[0].span, all.span("cause").id);
  EXPECT_EQ(all.span("effect").links[0].trace, all.span("cause").trace);
  EXPECT_THAT(all.span("cause").links, IsEmpty());
}

TEST(Exporter, GivesTheIdsThatTheProcessGives) {
  tracing_test::TemporaryFolder const folder;
  auto const path = tracing_test::record_to({.path = folder / "run.rec"}, work);
  Collected first, second;
  export_to(first, path);
  export_to(second, path);
  EXPECT_EQ(first.ids(), second.ids());
  EXPECT_EQ(first.ids().size(), first.spans.size());
  std::string error;
  auto const recording = Recording::read_file(path, error);
  TraceIds const ids({.process = recording->process(), .start_ns = recording->start().ns});
  recording->for_each([&](tracing::recording::Entry const& entry) {
    if (begins_span(entry.type)) {
      EXPECT_EQ(first.ids().count(ids.span(entry.span)), 1u);
    }
  });
}

// ---- the limit of a trace ----

// Records far more spans than a trace may have. They last for different times, and each tenth has a child.
std::string record_too_many(tracing_test::TemporaryFolder const& folder) {
  return tracing_test::record_to({.path = folder / "run.rec"}, [] {
    std::string const text(300, '\xff');
    for (int i = 0; i < 12'000; ++i) {
      TRACE_SPAN(info, "step", i, text);
      for (int turn = 0; turn < i % 7; ++turn) {
        TRACE_SPAN(info, "turn", turn);
      }
    }
  });
}

TEST(Exporter, BoundsATraceAndKeepsTheLongestSpansWithTheirParents) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = record_too_many(folder);
  Collected whole, bounded;
  export_to(whole, path, {.max_trace_bytes = std::numeric_limits<std::uint64_t>::max()});
  export_to(bounded, path);
  std::size_t bytes = 0;
  for (Span const& span : bounded.spans) bytes += protobuf_encoding().encoded(span).size();
  EXPECT_LT(bytes, 4'000'000u + 10'000);  // the root is not counted
  EXPECT_GT(bytes, 1'000'000u);
  auto const kept = bounded.ids();
  std::set<std::uint64_t> parents;
  std::int64_t shortest = INT64_MAX, longest_dropped = 0;
  for (Span const& span : bounded.spans) {
    if (span.parent == 0) continue;
    EXPECT_TRUE(kept.contains(span.parent));
    shortest = std::min(shortest, span.end.ns - span.begin.ns);
  }
  for (Span const& span : whole.spans)
    if (!kept.contains(span.id)) longest_dropped = std::max(longest_dropped, span.end.ns - span.begin.ns);
  EXPECT_LE(longest_dropped, shortest);
  Span const& root = bounded.span("run");
  EXPECT_EQ(attribute(root.attributes, "testlog.dropped_spans"),
            std::to_string(whole.spans.size() - bounded.spans.size()));
  EXPECT_EQ(attribute(whole.span("run").attributes, "testlog.dropped_spans"), "none");
}

TEST(Exporter, BoundsATraceWithTheEventsOfItsSpans) {
  tracing_test::TemporaryFolder const folder;
  auto const path = tracing_test::record_to({.path = folder / "run.rec"}, [] {
    std::string const text(1000, 'x');
    for (int i = 0; i < 200; ++i) {
      TRACE_SPAN(info, "step", i);
      for (int turn = 0; turn < 100; ++turn) TRACE_INFO("turn", text);
    }
  });
  Collected all;
  export_to(all, path, {.span_events = true});
  std::size_t bytes = 0;
  for (Span const& span : all.spans) bytes += protobuf_encoding().encoded(span).size();
  EXPECT_LT(bytes, 4'000'000u + 10'000);
  EXPECT_NE(attribute(all.span("run").attributes, "testlog.dropped_spans"), "none");
}

TEST(Exporter, LinksToWhatIsAroundADroppedCause) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder / "run.rec";
  Collected all;
  export_to(all,
            tracing_test::record_to({.path = path},
                                    [] {
                                      auto const outer = TRACE_MAKE_SPAN(info, "outer");
                                      tracing::Span effect;
                                      outer.in_scope([&effect] {
                                        auto const cause =
                                            TRACE_MAKE_SPAN(info, "cause", kv("text", std::string(2000, 'x')));
                                        effect = TRACE_MAKE_SPAN(info, "effect", tracing::parent(nullptr));
                                        effect.follows_from(cause);
                                      });
                                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                    }),
            {.max_trace_bytes = 3000});
  ASSERT_THAT(all.span("effect").links, SizeIs(1));
  EXPECT_EQ(all.span("effect").links[0].span, all.span("outer").id);
  EXPECT_THROW(all.span("cause"), std::runtime_error);
}

TEST(Exporter, PutsLogRecordsOfDroppedSpansIntoTheSpansAround) {
  tracing_test::TemporaryFolder const folder;
  Collected all;
  export_to(all, tracing_test::record_to({.path = folder / "run.rec"}, work), {.max_trace_bytes = 0});
  ASSERT_THAT(all.spans, SizeIs(1));
  ASSERT_THAT(all.records, Not(IsEmpty()));
  for (LogRecord const& record : all.records) EXPECT_EQ(record.span, all.spans[0].id);
}

// ---- resources ----

constexpr auto kNothingSet = [](char const*) -> char const* { return nullptr; };

TEST(Resource, ObeysTheVariablesOfOpenTelemetry) {
  RunFacts const facts{.path = "a/x.rec", .program = "x", .process = 5, .host = "h"};
  std::string reports;
  EXPECT_EQ(attribute(resource_of(facts, kNothingSet, reports).attributes, "service.name"), "x");
  auto const set = [](char const* name) -> char const* {
    if (std::string_view(name) == "OTEL_SERVICE_NAME") return "mine";
    return std::string_view(name) == "OTEL_RESOURCE_ATTRIBUTES" ? " team = a%20b ,host.name=other,service.name=no"
                                                                : nullptr;
  };
  Resource const resource = resource_of(facts, set, reports);
  EXPECT_EQ(attribute(resource.attributes, "service.name"), "mine");
  EXPECT_EQ(attribute(resource.attributes, "host.name"), "other");
  EXPECT_EQ(attribute(resource.attributes, "process.pid"), "5");
  EXPECT_EQ(attribute(resource.attributes, "team"), "a b");
  EXPECT_EQ(reports, "");
}

TEST(Resource, IgnoresAndReportsABadList) {
  std::string reports;
  auto const set = [](char const* name) -> char const* {
    return std::string_view(name) == "OTEL_RESOURCE_ATTRIBUTES" ? "a=1,b=%zz" : nullptr;
  };
  Resource const resource = resource_of({.program = "x"}, set, reports);
  EXPECT_EQ(attribute(resource.attributes, "a"), "none");
  EXPECT_EQ(
      reports,
      "testlog: OTEL_RESOURCE_ATTRIBUTES=a=1,b=%zz: bad member \"b=%zz\"; expected name=value, with %20 for a blank\n");
}

}}  // namespace testlog::cli::otlp
