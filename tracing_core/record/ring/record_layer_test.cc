// What is recorded is read back, in memory and from a file, whole and after chunks were given away.
#include "tracing_core/record/ring/record_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <latch>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/filter/combinators.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/record.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace tracing::internal { namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

char const* name_of(recording::EntryType type) {
  constexpr char const* kNames[] = {"?",   "site",  "track", "tag",   "state",  "begin",        "end",  "event",
                                    "new", "enter", "exit",  "close", "values", "follows_from", "timed"};
  return kNames[static_cast<std::size_t>(type)];
}

// `event m{a=1}` and so on.
std::string text_of(recording::Entry const& entry) {
  InlineTextBuffer<512> out;
  out.append(name_of(entry.type));
  if (entry.metadata == nullptr) return std::string(out.view());
  out.push_back(' ');
  if (entry.metadata->is_span()) out.append(entry.metadata->name());
  if (entry.values == nullptr) return std::string(out.view());
  FieldValues const values(*entry.metadata, entry.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.name(i) == "message") append_message(out, values.value(i));
  }
  out.push_back('{');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.name(i) == "message" || values.value(i).is_empty()) continue;
    if (!out.view().ends_with('{')) out.push_back(' ');
    out.append(values.name(i));
    out.push_back('=');
    append_debug(out, values.value(i));
  }
  out.push_back('}');
  return std::string(out.view());
}

std::vector<std::string> texts_of(recording::Recording& recording) {
  std::vector<std::string> texts;
  recording.for_each([&](recording::Entry const& entry) { texts.push_back(text_of(entry)); });
  EXPECT_THAT(recording.problems(), IsEmpty());
  return texts;
}

