// Many records, callsites, open spans and threads, and large values: memory stays bounded, and what is lost is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <latch>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/campaign.h"
#include "tests/support/resident_memory.h"
#include "tests/support/sanitizers.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/tracing.h"

namespace tracing::internal { namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using tracing_test::campaign;

// `part n=1 < request id=7`
std::string path_of(tracing::recording::Span const* span) {
  std::string path;
  for (; span != nullptr; span = span->parent.get()) {
    InlineTextBuffer<256> text;
    text.append(span->metadata->name());
    span->values.for_each_group(*span->metadata, [&](FieldValues const& values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values.value(i).is_empty()) continue;
        text.push_back(' ');
        text.append(values.name(i));
        text.push_back('=');
        append_debug(text, values.value(i));
      }
    });
    path.append(path.empty() ? "" : " < ").append(text.view());
  }
  return path;
}

std::string text_of(Value const& value) {
  InlineTextBuffer<256> text;
  append_debug(text, value);
  return std::string(text.view());
}

class Extremes : public testing::Test {
 protected:
  static constexpr std::uint32_t kTags = 20;

  // Part number `i` of `n` has a tag of its own.
  void set_tag(int i, int n) { store_->set_tag(1 + static_cast<std::uint32_t>(i / ((n + kTags - 1) / kTags))); }
  // Calls `f(recording::Entry const&, tracing::recording::Spans const&)` for each new record, and checks that the
  // others are counted.
  template <class F>
  void read(std::uint64_t made, F f) {
    auto const recording = recording::read_region(store_->region());
    std::map<std::uint32_t, std::uint64_t> found;
    tracing::recording::Spans spans;
    recording->for_each([&](recording::Entry const& entry) {
      spans.follow(entry);
      if (entry.is_restated()) return;
      ++found[entry.tag];
      f(entry, spans);
    });
    EXPECT_THAT(recording->problems(), IsEmpty());
    std::uint64_t all = 0;
    for (std::uint32_t tag = 0; tag <= kTags; ++tag) {
      std::uint64_t const of_tag = found[tag] + store_->region().lost_of(tag);
      EXPECT_TRUE(tag == 0 || of_tag == made / kTags) << tag << ": " << of_tag;
      all += of_tag;
    }
    EXPECT_EQ(all, made);
  }
  template <class F>
  void record(F f) {
    with_default(registry_, f);
  }
  void expect_memory_below(std::size_t kib) {
    malloc_trim(0);
    std::size_t const now = tracing_test::resident_kib();
    RecordProperty("resident_kib", std::to_string(now - std::min(now, before_)));
    if (TESTLOG_ASAN == 0 && TESTLOG_TSAN == 0) {
      EXPECT_LT(now, before_ + kib);
    }
  }

  std::size_t const before_ = tracing_test::resident_kib();
  std::shared_ptr<RecordStore> const store_ = std::make_shared<RecordStore>(Region::make_anonymous(1 << 20));
  std::shared_ptr<Registry> const registry_ = RegistryBuilder().with(std::make_unique<RecordLayer>(store_)).build();
};

