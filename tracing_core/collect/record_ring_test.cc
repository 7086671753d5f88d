#include "tracing_core/collect/record_ring.h"

#include <gtest/gtest.h>

#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/tracing.h"

namespace {

using tracing::RecordKind;
using tracing::RecordRing;
using tracing::RecordView;
using tracing::RegistryBuilder;

char const* name_of(RecordKind kind) {
  char const* const names[] = {"new", "record", "follows", "event", "enter", "exit", "close"};
  return names[static_cast<int>(kind)];
}

std::string text_of(tracing::FieldValues const& values) {
  tracing::InlineTextBuffer<256> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).is_empty()) continue;
    if (out.size() > 0) out.push_back(' ');
    out.append(values.name(i));
    out.push_back('=');
    if (values.value(i).kind() == tracing::ValueKind::message) {
      append_message(out, values.value(i));
    } else {
      append_debug(out, values.value(i));
    }
  }
  return std::string(out.view());
}

std::string text_of(tracing::RecordedSpan const& span) {
  std::string out(span.metadata->name());
  out += "{";
  span.for_each_group([&](tracing::FieldValues const& values) {
    if (out.back() != '{') out += " ";
    out += text_of(values);
  });
  return out + "}";
}

// One line for a record: kind, spans, values.
std::string text_of(RecordView const& record) {
  std::string out = name_of(record.kind);
  std::string path;
  for (tracing::RecordedSpan const* span = record.span; span != nullptr; span = span->parent)
    path = text_of(*span) + (path.empty() ? "" : ":") + path;
  if (!path.empty()) out += " " + path;
  if (record.cause != nullptr) out += " <- " + text_of(*record.cause);
  if (record.kind == RecordKind::event || record.kind == RecordKind::record) out += " " + text_of(record.values);
  return out;
}

std::vector<std::string> lines(tracing::RecordSnapshot const& snapshot) {
  std::vector<std::string> result;
  snapshot.for_each([&](RecordView const& record) { result.push_back(text_of(record)); });
  return result;
}

TEST(RecordRing, KeepsTypedRecordsWithTheirSpans) {
  auto const ring = RecordRing::make();
  ring->set_tag(7);
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  tracing::with_default(registry, [] {
    TRACE_SPAN(info, "outer", tracing::kv("n", 1));
    auto const span = TRACE_MAKE_SPAN(info, "inner", tracing::kv("late", tracing::empty));
    span.in_scope([&] {
      TRACE_INFO("before");
      span.record(tracing::kv("late", 5));
      TRACE_INFO("after {}", 3, tracing::kv("x", 2.5));
    });
  });
  std::vector<std::string> const expected = {
      "new outer{n=1}", "enter outer{n=1}", "new outer{n=1}:inner{}", "enter outer{n=1}:inner{}",
      "event outer{n=1}:inner{} message=before", "record outer{n=1}:inner{late=5} late=5",
      "event outer{n=1}:inner{late=5} message=after 3 x=2.5", "exit outer{n=1}:inner{late=5}",
      "close outer{n=1}:inner{late=5}", "exit outer{n=1}", "close outer{n=1}"};
  EXPECT_EQ(lines(ring->snapshot()), expected);
  EXPECT_EQ(ring->next_number(), 11U);
  EXPECT_EQ(ring->dropped(), 0U);
  ring->snapshot(4).for_each([&](RecordView const& record) {
    EXPECT_EQ(record.tag, 7U);
    EXPECT_GE(record.number, 4U);
  });
  EXPECT_EQ(ring->snapshot(4).size(), 7U);
}

TEST(RecordRing, KeepsSpansWhoseCreationWasOverwritten) {
  auto const ring = RecordRing::make(4096);
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  tracing::with_default(registry, [&] {
    auto const span = TRACE_MAKE_SPAN(info, "long", tracing::kv("n", 1), tracing::kv("late", tracing::empty));
    auto const scope = span.enter();
    span.record(tracing::kv("late", 5));
    for (int i = 0; i < 1000; ++i) TRACE_INFO("event {}", i);
    EXPECT_EQ(ring->next_number(), 1003U);
    EXPECT_EQ(ring->dropped(), 1003U - ring->snapshot().size());
    EXPECT_EQ(ring->dropped_of(0), ring->dropped());
    EXPECT_EQ(lines(ring->snapshot()).back(), "event long{n=1 late=5} message=event 999");
    EXPECT_EQ(lines(ring->snapshot()).front(),
              "event long{n=1 late=5} message=event " + std::to_string(ring->first_number() - 3));
  });
}