class RecordLayerTest : public testing::Test {
 protected:
  // If the clock started half a millisecond ago, a chunk is exact for four; then another one describes the open spans
  // again.
  static void SetUpTestSuite() {
    start_span_clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  explicit RecordLayerTest(std::unique_ptr<Region> region = Region::make_anonymous(1 << 20))
      : store_(std::make_shared<RecordStore>(std::move(region))),
        registry_(RegistryBuilder().with(std::make_unique<RecordLayer>(store_)).build()) {}

  template <class F>
  void record(F f) {
    with_default(registry_, f);
  }
  std::unique_ptr<recording::Recording> read() { return recording::read_region(store_->region()); }
  std::vector<std::string> texts() { return texts_of(*read()); }
  // What is left if the chunks before are overwritten.
  std::unique_ptr<recording::Recording> read_from(std::uint32_t chunk) {
    return recording::read_region(store_->region(), store_->region().head(chunk).first_ticks);
  }

  std::shared_ptr<RecordStore> const store_;
  std::shared_ptr<Registry> const registry_;
};

TEST_F(RecordLayerTest, ReadsBackScopesAndEvents) {
  record([] {
    int const a = 1;
    TRACE_SPAN(info, "outer", a);
    TRACE_INFO("first");
    TRACE_SPAN(debug, "inner");
    TRACE_DEBUG("moved {} bytes", 64, kv("to", "b"));
  });
  EXPECT_THAT(texts(), ElementsAre("begin outer{a=1}", "event first{}", "begin inner{}",
                                   "event moved 64 bytes{to=\"b\"}", "end", "end"));
}

TEST_F(RecordLayerTest, EventsKnowTheirSpans) {
  record([] {
    TRACE_SPAN(info, "outer");
    TRACE_INFO("in outer");
  });
  std::uint64_t outer = 0;
  read()->for_each([&](recording::Entry const& entry) {
    if (entry.type == recording::EntryType::scope_begin) outer = entry.span;
    EXPECT_TRUE(entry.type != recording::EntryType::event || entry.span == outer);
  });
  EXPECT_NE(outer, 0u);
}

TEST_F(RecordLayerTest, ReadsBackValuesOfAllKinds) {
  record([] {
    std::string const text = "text";
    std::runtime_error const error("an error");
    TRACE_VALUES(info, kv("b", true), kv("i", -1), kv("u", 2u), kv("f", 1.5), kv("g", 0.1f), kv("text", text),
                 kv("p", reinterpret_cast<void const*>(0x10)), kv("error", error), kv("list", std::vector<int>{1, 2}),
                 kv("big", static_cast<Value::Int128>(-5)), kv("none", std::optional<int>()));
  });
  EXPECT_THAT(
      texts(),
      ElementsAre("event {b=true i=-1 u=2 f=1.5 g=0.1 text=\"text\" p=0x10 error=an error list=[1, 2] big=-5}"));
}

bool is_state(std::string const& line) { return line.starts_with("state "); }

// The first record of a callsite takes the general path, since its writer does not know the callsite yet.
TEST(RecordLayer, RecordsTheSameValuesOnBothPaths) {
  auto const emit = [](std::string const& text, int n) {
    char const* const name = "name";
    TRACE_VALUES(info, text);
    TRACE_VALUES(info, n, text, name, kv("tail", text));
    TRACE_VALUES(info, n, kv("b", 2u), kv("c", 3.0), kv("d", true), kv("e", -5));
    TRACE_VALUES(info, n, name, text, kv("d", n), kv("e", n), kv("f", n), kv("g", n), kv("h", n), kv("i", n),
                 kv("j", n), kv("k", n), kv("l", name));
    TRACE_VALUES(info, kv("big", static_cast<Value::Int128>(n)), kv("list", std::vector<int>{n}), text);
    Span const span = TRACE_MAKE_SPAN(info, "handle", n, text, kv("late", empty), kv("d", n), kv("tail", text));
    auto const entered = span.enter();
    TRACE_VALUES(info, parent(span), name, text);
    TRACE_VALUES(info, parent(nullptr), n, text);
    span.record(kv("late", text));
    Span const below = TRACE_MAKE_SPAN(info, "below", parent(span), text);
    below.follows_from(span);
  };
  constexpr std::size_t kRecords = 15;
  for (std::size_t const size : {0, 1, 7, 8, 9, 247, 248, 249, 255, 256, 257, 503, 504, 505, 512, 513, 5000}) {
    auto const store = std::make_shared<RecordStore>(Region::make_anonymous(1 << 20));
    with_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(), [&] {
      for (int i = 0; i < 2; ++i) emit(std::string(size, 'x'), 5);
    });
    std::vector<std::string> found = texts_of(*recording::read_region(store->region()));
    std::erase_if(found, is_state);  // a chunk may begin in the middle
    ASSERT_EQ(found.size(), 2 * kRecords);
    for (std::size_t i = 0; i < kRecords; ++i) EXPECT_EQ(found[i], found[i + kRecords]) << size;
    EXPECT_THAT(found[kRecords + 5],
                testing::StartsWith("new handle{n=5 text=\"" + std::string(size, 'x').substr(0, 9)));
  }
}

TEST_F(RecordLayerTest, DescribesSpansWithTheirTexts) {
  constexpr std::size_t kSizes[] = {0, 7, 8, 504, 505, 512, 513, 1024};
  std::uint64_t from = 0;
  record([&] {
    std::vector<Span> spans;
    for (std::size_t const size : kSizes)
      spans.push_back(TRACE_MAKE_SPAN(info, "handle", size, kv("text", std::string(size, 'x')), kv("late", empty)));
    auto const fill_chunks = [] {
      for (int i = 0; i < 2000; ++i) TRACE_INFO("step", i);
    };
    fill_chunks();
    from = ticks_now();
    fill_chunks();
    for (Span const& span : spans) TRACE_INFO("below", parent(span));
  });
  std::vector<std::string> states = texts_of(*recording::read_region(store_->region(), from));
  std::erase_if(states, std::not_fn(is_state));
  ASSERT_EQ(states.size(), std::size(kSizes));
  for (std::size_t i = 0; i < states.size(); ++i) {
    std::string const text(kSizes[i], 'x');
    EXPECT_EQ(states[i], "state handle{size=" + std::to_string(kSizes[i]) + " text=\"" + text + "\"}");
  }
}

