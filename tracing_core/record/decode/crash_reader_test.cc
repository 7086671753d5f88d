// The handler of a fatal signal finds what another reader finds.
#include "tracing_core/record/decode/crash_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/support/thread_info.h"
#include "tracing_core/support/zeroed_pages.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

using namespace internal;

using testing::AnyOf;
using testing::ElementsAre;

void append(TextBuffer& out, FieldValues const& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.value(i).is_empty()) continue;
    out.push_back(' ');
    out.append(values.name(i));
    out.push_back('=');
    values.name(i) == "message" ? append_message(out, values.value(i)) : append_debug(out, values.value(i));
  }
}

class CrashReaderTest : public testing::Test {
 protected:
  explicit CrashReaderTest(std::size_t bytes = 1 << 20)
      : store_(std::make_shared<RecordStore>(Region::make_anonymous(bytes))),
        registry_(RegistryBuilder().with(std::make_unique<RecordLayer>(store_)).build()),
        reader_(*new (pages_.map(sizeof(CrashReader))) CrashReader) {}

  template <class F>
  void record(F f) {
    with_default(registry_, f);
  }
  // `outer n=1:inner: message=text`
  std::vector<std::string> dying(std::uint64_t from = 0) {
    std::vector<std::string> lines;
    for (reader_.start(*store_, from); reader_.next();) {
      InlineTextBuffer<1024> line;
      for (std::size_t i = reader_.depth(); i > 0; --i) {
        line.append(reader_.span(i - 1).name());
        reader_.for_each_group(i - 1, [&](FieldValues const& values) { append(line, values); });
        line.push_back(':');
      }
      append(line, reader_.values());
      lines.push_back(std::string(line.view()));
    }
    return lines;
  }
  std::vector<std::string> read(std::uint64_t from = 0) {
    std::vector<std::string> lines;
    tracing::recording::Spans spans;
    read_region(store_->region(), from)->for_each([&](Entry const& entry) {
      spans.follow(entry);
      if (entry.type != EntryType::event || entry.ticks < from) return;
      std::string path;
      for (tracing::recording::Span const* span = spans.current(); span != nullptr; span = span->parent.get()) {
        InlineTextBuffer<1024> text;
        text.append(span->metadata->name());
        span->values.for_each_group(*span->metadata, [&](FieldValues const& values) { append(text, values); });
        path = std::string(text.view()) + ":" + path;
      }
      InlineTextBuffer<1024> line;
      append(line, FieldValues(*entry.metadata, entry.values));
      lines.push_back(path + std::string(line.view()));
    });
    return lines;
  }

  std::shared_ptr<RecordStore> const store_;
  std::shared_ptr<Registry> const registry_;
  ZeroedPages pages_;
  CrashReader& reader_;
};

TEST_F(CrashReaderTest, ReadsThreadsThatShareAChunk) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "threads take over writers late";
  for (int i = 0; i < 100; ++i) {
    std::thread([&] {
      with_default(registry_, [i] {
        TRACE_SPAN(info, "work", i);
        TRACE_INFO("event", i);
      });
    }).join();
  }
  std::vector<std::string> const lines = dying();
  EXPECT_EQ(lines.size(), 100u);
  EXPECT_EQ(lines, read());
  std::vector<std::uint64_t> tracks;
  for (reader_.start(*store_, 0); reader_.next();) tracks.push_back(reader_.track().number);
  EXPECT_EQ(std::set<std::uint64_t>(tracks.begin(), tracks.end()).size(), 100u);
}

// A chunk is published once it describes its thread. Until then its thread is where the chunk before says.
TEST_F(CrashReaderTest, KeepsTheSpansOfAThreadThatBeginsAChunk) {
  record([this] {
    TRACE_SPAN(info, "outer");
    TRACE_INFO("event");
    ChunkHead& begun = store_->region().head(store_->region().take());
    begun.track = support::this_thread_info().number;
    begun.first_ticks = support::ticks_now();
    begun.last_ticks = 0;
    ASSERT_EQ(reader_.find_tracks(*store_, 0), 1u);
    ASSERT_TRUE(reader_.go_to_end_of(0));
    EXPECT_TRUE(reader_.next());
    EXPECT_FALSE(reader_.next());
    reader_.go_to_open_spans(0);
    ASSERT_EQ(reader_.depth(), 1u);
    EXPECT_EQ(reader_.span(0).name(), "outer");
  });
}

