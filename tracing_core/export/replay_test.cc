// A replay of captured records prints the same bytes as the live records.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/collect/record_ring.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/tracing.h"

namespace replay_test {

using tracing::FormatKind;
using tracing::RecordRing;

std::unique_ptr<tracing::Layer> printing(std::string& out, FormatKind kind, tracing::SpanEvents span_events) {
  tracing::PrintOptions options;
  options.format.kind = kind;
  options.format.thread_ids = options.format.thread_names = true;
  options.span_events = span_events;
  options.writer = tracing::to_sink(
      tracing::make_sink([&out, mutex = std::make_shared<std::mutex>()](tracing::Level, std::string_view line) {
        std::lock_guard const lock(*mutex);
        out += line;
      }));
  return tracing::print_layer(options);
}

// The texts of the records that `f()` emits: live, and replayed from the ring.
template <class F>
std::pair<std::string, std::string> live_and_replayed(FormatKind kind, tracing::SpanEvents span_events, F&& f) {
  std::string live;
  std::string replayed;
  auto const ring = RecordRing::make();
  auto const registry =
      tracing::RegistryBuilder().with(printing(live, kind, span_events)).with(ring->make_layer()).build();
  tracing::with_default(registry, [&] { f(registry); });
  ring->snapshot().replay(*tracing::RegistryBuilder().with(printing(replayed, kind, span_events)).build());
  return {live, replayed};
}

struct Point {
  int x;
  std::string y;
};
TRACE_FIELDS(Point, x, y)

void emit_everything() {
  TRACE_SPAN(info, "outer", tracing::kv("n", -1), tracing::kv("text", "a \"quoted\" text"), tracing::kv("real", 1.5f));
  auto const inner = TRACE_MAKE_SPAN(debug, "inner", tracing::kv("late", tracing::empty), tracing::kv("on", true));
  Point const point{3, "here"};
  std::runtime_error const error("failed");
  inner.in_scope([&] {
    TRACE_INFO("a message of {} and {:>8}", 3, "text", point, error);
    TRACE_INFO("numbers: {} {} {} {}", 2.0, 0.1F, 1e300, tracing::debug(2.0), tracing::kv("real", 2.0));
    inner.record(tracing::kv("late", point));
    TRACE_WARN("two\nlines", tracing::kv("display", tracing::display("bare")), tracing::kv("nothing", tracing::empty));
    inner.record(tracing::kv("late", 4));
  });
  inner.in_scope([&] {
    auto const again = inner.enter();
    TRACE_INFO("entered twice");
  });
  auto const cause = TRACE_MAKE_SPAN(info, "cause", tracing::parent(nullptr));
  inner.follows_from(cause);
  TRACE_ERROR("explicit", tracing::parent(cause));
  TRACE_INFO("at the root", tracing::parent(nullptr));
  TRACE_VALUES(trace, tracing::kv("x", 1), tracing::kv("bytes", 2U));
}

TEST(Replay, PrintsTheSameAsLive) {
  for (FormatKind const kind : {FormatKind::full, FormatKind::compact, FormatKind::pretty, FormatKind::json}) {
    for (auto const span_events : {tracing::SpanEvents::none, tracing::SpanEvents::full}) {
      auto const [live, replayed] = live_and_replayed(kind, span_events, [](auto const&) { emit_everything(); });
      EXPECT_GT(std::count(live.begin(), live.end(), '\n'), 5);
      EXPECT_EQ(replayed, live) << "format " << static_cast<int>(kind);
    }
  }
}

std::vector<std::string> sorted_lines(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(Replay, PrintsTheSameAsSeveralThreadsDidLive) {
  for (FormatKind const kind : {FormatKind::full, FormatKind::json}) {
    auto const [live, replayed] = live_and_replayed(kind, tracing::SpanEvents::full, [](auto const& registry) {
      TRACE_SPAN(info, "shared");
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back(tracing::with_current_span([&registry, i] {
          tracing::with_default(registry, [i] {
            for (int n = 0; n < 50; ++n) {
              TRACE_SPAN(info, "own", i, n);
              TRACE_INFO("event {}", n);
            }
            emit_everything();
          });
        }));
      }
      for (auto& thread : threads) thread.join();
    });
    EXPECT_EQ(sorted_lines(replayed), sorted_lines(live));
  }
}

TEST(Replay, PrintsTheRestIfTheBeginningWasOverwritten) {
  std::string live;
  std::string replayed;
  std::string printed_then;
  auto const ring = RecordRing::make(8192);
  auto const registry = tracing::RegistryBuilder()
                            .with(printing(live, FormatKind::full, tracing::SpanEvents::full))
                            .with(ring->make_layer())
                            .build();
  tracing::with_default(registry, [&] {
    TRACE_SPAN(info, "outer", tracing::kv("n", 1), tracing::kv("late", tracing::empty));
    tracing::Span::current().record(tracing::kv("late", 2));
    for (int i = 0; i < 300; ++i) {
      TRACE_SPAN(info, "inner", i);
      TRACE_INFO("event {}", i);
    }
    printed_then = live;
    ring->snapshot().replay(
        *tracing::RegistryBuilder().with(printing(replayed, FormatKind::full, tracing::SpanEvents::full)).build());
  });
  EXPECT_GT(ring->dropped(), 0U);
  ASSERT_GT(replayed.size(), 1000U);
  ASSERT_GT(printed_then.size(), replayed.size());
  EXPECT_EQ(replayed, printed_then.substr(printed_then.size() - replayed.size()));
}

TEST(Replay, PrintsOnlySelectedRecords) {
  std::string live;
  std::string replayed;
  auto const ring = RecordRing::make();
  auto const registry = tracing::RegistryBuilder()
                            .with(printing(live, FormatKind::full, tracing::SpanEvents::none))
                            .with(ring->make_layer())
                            .build();
  tracing::with_default(registry, [&] {
    TRACE_SPAN(info, "outer", tracing::kv("n", 1));
    ring->set_tag(1);
    TRACE_INFO("of another test");
    ring->set_tag(2);
    live.clear();
    TRACE_INFO("of this one");
  });
  ring->snapshot().replay(
      *tracing::RegistryBuilder().with(printing(replayed, FormatKind::full, tracing::SpanEvents::full)).build(),
      [](tracing::RecordView const& record) { return record.tag == 2 && record.kind == tracing::RecordKind::event; });
  EXPECT_EQ(replayed, live);
}

}  // namespace replay_test