TEST(RecordRing, CutsLargeTextsAndAppendsTheirSize) {
  auto const ring = RecordRing::make(std::size_t{1} << 16);  // a record has at most 16384 bytes, a cut text 1024
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  std::string const large(20000, 'x');
  std::string const of_two_bytes_each = "x" + [] {
    std::string text;
    for (int i = 0; i < 10000; ++i) text += "\u00e9";
    return text;
  }();
  std::string const small(900, 'y');
  tracing::with_default(registry, [&] {
    TRACE_SPAN(info, "span", large, tracing::kv("n", 1));
    TRACE_INFO("said {}", large, small);
    TRACE_INFO("characters", of_two_bytes_each);
    TRACE_INFO("bytes", tracing::kv("data", std::as_bytes(std::span(large))));
    TRACE_INFO("error", tracing::kv("e", std::runtime_error(large)));
    TRACE_INFO("printed", tracing::kv("list", std::vector<std::string>{large}));
  });
  EXPECT_EQ(ring->dropped(), 0u);
  std::vector<std::string> const kept = lines(ring->snapshot());
  std::string const cut = std::string(1024, 'x') + "... (20000 bytes)";
  std::string const span = "span{large=\"" + cut + "\" n=1}";
  ASSERT_EQ(kept.size(), 9u);
  EXPECT_EQ(kept[0], "new " + span);
  EXPECT_EQ(kept[2], "event " + span + " message=said " + cut + " small=\"" + small + "\"");
  EXPECT_TRUE(kept[3].ends_with("\u00e9... (20001 bytes)\"")) << kept[3];
  EXPECT_TRUE(kept[4].ends_with(" 78 78]... (20000 bytes)")) << kept[4];
  EXPECT_EQ(kept[5], "event " + span + " message=error e=" + cut);
  EXPECT_TRUE(kept[6].ends_with("list=[\"" + std::string(1022, 'x') + "... (20004 bytes)")) << kept[6];
}

TEST(RecordRing, DrainDyingVisitsAllRecords) {
  auto const ring = RecordRing::make(4096);
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  tracing::with_default(registry, [&] {
    TRACE_SPAN(info, "outer", tracing::kv("n", 1));
    for (int i = 0; i < 100; ++i) TRACE_INFO("event {}", i);
    auto const expected = lines(ring->snapshot(95));
    std::vector<std::string> seen;
    ring->drain_dying(
        95,
        [](void* out, RecordView const& record) {
          static_cast<std::vector<std::string>*>(out)->push_back(text_of(record));
        },
        &seen);
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(seen.back(), "event outer{n=1} message=event 99");
    TRACE_INFO("too late");
    EXPECT_EQ(ring->snapshot().size(), 0U);
  });
}

TEST(RecordRing, DrainDyingKeepsTheFirstAndTheLastValuesOfASpan) {
  auto const ring = RecordRing::make();
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  tracing::with_default(registry, [&] {
    auto span = TRACE_MAKE_SPAN(info, "m", tracing::kv("name", std::string(200, 'n')), tracing::kv("i", tracing::empty));
    for (int i = 0; i < 1000; ++i) span.record(tracing::kv("i", i));
    auto const entered = span.enter();
    std::string seen;
    ring->drain_dying(
        0, [](void* out, RecordView const& record) { *static_cast<std::string*>(out) = text_of(*record.span); }, &seen);
    std::string expected = "m{name=\"" + std::string(200, 'n') + "\"";
    for (int i = 985; i < 1000; ++i) expected += " i=" + std::to_string(i);
    EXPECT_EQ(seen, expected + "}");
  });
}

TEST(RecordRing, DrainDyingVisitsRecordsWhileTheRingIsLocked) {
  auto const ring = RecordRing::make(4096);
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  tracing::with_default(registry, [] { TRACE_INFO("event"); });
  // A nested call simulates a crash inside the ring, where the lock is never released.
  static int again = 0;
  ring->drain_dying(0, [](void* inner, RecordView const&) {
    static_cast<RecordRing*>(inner)->drain_dying(0, [](void*, RecordView const&) { ++again; }, nullptr);
  }, ring.get());
  EXPECT_EQ(again, 0) << "each record is visited once";
}

TEST(RecordRing, StoresRecordsOfManyThreadsAndRuntimeCallsites) {
  auto const ring = RecordRing::make(65536);
  auto registry = RegistryBuilder().with(ring->make_layer()).build();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      tracing::with_default(registry, [&] {
        for (int i = 0; i < 500; ++i) {
          std::string const name = "span " + std::to_string(i);
          tracing::RuntimeCallsite const made({.kind = tracing::Kind::span, .name = name, .fields = {"n"}});
          tracing::RuntimeCallsite const said({.name = "event", .fields = {"message"}});
          tracing::Value const value = tracing::Value::of_i64(i);
          auto const span = tracing::Span::make(made.callsite(), &value);
          auto const scope = span.enter();
          tracing::emit_event(said.callsite(), &value);
          if (i % 100 == 0) {
            EXPECT_GE(lines(ring->snapshot()).size(), 3U);
          }
        }
      });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ring->next_number(), 4U * 500U * 5U);
  auto const snapshot = ring->snapshot();
  registry.reset();
  ring->clear();
  EXPECT_EQ(ring->snapshot().size(), 0U);
  EXPECT_EQ(lines(snapshot).size() + ring->dropped(), 4U * 500U * 5U) << "a snapshot keeps the names that it shows";
}

TEST(RecordRing, ReplaysIntoAnotherRing) {
  auto const ring = RecordRing::make();
  auto const registry = RegistryBuilder().with(ring->make_layer()).build();
  tracing::with_default(registry, [] {
    TRACE_SPAN(info, "outer", tracing::kv("n", 1));
    auto const span = TRACE_MAKE_SPAN(info, "inner", tracing::kv("late", tracing::empty));
    auto const other = TRACE_MAKE_SPAN(info, "other", tracing::parent(nullptr));
    span.in_scope([&] { TRACE_INFO("in {}", "text"); });
    span.record(tracing::kv("late", 5));
    span.follows_from(other);
    TRACE_INFO("rooted", tracing::parent(nullptr));
  });
  auto const copy = RecordRing::make();
  auto const second = RegistryBuilder().with(copy->make_layer()).build();
  ring->snapshot().replay(*second);
  EXPECT_EQ(lines(copy->snapshot()), lines(ring->snapshot()));
}

}  // namespace