TEST_F(RecordLayerTest, CutsLongTextsAndSaysHowLongTheyWere) {
  record([] { TRACE_INFO("long", kv("text", std::string(1'000'000, 'x')), kv("after", 7)); });
  EXPECT_THAT(texts(),
              ElementsAre("event long{text=\"" + std::string(kMaxValueBytes, 'x') + "... (1000000 bytes)\" after=7}"));
}

TEST_F(RecordLayerTest, CutsLongNamesMadeAtRunTimeAndSaysHowLongTheyWere) {
  RuntimeCallsite const callsite({.kind = Kind::span,
                                  .name = std::string(1'000'000, 'x'),
                                  .target = "target",
                                  .fields = {"first", "second"},
                                  .file = "file.cc",
                                  .line = 7,
                                  .function = "function"});
  Value const values[] = {Value::of_text("one"), Value::of_text("two")};
  record([&] { Span::make(callsite.callsite(), values).in_scope([] { TRACE_INFO("inside"); }); });
  std::string const mark = "... (1000000 bytes)";
  std::string const name = std::string(kMaxRunTimeName - mark.size(), 'x') + mark;
  EXPECT_THAT(texts(), ElementsAre("new " + name + "{first=\"one\" second=\"two\"}", "enter " + name, "event inside{}",
                                   "exit " + name, "close " + name));
  read()->for_each([](recording::Entry const& entry) {
    if (entry.type != recording::EntryType::new_span) return;
    EXPECT_EQ(entry.metadata->target(), "target");
    EXPECT_EQ(entry.metadata->function(), "function");
    EXPECT_EQ(entry.metadata->file(), "file.cc");
    EXPECT_EQ(entry.metadata->line(), 7u);
  });
}

TEST_F(RecordLayerTest, KnowsOfALocationWhatWasKnown) {
  std::vector<RuntimeCallsite> callsites;
  for (char const* const file : {"", "file.cc"}) {
    for (std::optional<std::uint32_t> const line : {std::optional<std::uint32_t>(), {0u}, {1u}, {UINT32_MAX}})
      callsites.push_back(RuntimeCallsite({.kind = Kind::span, .name = "span", .file = file, .line = line}));
  }
  record([&] {
    for (RuntimeCallsite const& callsite : callsites) (void)Span::make(callsite.callsite(), nullptr);
  });
  std::size_t count = 0;
  read()->for_each([&](recording::Entry const& entry) {
    if (entry.type != recording::EntryType::new_span) return;
    Metadata const& recorded = callsites[count++].metadata();
    EXPECT_EQ(entry.metadata->file(), recorded.file());
    EXPECT_EQ(entry.metadata->line(), recorded.line());
    EXPECT_EQ(knows_line(*entry.metadata), knows_line(recorded)) << recorded.file() << recorded.line();
  });
  EXPECT_EQ(count, callsites.size());
}

// Each chunk describes all spans around its records.
TEST_F(RecordLayerTest, LosesNothingInNestedSpansWithLongNamesMadeAtRunTime) {
  constexpr int kDepth = 8;
  constexpr int kEvents = 2000;
  std::vector<RuntimeCallsite> callsites;
  for (int i = 0; i < kDepth; ++i)
    callsites.push_back(RuntimeCallsite({.kind = Kind::span, .name = std::to_string(i) + std::string(1'000'000, 'x')}));
  record([&] {
    std::vector<EnteredSpan> entered;
    for (RuntimeCallsite const& callsite : callsites)
      entered.push_back(Span::make(callsite.callsite(), nullptr).entered());
    for (int i = 0; i < kEvents; ++i) TRACE_INFO("step", i);
    while (!entered.empty()) entered.pop_back();
  });
  int events = 0;
  tracing::recording::Spans spans;
  read()->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.type != recording::EntryType::event) return;
    ++events;
    int depth = 0;
    for (tracing::recording::Span const* span = spans.current(); span != nullptr; span = span->parent.get()) ++depth;
    EXPECT_EQ(depth, kDepth);
  });
  EXPECT_EQ(events, kEvents);
  EXPECT_EQ(store_->region().header().dropped.load(), 0u);
}