TEST_F(CrashReaderTest, ReadsEventsWithTheirSpans) {
  record([] {
    TRACE_SPAN(info, "outer", kv("n", 1), kv("late", empty));
    TRACE_INFO("first {}", 7);
    tracing::Span::current().record(kv("late", "text"));
    auto const held = TRACE_MAKE_SPAN(info, "held", kv("a", 1), kv("b", 2), kv("c", 3), kv("d", 4), kv("e", "five"));
    TRACE_WARN("second", parent(held), kv("f", 0.5));
    TRACE_WARN("root", parent(nullptr));
    held.in_scope([] { TRACE_INFO("inside", kv("list", std::vector<int>{1, 2})); });
    TRACE_INFO("last");
  });
  EXPECT_THAT(
      dying(),
      ElementsAre("outer n=1: message=first 7",
                  "outer n=1 late=\"text\":held a=1 b=2 c=3 d=4 e=\"five\": message=second f=0.5", " message=root",
                  "outer n=1 late=\"text\":held a=1 b=2 c=3 d=4 e=\"five\": message=inside list=[1, 2]",
                  "outer n=1 late=\"text\": message=last"));
  EXPECT_EQ(dying(), read());
}

void nest(int depth) {
  TRACE_SPAN(info, "nested", depth);
  if (depth < 3000) return nest(depth + 1);
  TRACE_INFO("innermost");
}

TEST_F(CrashReaderTest, ReadsTheInnermostOfThousandsOfSpans) {
  record([] { nest(1); });
  reader_.start(*store_, 0);
  ASSERT_TRUE(reader_.next());
  ASSERT_EQ(reader_.depth(), CrashReader::kMaxDepth);
  EXPECT_TRUE(reader_.has_more_spans());
  reader_.for_each_group(0, [](FieldValues const& values) { EXPECT_EQ(values.value(0).as_i64(), 3000); });
}

TEST_F(CrashReaderTest, ReadsThreadsInTheOrderOfTime) {
  record([this] {
    for (int i = 0; i < 5; ++i) {
      std::thread([this, i] {
        with_default(registry_, [i] {
          TRACE_SPAN(info, "worker", i);
          for (int n = 0; n < 1000; ++n) TRACE_DEBUG("step", n);
        });
      }).join();
      TRACE_INFO("joined", i);
    }
  });
  EXPECT_EQ(dying().size(), 5005u);
  EXPECT_EQ(dying(), read());
}

TEST_F(CrashReaderTest, ReadsWhatIsLeft) {
  record([] {
    TRACE_SPAN(info, "outer", kv("n", 1));
    for (int i = 0; i < 100'000; ++i) {
      TRACE_SPAN(info, "inner", i);
      TRACE_INFO("step");
    }
  });
  EXPECT_EQ(dying(), read());
}

TEST_F(CrashReaderTest, BeginsWhereItIsTold) {
  std::uint64_t middle = 0;
  record([&] {
    TRACE_SPAN(info, "outer");
    for (int i = 0; i < 5000; ++i) TRACE_INFO("step", i);
    middle = ticks_now();
    for (int i = 0; i < 3000; ++i) TRACE_INFO("then", i);
  });
  EXPECT_EQ(dying(middle).size(), 3000u);
  EXPECT_EQ(dying(middle), read(middle));
}

TEST_F(CrashReaderTest, KnowsCallsitesThatAreGone) {
  record([] {
    RuntimeCallsite const span_site({.kind = Kind::span, .name = "made at run time", .fields = {"x"}});
    RuntimeCallsite const event_site({.name = "event", .fields = {"what"}});
    Value const value = Value::of_i64(7);
    tracing::Span const span = tracing::Span::make(span_site.callsite(), &value);
    auto const entered = span.enter();
    Value const text = Value::of_text("said");
    emit_event(event_site.callsite(), &text);
  });
  EXPECT_THAT(dying(), ElementsAre("made at run time x=7: what=\"said\""));
}

// As a message of spdlog is: it came with its time.
TEST_F(CrashReaderTest, ReadsDatedEventsInTheirSpans) {
  record([] {
    TRACE_SPAN(info, "outer", kv("n", 1));
    RuntimeCallsite const site({.name = "event", .fields = {"what"}});
    Value const text = Value::of_text("said");
    dispatch_event_at(site.callsite(), site.callsite().enabled(), &text, {}, Origin{.time = Instant::now()});
    TRACE_INFO("after");
  });
  EXPECT_THAT(dying(), ElementsAre("outer n=1: what=\"said\"", "outer n=1: message=after"));
  EXPECT_EQ(dying(), read());
}