TEST_F(Extremes, SpansThatWereOpenedLongAgoAreComplete) {
  int const events = campaign(10'000'000, 1'000'000);
  std::latch idle_is_inside(1), all_done(1);
  std::thread idle([&] {
    record([&] {
      TRACE_SPAN(info, "idle", kv("id", 9));
      idle_is_inside.count_down();
      all_done.wait();
    });
  });
  idle_is_inside.wait();
  record([&] {
    TRACE_SPAN(info, "request", kv("id", 7), kv("text", "some text"));
    auto job = TRACE_MAKE_SPAN(warn, "job", kv("id", 8), kv("status", empty));
    job.record(kv("status", "running"));
    TRACE_SPAN(info, "part", kv("n", 1));
    for (int i = 0; i < events; ++i) {
      set_tag(i, events);
      TRACE_INFO("step", i);
    }
    store_->set_tag(0);
    TRACE_INFO("at last", parent(job));
  });
  // Three ends and two of `job`, one event, and beginnings that are lost.
  int steps = 0, others = 0;
  read(static_cast<std::uint64_t>(events) + 10,
       [&](recording::Entry const& entry, tracing::recording::Spans const& spans) {
         if (entry.type != recording::EntryType::event) return;
         bool const is_last = entry.tag == 0;
         ++(is_last ? others : steps);
         EXPECT_EQ(path_of(spans.current()), is_last ? "job id=8 status=\"running\" < request id=7 text=\"some text\""
                                                     : "part n=1 < request id=7 text=\"some text\"");
       });
  EXPECT_GT(steps, 10'000);
  EXPECT_EQ(others, 1);
  auto const recording = recording::read_region(store_->region());
  std::string open;
  tracing::recording::Spans spans;
  recording->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.type == recording::EntryType::scope_begin) open = path_of(spans.current());
  });
  EXPECT_EQ(open, "idle id=9") << "the only beginning that was not overwritten";
  EXPECT_TRUE(std::any_of(recording->tracks().begin(), recording->tracks().end(),
                          [](tracing::recording::TrackSummary const& track) { return track.open.size() == 1; }));
  all_done.count_down();
  idle.join();
  expect_memory_below(4 * 1024);
}