TEST_F(RecordLayerTest, RecordsManyLongTextsOfOneStatement) {
  std::string const text(10'000, 'x');
  record([&] {
    TRACE_INFO("long", kv("a", text), kv("b", text), kv("c", text), kv("d", text), kv("e", text), kv("f", 7));
  });
  EXPECT_THAT(texts(), ElementsAre(HasSubstr("f=7")));
}

TEST_F(RecordLayerTest, ReadsBackHandlesOfAnotherThread) {
  record([this] {
    auto span = TRACE_MAKE_SPAN(info, "request", kv("id", 7), kv("status", empty));
    std::thread([&] {
      with_default(registry_, [&] {
        span.in_scope([] { TRACE_INFO("working"); });
        span.record(kv("status", 200));
      });
    }).join();
  });
  EXPECT_THAT(texts(), ElementsAre("new request{id=7}", "state request{id=7}", "enter request", "event working{}",
                                   "exit request", "values request{status=200}", "close request"));
}

// The chunk that begins with the record describes the span with the value that it has by then.
TEST_F(RecordLayerTest, RecordsAValueInASpanThatItDescribesForIt) {
  record([this] {
    auto span = TRACE_MAKE_SPAN(info, "request", kv("id", 7), kv("status", empty));
    std::thread([&] { with_default(registry_, [&] { span.record(kv("status", 200)); }); }).join();
  });
  EXPECT_THAT(texts(), ElementsAre("new request{id=7}", "state request{id=7}", "values request{status=200}",
                                   "values request{status=200}", "close request"));
}

TEST_F(RecordLayerTest, HasTheLastValueWhicheverChunksAreLeft) {
  record([] {
    auto const span = TRACE_MAKE_SPAN(info, "request", kv("text", empty));
    span.in_scope([&span] {
      TRACE_INFO("long", kv("text", std::string(4000, 'x')), kv("more", std::string(4000, 'x')));
      for (char letter = 'a'; letter <= 'h'; ++letter) span.record(kv("text", std::string(1500, letter)));
      TRACE_INFO("inside");
    });
  });
  for (std::uint32_t chunk = 0; chunk < store_->region().chunk_count(); ++chunk) {
    tracing::recording::Spans spans;
    std::string letters;  // of the last event's span
    read_from(chunk)->for_each([&](recording::Entry const& entry) {
      spans.follow(entry);
      if (entry.type != recording::EntryType::event) return;
      ASSERT_NE(spans.current(), nullptr);
      letters.clear();
      spans.current()->values.for_each_group(*spans.current()->metadata, [&](FieldValues const& values) {
        if (values.size() > 0 && !values.value(0).is_empty()) letters += values.value(0).as_text()[0];
      });
    });
    EXPECT_EQ(letters, "h") << chunk;
  }
}

TEST_F(RecordLayerTest, RecordsChildrenOfSpansThatItsFilterRejects) {
  auto const registry =
      RegistryBuilder().with(std::make_unique<RecordLayer>(store_), to_filter(LevelFilter::info)).build();
  with_default(registry, [] {
    auto const hidden = TRACE_MAKE_SPAN(debug, "hidden");
    auto const child = TRACE_MAKE_SPAN(info, "child", parent(hidden), kv("a", 7));
    TRACE_INFO("after");
  });
  EXPECT_THAT(texts(), ElementsAre("new child{a=7}", "event after{}", "close child"));
}

TEST_F(RecordLayerTest, SpansAfterOneThatFindsNoRoomKeepTheirNames) {
  record([] {
    RuntimeCallsite const callsite({.kind = Kind::span, .name = std::string(17'000, 'x')});
    auto const before = TRACE_MAKE_SPAN(info, "before");
    Span const large = Span::make(callsite.callsite(), nullptr);
    auto const after = TRACE_MAKE_SPAN(info, "after");
    TRACE_SPAN(info, "scope");
    TRACE_INFO("inside");
  });
  std::map<std::uint64_t, std::string> names;
  read()->for_each([&](recording::Entry const& entry) {
    if (entry.metadata == nullptr) return;
    if (entry.metadata->is_span()) {
      auto const name = names.emplace(entry.span, entry.metadata->name()).first;
      EXPECT_EQ(name->second, entry.metadata->name()) << "two spans with one key";
    } else {
      EXPECT_EQ(names[entry.span], "scope");
    }
  });
}

TEST_F(RecordLayerTest, NamesThreads) {
  record([this] {
    std::thread([this] {
      with_default(registry_, [] {
        set_thread_name("worker");
        TRACE_INFO("there");
      });
    }).join();
  });
  auto const recording = read();
  texts_of(*recording);
  ASSERT_EQ(recording->tracks().size(), 1u);
  EXPECT_EQ(recording->tracks()[0].thread.name, "worker");
}

TEST_F(RecordLayerTest, ShortThreadsShareChunks) {
  constexpr int kThreads = TESTLOG_TSAN != 0 ? 300 : 3000;  // ThreadSanitizer: those take over writers late
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      with_default(registry_, [i] {
        if (i % 2 == 0) set_thread_name("short " + std::to_string(i));
        TRACE_SPAN(info, "work", i);
        TRACE_INFO("event", i);
      });
    }).join();
  }
  std::map<std::uint64_t, int> of_track;
  int events = 0;
  auto const recording = read();
  recording->for_each([&](recording::Entry const& entry) {
    if (entry.type == recording::EntryType::scope_end) return;
    auto const i = static_cast<int>(
        FieldValues(*entry.metadata, entry.values).value(entry.type == recording::EntryType::event ? 1 : 0).as_i64());
    EXPECT_EQ(of_track.emplace(entry.track, i).first->second, i);
    EXPECT_EQ(entry.writer, entry.track);
    EXPECT_EQ(entry.track_name, i % 2 == 0 ? "short " + std::to_string(i) : "");
    events += entry.type == recording::EntryType::event;
  });
  EXPECT_EQ(events, kThreads);
  EXPECT_EQ(of_track.size(), std::size_t{kThreads});
  EXPECT_EQ(recording->threads().size(), std::size_t{kThreads});
  EXPECT_EQ(recording->lost().count, 0u);
  EXPECT_THAT(recording->problems(), IsEmpty());
  for (tracing::recording::TrackSummary const& track : recording->tracks()) EXPECT_THAT(track.open, IsEmpty());
}

TEST_F(RecordLayerTest, ThreadsThatShareAChunkShareNoSpans) {
  record([this] {
    auto const held = TRACE_MAKE_SPAN(info, "held");
    for (int i = 0; i < 2; ++i) {
      std::thread([&] {
        with_default(registry_, [&] {
          TRACE_INFO("outside");
          internal::enter(held.open());  // is in the span when it ends
          TRACE_INFO("inside");
        });
      }).join();
    }
    std::thread([&] { with_default(registry_, [] { TRACE_INFO("outside"); }); }).join();
  });
  auto const recording = read();
  std::map<std::uint64_t, std::vector<std::string>> of_track;
  recording->for_each([&](recording::Entry const& entry) {
    if (entry.type == recording::EntryType::event)
      of_track[entry.track].push_back(text_of(entry) + (entry.span == 0 ? "" : " in a span"));
  });
  ASSERT_EQ(of_track.size(), 3u);
  for (auto const& [track, events] : of_track) {
    EXPECT_EQ(events.front(), "event outside{}");
    if (events.size() > 1) {
      EXPECT_EQ(events.back(), "event inside{} in a span");
    }
  }
  EXPECT_THAT(recording->problems(), IsEmpty());
}

TEST_F(RecordLayerTest, RecordsTheTag) {
  record([this] {
    TRACE_INFO("before");
    store_->set_tag(5);
    TRACE_INFO("after");
  });
  std::vector<std::uint32_t> tags;
  read()->for_each([&](recording::Entry const& entry) { tags.push_back(entry.tag); });
  EXPECT_THAT(tags, ElementsAre(0, 5));
}

// What is left of many records.
struct Rest {
  std::map<std::uint64_t, std::uint64_t> next;  // ordinal by track
  std::uint64_t records = 0, gaps = 0, unknown_spans = 0;

  explicit Rest(recording::Recording& recording) {
    std::map<std::uint64_t, std::string> spans;
    std::uint64_t last_ticks = 0;
    recording.for_each([&](recording::Entry const& entry) {
      bool const begins = entry.type == recording::EntryType::state ||
                          entry.type == recording::EntryType::scope_begin ||
                          entry.type == recording::EntryType::new_span;
      if (begins) spans[entry.span] = text_of(entry);
      for (std::uint64_t const span : {entry.span, entry.parent, entry.cause})
        unknown_spans += span != 0 && !spans.contains(span);
      EXPECT_GE(entry.ticks, last_ticks);
      last_ticks = entry.ticks;
      if (entry.is_restated()) return;
      ++records;
      auto const [found, is_first] = next.try_emplace(entry.writer, entry.ordinal);
      gaps += !is_first && found->second != entry.ordinal;
      found->second = entry.ordinal + 1;
    });
    EXPECT_THAT(recording.problems(), IsEmpty());
  }
};

TEST_F(RecordLayerTest, LastRecordsOfALongRunKnowTheirSpans) {
  record([] {
    TRACE_SPAN(info, "outer", kv("name", "first"));
    for (int i = 0; i < 200'000; ++i) {
      TRACE_SPAN(info, "inner", i);
      TRACE_INFO("step", i);
    }
  });
  auto const recording = read();
  Rest const rest(*recording);
  EXPECT_EQ(rest.unknown_spans, 0u);
  EXPECT_EQ(rest.gaps, 0u);
  EXPECT_GT(rest.records, (1u << 20) / 32 / 2);
  EXPECT_EQ(recording->dropped(), 0u);
  ASSERT_EQ(recording->tracks().size(), 1u);
  EXPECT_EQ(recording->tracks()[0].lost + rest.records, 2 + 3 * 200'000u);
}

TEST_F(RecordLayerTest, LastRecordsOfALongRunKnowNumbersAndBeginningsOfTextsOfTheirSpans) {
  std::string const text(3000, 'x');
  record([&text] {
    TRACE_SPAN(info, "outer", kv("a", text), kv("b", text), kv("c", text), kv("d", text), kv("e", text), kv("f", text),
               kv("g", text), kv("h", text), kv("i", text), kv("j", text), kv("k", text), kv("l", text), kv("n", 7));
    TRACE_SPAN(info, "inner", text, kv("id", 42));
    for (int i = 0; i < 100'000; ++i) TRACE_INFO("step", i);
    TRACE_INFO("long", kv("a", std::string(10'000, 'x')), kv("b", std::string(10'000, 'x')), kv("end", true));
  });
  std::vector<std::string> const all = texts();
  std::vector<std::string> states;
  std::ranges::copy_if(all, std::back_inserter(states), is_state);
  ASSERT_GE(states.size(), 2u);
  EXPECT_THAT(states[0],
              testing::AllOf(HasSubstr("a=\"xxxx"), HasSubstr("l=\"" + std::string(40, 'x')), HasSubstr(" n=7}")));
  std::string const cut = std::string(40, 'x') + "... (3000 bytes)\" id=42}";
  EXPECT_THAT(states[1], testing::AllOf(testing::StartsWith("state inner{text=\"x"), HasSubstr(cut)));
  EXPECT_EQ(store_->region().header().dropped.load(), 0u);
}

TEST_F(RecordLayerTest, CutsARecordThatFindsNoRoomBehindTheSpansAroundIt) {
  std::string const text(10'000, 'x');
  record([&text] {
    std::vector<EnteredSpan> entered;
    for (int i = 0; i < 60; ++i) entered.push_back(TRACE_MAKE_SPAN(info, "level", i, text).entered());
    TRACE_INFO("long", kv("a", text), kv("b", text), kv("c", text), kv("last", 7));
    while (!entered.empty()) entered.pop_back();
  });
  EXPECT_THAT(texts(), testing::Contains(HasSubstr("last=7}")));
  EXPECT_EQ(store_->region().header().dropped.load(), 0u);
}

TEST_F(RecordLayerTest, LastRecordsOfALongRunKnowTheSpansThatTheyName) {
  record([] {
    auto const a = TRACE_MAKE_SPAN(info, "a");
    auto const b = TRACE_MAKE_SPAN(info, "b", kv("n", empty));
    for (int i = 0; i < 20'000; ++i) {
      TRACE_INFO("step", parent(a));
      b.record(kv("n", i));
      b.in_scope([] { TRACE_INFO("inside"); });
      auto const child = TRACE_MAKE_SPAN(info, "child", parent(a));
      child.follows_from(b);
    }
  });
  // Each piece of the ring, since any of them may be what is left.
  for (std::uint32_t first = 0; first < store_->region().chunk_count(); ++first) {
    std::uint64_t const from = store_->region().head(first).first_ticks;
    Rest const rest(*recording::read_region(store_->region(), from));
    EXPECT_EQ(rest.unknown_spans, 0u) << first;
  }
}

TEST_F(RecordLayerTest, ManyThreadsLoseOnlyTheirOldestRecords) {
  std::vector<std::thread> threads;
  std::latch all_started(8), all_ended(8);  // the chunks of a thread that ended are soon given away
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([this, thread, &all_started, &all_ended] {
      all_started.arrive_and_wait();
      with_default(registry_, [&] {
        TRACE_SPAN(info, "thread", thread);
        for (int i = 0; i < 20'000; ++i)
          TRACE_INFO("step", i, kv("text", std::string_view("abcdefghij").substr(0, static_cast<std::size_t>(i % 11))));
      });
      all_ended.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto const recording = read();
  Rest const rest(*recording);
  EXPECT_EQ(rest.next.size(), 8u);
  for (auto const& [track, next] : rest.next) EXPECT_EQ(next, 20'002u) << track;
  EXPECT_EQ(rest.unknown_spans, 0u);
}

TEST_F(RecordLayerTest, DescribesCallsitesMadeAtRunTimeWhereTheyAreUsed) {
  record([] {
    for (int i = 0; i < 20'000; ++i) {
      std::string const name = "span " + std::to_string(i);
      RuntimeCallsite const callsite({.kind = Kind::span, .name = name});
      Span const span = Span::make(callsite.callsite(), nullptr);
    }
  });
  auto const recording = read();
  std::string last;
  recording->for_each([&](recording::Entry const& entry) { last = text_of(entry); });
  EXPECT_EQ(last, "close span 19999");
  EXPECT_THAT(recording->problems(), IsEmpty());
}

TEST_F(RecordLayerTest, FileHasWhatTheRegionHas) {
  tracing_test::TemporaryFolder const folder;
  std::error_code error;
  auto const store = std::make_shared<RecordStore>(Region::make_file(folder / "a.rec", 1 << 20, error));
  ASSERT_FALSE(error) << error.message();
  auto const registry = RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build();
  with_default(registry, [] {
    TRACE_SPAN(info, "outer");
    for (int i = 0; i < 1000; ++i) TRACE_INFO("step", i);
  });
  std::string problem;
  auto const file = recording::Recording::read_file(folder / "a.rec", problem);
  ASSERT_NE(file, nullptr) << problem;
  EXPECT_EQ(texts_of(*file), texts_of(*recording::read_region(store->region())));
  EXPECT_EQ(file->process(), static_cast<std::uint64_t>(getpid()));
}

// Extending the file writes to it, which must not be a point at which the thread ends.
TEST_F(RecordLayerTest, LetsNoThreadBeCancelledWhileTheFileGrows) {
  tracing_test::TemporaryFolder const folder;
  auto [layer, error] = record_layer({.path = folder / "a.rec"});
  ASSERT_FALSE(error) << error.message();
  auto registry = RegistryBuilder().with(std::move(layer)).build();
  auto const record_and_end = [](void* context) -> void* {
    pthread_cancel(pthread_self());
    with_default(*static_cast<std::shared_ptr<Registry>*>(context), [] {
      std::string const text(10'000, 'x');
      for (int i = 0; i < 1000; ++i) TRACE_INFO("long", i, text);  // 10 MB
    });
    pthread_testcancel();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, record_and_end, &registry), 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  std::string problem;
  auto const recording = recording::Recording::read_file(folder / "a.rec", problem);
  ASSERT_NE(recording, nullptr) << problem;
  EXPECT_THAT(texts_of(*recording).back(), HasSubstr("i=999"));
}

TEST_F(RecordLayerTest, GivesAForkedChildARecordingOfItsOwn) {
  tracing_test::TemporaryFolder const folder;
  auto const start = [&folder](std::string_view file) {
    auto [layer, error] = record_layer({.path = folder / file});
    EXPECT_FALSE(error) << error.message();
    return RegistryBuilder().with(std::move(layer)).build();
  };
  with_default(start("parent.rec"), [&] {
    TRACE_SPAN(info, "parent");
    pid_t const child = fork();
    if (child == 0) {
      TRACE_INFO("nowhere");
      with_default(start("child.rec"), [] {
        TRACE_SPAN(info, "child");
        TRACE_INFO("inside");
      });
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  std::string problem;
  auto const parent = recording::Recording::read_file(folder / "parent.rec", problem),
             child = recording::Recording::read_file(folder / "child.rec", problem);
  ASSERT_TRUE(parent != nullptr && child != nullptr) << problem;
  EXPECT_THAT(texts_of(*parent), ElementsAre("begin parent{}", "end"));
  EXPECT_THAT(texts_of(*child), ElementsAre("begin child{}", "event inside{}", "end"));
  EXPECT_NE(parent->process(), child->process());
}

TEST_F(RecordLayerTest, MovesAForkedChildsRecordingToAFileThatItsParentReads) {
  constexpr std::size_t kPlace = std::size_t{1} << 30;
  static int descriptor;
  descriptor = memfd_create("child", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(descriptor, 2 * kPlace), 0);
  tracing_test::TemporaryFolder const folder;
  std::error_code error;
  for (bool const is_file : {false, true}) {
    auto const store = std::make_shared<RecordStore>(is_file ? Region::make_file(folder / "parent.rec", 1 << 20, error)
                                                             : Region::make_anonymous(1 << 20));
    store->set_in_child([](Region& region) noexcept { return region.move_to(descriptor, kPlace); });
    with_default(RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(), [] {
      TRACE_SPAN(info, "parent");
      TRACE_INFO("before");
      pid_t const child = fork();
      if (child == 0) {
        TRACE_INFO("inside");
        raise(SIGKILL);
      }
      waitpid(child, nullptr, 0);
      TRACE_INFO("after");
    });
    EXPECT_THAT(texts_of(*recording::read_region(store->region())),
                ElementsAre("begin parent{}", "event before{}", "event after{}", "end"));
    std::string problem;
    auto const moved = recording::read_part(descriptor, kPlace, kPlace, problem);
    ASSERT_NE(moved, nullptr) << problem;
    tracing::recording::Spans spans;
    std::vector<std::string> of_child;
    moved->for_each([&](recording::Entry const& entry) {
      spans.follow(entry);
      if (entry.is_context || entry.type != recording::EntryType::event) return;
      of_child.push_back(std::string(spans.current()->metadata->name()) + ": " + text_of(entry));
    });
    EXPECT_THAT(of_child, ElementsAre("parent: event inside{}")) << is_file;
    EXPECT_NE(moved->process(), static_cast<std::uint64_t>(getpid()));
  }
  close(descriptor);
}

TEST(Recording, SaysWhatIsWrongWithAFile) {
  tracing_test::TemporaryFolder const folder;
  auto const problem_of = [](std::string const& path) {
    std::string problem;
    EXPECT_EQ(recording::Recording::read_file(path, problem), nullptr);
    return problem;
  };
  EXPECT_EQ(problem_of(folder / "none"), "could not be opened: No such file or directory");
  EXPECT_EQ(problem_of(folder.write("killed", std::string(143'360, '\0'))),
            "has no beginning: its process was killed before it recorded anything, or it is no recording");
  EXPECT_EQ(problem_of(folder.write("short", "x")), "is no recording: it has fewer than 4096 bytes");
  EXPECT_EQ(problem_of(folder.write("other", std::string(5000, 'x'))), "is no recording: it begins with other bytes");
}

}}  // namespace tracing::internal
