#include "tracing_core/collect/record_ring.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
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
  span.values.for_each_group(*span.metadata, [&](tracing::FieldValues const& values) {
    if (out.back() != '{') out += " ";
    out += text_of(values);
  });
  return out + "}";
}

// One line for a record: its kind, the spans, the values.
std::string text_of(RecordView const& record) {
  std::string out = name_of(record.kind);
  std::string path;
  if (record.span != nullptr) {
    record.span->for_each_in_path([&](tracing::RecordedSpan const& span) { path = text_of(span) + (path.empty() ? "" : ":") + path; });
  }
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

TEST(RecordRing, KnowsSpansWhoseMakingWasOverwritten) {
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
    EXPECT_EQ(lines(ring->snapshot()).front(), "event long{n=1 late=5} message=event " + std::to_string(ring->first_number() - 3));
  });
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