TEST_F(Extremes, ManyCallsitesOfRunTime) {
  int const count = campaign(1'000'000, 100'000);
  record([&] {
    for (int i = 0; i < count; ++i) {
      set_tag(i, count);
      RuntimeCallsite const callsite({.kind = Kind::span, .name = "span " + std::to_string(i)});
      Span const span = Span::make(callsite.callsite(), nullptr);
    }
  });
  read(2 * static_cast<std::uint64_t>(count),
       [&](recording::Entry const& entry, tracing::recording::Spans const& spans) {
         ASSERT_NE(spans.current(), nullptr);
         EXPECT_EQ(spans.current()->metadata->name(), "span " + std::to_string(entry.ordinal / 2));
       });
  expect_memory_below(4 * 1024);
}

TEST_F(Extremes, ManyCallsitesOfRunTimeAtOnce) {
  int const count = campaign(1'000'000, 20'000);
  std::vector<RuntimeCallsite> callsites;
  for (int i = 0; i < count; ++i)
    callsites.push_back(RuntimeCallsite({.kind = Kind::span, .name = "span " + std::to_string(i)}));
  std::size_t const with_callsites = tracing_test::resident_kib();
  record([&] {
    for (int i = 0; i < count; ++i) {
      set_tag(i, count);
      Span const span = Span::make(callsites[static_cast<std::size_t>(i)].callsite(), nullptr);
    }
  });
  read(2 * static_cast<std::uint64_t>(count), [](recording::Entry const&, tracing::recording::Spans const&) {});
  expect_memory_below(with_callsites - before_ + 4 * 1024);
}

TEST_F(Extremes, ManyOpenSpans) {
  int const count = 100'000;
  std::vector<Span> spans;
  spans.reserve(count);
  record([&] {
    for (int i = 0; i < count; ++i) {
      set_tag(i, count);
      spans.push_back(TRACE_MAKE_SPAN(info, "job", kv("number", i), kv("status", empty)));
    }
    for (int i = 0; i < count; ++i) {
      set_tag(i, count);
      spans[static_cast<std::size_t>(i)].record(kv("status", i % 7));
    }
    for (int i = 0; i < count; ++i) {
      set_tag(i, count);
      TRACE_INFO("step", parent(spans[static_cast<std::size_t>(i)]), kv("number", i));
    }
  });
  int steps = 0;
  read(3 * std::uint64_t{count}, [&](recording::Entry const& entry, tracing::recording::Spans const& known) {
    if (entry.type != recording::EntryType::event) return;
    ++steps;
    std::string const number = text_of(entry.values[0]);
    EXPECT_EQ(path_of(known.current()), "job number=" + number + " status=" + std::to_string(std::stoi(number) % 7));
  });
  EXPECT_GT(steps, 1000);
  expect_memory_below(count * 500 / 1024 + 4 * 1024);
  spans.clear();
}

TEST_F(Extremes, LargeValues) {
  std::size_t const size = campaign<std::size_t>(100'000'000, TESTLOG_TSAN ? 1'000'000 : 10'000'000);
  constexpr int kRounds = 20;
  record([&] {
    std::string const large(size, 'x');
    for (int i = 0; i < kRounds; ++i) {
      store_->set_tag(1 + static_cast<std::uint32_t>(i));
      TRACE_SPAN(info, "scope", large);
      auto job = TRACE_MAKE_SPAN(info, "job", kv("text", empty));
      job.record(kv("text", large));
      TRACE_INFO("{}", large);
      TRACE_INFO("error", kv("error", std::runtime_error(large)));
      TRACE_INFO("three", kv("a", large), kv("b", std::vector<int>(size / 100, 7)), kv("c", large));
    }
  });
  std::string const mark = "... (" + std::to_string(size) + " bytes)";
  read(kRounds * 9, [&](recording::Entry const& entry, tracing::recording::Spans const&) {
    if (entry.values == nullptr || entry.type == recording::EntryType::new_span) return;
    std::string const text = text_of(entry.values[0]);
    EXPECT_THAT(text, HasSubstr("xxxxxx"));
    EXPECT_LT(text.size(), 5000u);
    EXPECT_TRUE(text.find(mark) != text.npos || text.find(" bytes)") != text.npos) << text.substr(text.size() - 50);
  });
  expect_memory_below(4 * 1024);
}

TEST_F(Extremes, ThreadsOneAfterAnother) {
  constexpr int kThreads = 1000;
  for (int t = 0; t < kThreads; ++t) {
    set_tag(t, kThreads);
    std::thread([&] {
      record([&] {
        TRACE_SPAN(info, "thread", t);
        for (int i = 0; i < 98; ++i) TRACE_INFO("step", i);
      });
    }).join();
  }
  read(kThreads * 100, [](recording::Entry const& entry, tracing::recording::Spans const& spans) {
    if (entry.type != recording::EntryType::event) return;
    ASSERT_NE(spans.current(), nullptr);
  });
  expect_memory_below(4 * 1024);
}

TEST_F(Extremes, ThreadsAtOnce) {
  int const count = TESTLOG_TSAN != 0 ? 100 : campaign(1000, 200);
  std::latch all_inside(count), all_done(count);
  std::vector<std::thread> threads;
  store_->set_tag(1);
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      record([&] {
        TRACE_SPAN(info, "thread", t);
        all_inside.arrive_and_wait();
        for (int i = 0; i < 1998; ++i) TRACE_INFO("step", i);
        all_done.arrive_and_wait();
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::uint64_t, std::uint64_t> last;
  auto const recording = recording::read_region(store_->region());
  std::uint64_t found = 0;
  tracing::recording::Spans spans;
  recording->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.is_restated()) return;
    ++found;
    last[entry.writer] = entry.ordinal;
    EXPECT_NE(spans.current(), nullptr);
  });
  EXPECT_THAT(recording->problems(), IsEmpty());
  EXPECT_EQ(found + store_->region().lost_of(1), 2000u * static_cast<unsigned>(count));
  EXPECT_EQ(last.size(), static_cast<std::size_t>(count)) << "each thread's last records are kept";
  for (auto const& [track, ordinal] : last) EXPECT_EQ(ordinal, 1999u) << track;
  expect_memory_below(static_cast<std::size_t>(count) * 100 + 8 * 1024);
}

}}  // namespace tracing::internal