// `outer n=1 (entered after first)`: which of the moments were before the span began.
TEST_F(CrashReaderTest, TellsWhenOpenSpansBegan) {
  std::uint64_t const first = ticks_now();
  std::uint64_t second = 0;
  record([&] {
    TRACE_SPAN(info, "outer", kv("n", 1));
    second = ticks_now();
    auto const made = TRACE_MAKE_SPAN(info, "made", kv("late", empty));
    auto const entered = made.enter();
    for (int i = 0; i < 5000; ++i) TRACE_INFO("step", i);  // further chunks
    made.record(kv("late", "text"));
    ASSERT_EQ(reader_.find_tracks(*store_, 0), 1u);
    ASSERT_TRUE(reader_.go_to_end_of(0));
    int events = 0;
    while (reader_.next()) ++events;
    EXPECT_GT(events, 100);
    reader_.go_to_open_spans(0);
    ASSERT_EQ(reader_.depth(), 2u);
    InlineTextBuffer<64> values;
    reader_.for_each_group(0, [&](FieldValues const& group) { append(values, group); });
    // Twice if a chunk, which begins with all values, begins at the record of this one.
    EXPECT_THAT(values.view(), AnyOf(" late=\"text\"", " late=\"text\" late=\"text\""));
    CrashReader::Begin const begins[] = {reader_.begin_of_span(1), reader_.begin_of_span(0)};
    EXPECT_EQ(begins[0].kind, CrashReader::Begin::entered);
    EXPECT_TRUE(first < begins[0].ticks && begins[0].ticks < second);
    EXPECT_EQ(begins[1].kind, CrashReader::Begin::made);
    EXPECT_TRUE(second < begins[1].ticks && begins[1].ticks < reader_.until_ticks());
  });
}

TEST_F(CrashReaderTest, TellsThatASpanIsOlderThanWhatIsLeft) {
  record([&] {
    TRACE_SPAN(info, "outer");
    for (int i = 0; i < 100'000; ++i) {
      TRACE_SPAN(info, "inner");
      TRACE_INFO("step");
    }
    ASSERT_EQ(reader_.find_tracks(*store_, 0), 1u);
    ASSERT_TRUE(reader_.go_to_end_of(0));
    while (reader_.next()) {
    }
    reader_.go_to_open_spans(0);
    ASSERT_EQ(reader_.depth(), 1u);
    EXPECT_EQ(reader_.span(0).name(), "outer");
    EXPECT_EQ(reader_.begin_of_span(0).kind, CrashReader::Begin::before);
  });
}

// The main thread takes over the writer of the first one, whose chunk has no room for it.
TEST_F(CrashReaderTest, LeavesOutTracksThatEndedBefore) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "threads take over writers late";
  std::uint64_t middle = 0;
  auto const speak = [this] { with_default(registry_, [] { TRACE_INFO("there"); }); };
  record([&] {
    std::thread([this] {
      with_default(registry_, [] {
        for (int i = 0; i < 8; ++i) TRACE_INFO("there", kv("text", std::string(1900, 'x')));
      });
    }).join();
    TRACE_INFO("here");
    middle = ticks_now();
    std::thread([&] {
      speak();
      std::thread(speak).join();
      std::thread(speak).join();
    }).join();
  });
  std::size_t const all = reader_.find_tracks(*store_, 0);
  std::size_t const late = reader_.find_tracks(*store_, middle);
  EXPECT_EQ(late, all - 1);
  int events = 0;
  for (std::size_t i = 0; i < late; ++i) {
    ASSERT_TRUE(reader_.go_to_end_of(i));
    while (reader_.next()) ++events;
  }
  EXPECT_EQ(events, 4);
}

TEST_F(CrashReaderTest, NamesThreads) {
  record([this] {
    std::thread([this] {
      with_default(registry_, [] {
        set_thread_name("named");
        TRACE_INFO("there");
      });
    }).join();
  });
  reader_.start(*store_, 0);
  ASSERT_TRUE(reader_.next());
  EXPECT_EQ(reader_.track().name, "named");
}

// A report takes longer to print than its records took to make.
TEST_F(CrashReaderTest, EndsAlthoughAThreadRecordsFasterThanItReads) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    with_default(registry_, [&] {
      while (!stop) TRACE_INFO("busy");
    });
  });
  record([] { TRACE_INFO("last words"); });
  reader_.start(*store_, 0);
  std::uint64_t const began = ticks_now();
  for (int read = 0; reader_.next(); ++read) {
    ASSERT_LE(reader_.ticks(), began);
    if (read % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop = true;
  busy.join();
}

TEST_F(CrashReaderTest, ReadsWhileOtherThreadsRecord) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      with_default(registry_, [&] {
        for (int i = 0; !stop; ++i) {
          TRACE_SPAN(info, "worker", i);
          TRACE_INFO("step {}", i, kv("text", "some text"));
        }
      });
    });
  }
  for (int round = 0; round < 20; ++round) {
    for (std::string const& line : dying()) {
      std::string const number = line.substr(0, line.find(':')).substr(std::string("worker i=").size());
      ASSERT_EQ(line, "worker i=" + number + ": message=step " + number + " text=\"some text\"");
    }
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

}}  // namespace tracing::recording
