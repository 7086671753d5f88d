// A reader that leaves out pieces of a recording prints the same lines as a reader of everything.
#include "tracing_core/record/piece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/record/decode/recording_bytes.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

using namespace internal;

constexpr auto has_warning = [](Piece const& piece) {
  return piece.has_callsite([](Metadata const& one) { return !one.is_span() && one.level() == Level::warn; });
};
constexpr auto is_warning = [](Entry const& entry) {
  return entry.metadata != nullptr && entry.metadata->level() == Level::warn;
};

class Narrowed : public testing::Test {
 protected:
  static constexpr int kRequests = 3000;  // of some chunks

  void record(std::function<void()> const& f, std::size_t bytes = 8 << 20) {
    store_ = std::make_shared<RecordStore>(Region::make_anonymous(bytes));
    registry_ = RegistryBuilder().with(std::make_unique<RecordLayer>(store_)).build();
    with_default(registry_, f);
    recording_ = read_region(store_->region());
  }
  static void make_requests(int count = kRequests) {
    for (int id = 0; id < count; ++id) {
      TRACE_SPAN(info, "request", id);
      TRACE_INFO("received {}", id);
    }
  }
  // The lines of the events for which `select` returns true.
  std::string lines(std::function<bool(Entry const&)> const& select) {
    std::string text;
    auto sink = make_sink([&text](Level, std::string_view line) { text += line; });
    FormatOptions format;
    format.timer = make_timer([](TextBuffer& out, Instant time) {
      out.append_int(time.ns);
      return true;
    });
    auto const to = RegistryBuilder().with(print_layer({.format = format, .writer = to_sink(std::move(sink))})).build();
    visited_ = 0;
    replay(*recording_, *to, [&](Entry const& entry) {
      ++visited_;
      return select(entry);
    });
    EXPECT_THAT(recording_->problems(), testing::IsEmpty());
    return text;
  }
  // Expects that narrowing changes neither the selected lines nor what is said about tracks and losses, and that it
  // leaves out at least half of the entries.
  void expect_same(std::function<bool(Piece const&)> const& is_wanted,
                   std::function<bool(Entry const&)> const& select) {
    recording_->widen();
    std::string const all = lines(select);
    std::size_t const visited = visited_;
    Losses const lost = recording_->lost();
    std::vector<TrackSummary> const tracks = recording_->tracks();
    EXPECT_TRUE(recording_->narrow(is_wanted));
    EXPECT_EQ(lines(select), all);
    EXPECT_NE(all, "");
    EXPECT_LT(visited_, visited / 2);
    EXPECT_EQ(recording_->lost().count, lost.count);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      EXPECT_EQ(recording_->tracks()[i].open, tracks[i].open) << i;
      EXPECT_EQ(recording_->tracks()[i].thread.name, tracks[i].thread.name) << i;
    }
  }
  // The middle tenth of the recording.
  void expect_same_in_period() {
    std::vector<Instant> times;
    recording_->widen();
    recording_->for_each([&times](Entry const& entry) { times.push_back(entry.time); });
    Instant const begin = times[times.size() / 2], end = times[times.size() * 6 / 10];
    expect_same([=](Piece const& piece) { return begin <= piece.last() && piece.first() <= end; },
                [=](Entry const& entry) { return begin <= entry.time && entry.time <= end; });
  }

  std::shared_ptr<RecordStore> store_;
  std::shared_ptr<Registry> registry_;
  std::unique_ptr<Recording> recording_;
  std::size_t visited_ = 0;
};

TEST_F(Narrowed, HasTheSpansOfAPeriodWithTheirValues) {
  record([] {
    TRACE_SPAN(info, "outer", kv("text", "a value"), kv("number", 7));
    make_requests();
  });
  expect_same_in_period();
}

TEST_F(Narrowed, HasAllOfATextThatTheWriterCutsInDescriptions) {
  std::string const text(3000, 'x');
  record([&text] {
    TRACE_SPAN(info, "outer", kv("text", text.c_str()));
    make_requests();
  });
  EXPECT_FALSE(recording_->narrow([](Piece const&) { return false; })) << "each chunk needs the chunk before";
  EXPECT_THAT(lines([](Entry const&) { return true; }), testing::HasSubstr(text));
}

TEST_F(Narrowed, HasThePeriodOfTwoThreads) {
  record([this] {
    std::thread other([this] {
      ScopedDefault const use(registry_);
      TRACE_SPAN(info, "work");
      make_requests();
    });
    TRACE_SPAN(info, "outer");
    make_requests();
    other.join();
  });
  expect_same_in_period();
}

TEST_F(Narrowed, HasTheRecordsOfAThread) {
  record([this] {
    make_requests();
    std::thread([&] {
      ScopedDefault const use(registry_);
      set_thread_name("a thread of its own");
      TRACE_SPAN(info, "work");
      make_requests(kRequests / 3);
    }).join();
  });
  expect_same(
      [](Piece const& piece) {
        return piece.has_thread([](Thread const& one) { return one.name == "a thread of its own"; });
      },
      [](Entry const& entry) { return entry.track_name == "a thread of its own"; });
}

TEST_F(Narrowed, HasTheRecordsOfATest) {
  record([this] {
    make_requests();
    store_->set_tag(7);
    make_requests(50);
    store_->set_tag(8);
    make_requests();
  });
  expect_same([](Piece const& piece) { return piece.has_tag([](std::uint32_t tag) { return tag == 7; }); },
              [](Entry const& entry) { return entry.tag == 7; });
}

TEST_F(Narrowed, HasTheEventsOfACallsite) {
  record([] {
    make_requests();
    TRACE_WARN("slow");
    make_requests();
  });
  expect_same(has_warning, is_warning);
}

TEST_F(Narrowed, HasTheSpansWithAValue) {
  record([] { make_requests(); });
  std::uint64_t wanted = 0;
  auto const has_value = [](FieldValues const& values) {
    return values.size() > 0 && values.value(0).kind() == ValueKind::i64 && values.value(0).as_i64() == 1000;
  };
  expect_same(
      [&](Piece const& piece) {
        return piece.has_span([](Metadata const& callsite) { return callsite.is_span(); }, has_value);
      },
      [&](Entry const& entry) {
        if (begins_span(entry.type) && has_value(entry.fields())) wanted = entry.span;
        return entry.span == wanted;
      });
}

TEST_F(Narrowed, CountsLossesAsBefore) {
  record([] { make_requests(10 * kRequests); }, 1 << 20);
  expect_same_in_period();
  EXPECT_GT(recording_->lost().count, 0u);
}

TEST_F(Narrowed, LeavesOutNothingIfASpanIsAHandle) {
  record([] {
    (void)TRACE_MAKE_SPAN(info, "handle");
    make_requests();
  });
  EXPECT_FALSE(recording_->narrow([](Piece const&) { return false; }));
}

TEST_F(Narrowed, LeavesOutNothingIfAnEventNamesItsParent) {
  record([] {
    TRACE_SPAN(info, "outer");
    TRACE_INFO("below", parent(Span::current()));
    make_requests();
  });
  EXPECT_FALSE(recording_->narrow([](Piece const&) { return false; }));
}

// The names of spans when they end, and the messages of warnings.
class Ends final : public Layer {
 public:
  explicit Ends(std::vector<std::string>& seen) : seen_(seen) {}
  void on_event(Event const& event, Context const&) noexcept override {
    if (event.metadata().level() == Level::warn)
      seen_.emplace_back(internal::message_literal(event.metadata().parts()));
  }
  void on_close(SpanRef span, Context const&) noexcept override {
    if (span.metadata().level() == Level::warn) seen_.emplace_back(span.metadata().name());
  }

 private:
  std::vector<std::string>& seen_;
};

TEST_F(Narrowed, EndsSpansWhenTheyEndInWhatIsLeftOut) {
  record([this] {
    TRACE_SPAN(warn, "whole");
    {
      TRACE_SPAN(warn, "outer");
      {
        TRACE_SPAN(warn, "inner");
        TRACE_WARN("first");
        make_requests();
      }
      make_requests();
      std::thread([this] {
        ScopedDefault const use(registry_);
        TRACE_WARN("between");
      }).join();
      make_requests();
    }
    std::thread([this] {
      ScopedDefault const use(registry_);
      TRACE_WARN("after");
    }).join();
    make_requests();
  });
  auto const ends = [this] {
    std::vector<std::string> seen;
    auto const to = RegistryBuilder().with(std::make_unique<Ends>(seen)).build();
    visited_ = 0;
    replay(*recording_, *to, [this](Entry const&) { return ++visited_ > 0; });
    return seen;
  };
  std::vector<std::string> const all = ends();
  std::size_t const visited = visited_;
  EXPECT_THAT(all, testing::ElementsAre("first", "inner", "between", "outer", "after", "whole"));
  ASSERT_TRUE(recording_->narrow(has_warning));
  EXPECT_EQ(ends(), all);
  EXPECT_LT(visited_, visited / 4);
}

// Visits four chunks of a track, of which the second and the third are left out. The second begins with an event of a
// callsite and then ends the span of the first.
std::vector<Entry> visited_around(std::uint32_t site) {
  using tracing_test::record;
  tracing_test::RecordingBytes file;
  std::string const event = record(EntryType::event, 1);
  file.add(0, tracing_test::SiteBytes{}.record(1));
  file.add(1, record(EntryType::scope_begin, 1) + event, 0);
  file.add(1, record(EntryType::event, site) + record(EntryType::scope_end, 0), 2);
  file.add(1, event, 4);
  file.add(1, event, 5);
  std::string error;
  auto const recording = Recording::read_bytes(file.bytes(), error);
  EXPECT_TRUE(recording->narrow([asked = 0](Piece const&) mutable { return ++asked == 3; })) << "the first is wanted";
  std::vector<Entry> entries;
  recording->for_each([&entries](Entry const& entry) { entries.push_back(entry); });
  return entries;
}

TEST(Piece, IsVisitedForTheEndOfASpan) {
  std::vector<Entry> const entries = visited_around(1);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[2].type, EntryType::scope_end);
  EXPECT_EQ(entries[2].span, entries[0].span);
  EXPECT_TRUE(entries[2].is_after_left_out);
  EXPECT_TRUE(entries[3].is_after_left_out);
}

TEST(Piece, MayLackTheEndOfASpanThatIsThenLost) {
  std::vector<Entry> const entries = visited_around(9);
  ASSERT_EQ(entries.size(), 3u) << "an event whose callsite is not described ends the chunk";
  EXPECT_EQ(entries[2].ordinal, 5u);
  EXPECT_FALSE(entries[2].is_after_left_out);
}

TEST(Piece, IsNeededIfRecordsBetweenOthersAreMissing) {
  tracing_test::RecordingBytes file;
  file.add(0, tracing_test::SiteBytes{}.record(1));
  for (std::uint64_t const first : {0, 1, 5, 6}) file.add(1, tracing_test::record(EntryType::event, 1), first);
  std::string error;
  auto const recording = Recording::read_bytes(file.bytes(), error);
  EXPECT_FALSE(recording->narrow([asked = 0](Piece const&) mutable { return ++asked == 4; }));
  EXPECT_TRUE(recording->narrow([](Piece const&) { return false; })) << "no span matters";
}

// Two chunks of a track with an event each. The first chunk begins with `bytes`.
std::unique_ptr<Recording> two_chunks(std::uint64_t track, std::string const& bytes) {
  tracing_test::RecordingBytes file;
  std::string const event = tracing_test::record(EntryType::event, 1);
  file.add(0, tracing_test::SiteBytes{}.record(1));
  file.add(track, bytes + event, 0);
  file.add(track, event, bytes.empty() ? 1 : 2);
  std::string error;
  return Recording::read_bytes(file.bytes(), error);
}

TEST(Piece, IsLeftOutIfNobodyWantsIt) {
  EXPECT_TRUE(two_chunks(1, "")->narrow([](Piece const&) { return false; }));
  EXPECT_FALSE(two_chunks(1, "")->narrow([](Piece const&) { return true; }));
}

TEST(Piece, IsNeededIfAnyTrackHasNoThread) {
  std::string const of_stream = tracing_test::record(EntryType::event, 1, kForeign, {1 << 26, 0});
  EXPECT_FALSE(two_chunks(1, of_stream)->narrow([](Piece const&) { return false; }));
}

TEST(Piece, IsNeededIfItIsDamaged) {
  EXPECT_FALSE(two_chunks(1, std::string(16, '\0'))->narrow([](Piece const&) { return false; }));
}

TEST(Piece, IsNeededIfItHasMarks) {
  std::string const mark = tracing_test::record(EntryType::mark, 1);
  EXPECT_FALSE(two_chunks(kMarksTrack, mark)->narrow([](Piece const&) { return false; }));
}

TEST(Piece, MayHaveAnyThreadUnlessItNamesOne) {
  int asked = 0;
  EXPECT_FALSE(two_chunks(1, "")->narrow([&asked](Piece const& piece) {
    ++asked;
    return piece.has_thread([](Thread const&) { return false; });
  }));
  EXPECT_GT(asked, 0);
}

// The second gap of the records is in front of the last piece.
TEST(Piece, MayHaveAnyCallsiteIfItHasVeryMany) {
  constexpr std::uint32_t kMany = 100;
  tracing_test::RecordingBytes file;
  std::string sites, events;
  for (std::uint32_t number = 1; number <= kMany; ++number) {
    sites += tracing_test::SiteBytes{}.record(number);
    events += tracing_test::record(EntryType::event, number);
  }
  std::string const event = tracing_test::record(EntryType::event, 1);
  file.add(0, sites);
  file.add(1, events, 0);
  file.add(1, event, 2 * kMany);
  file.add(1, event, 3 * kMany);
  std::string error;
  auto const recording = Recording::read_bytes(file.bytes(), error);
  EXPECT_FALSE(
      recording->narrow([](Piece const& piece) { return piece.has_callsite([](Metadata const&) { return false; }); }));
}

TEST(Piece, IsVisitedForItsMarksWhateverTheSpansAre) {
  tracing_test::RecordingBytes file;
  using tracing_test::record;
  file.add(0, tracing_test::SiteBytes{}.record(1));
  file.add(1, record(EntryType::new_span, 1, 0, {1}), 0);
  file.add(1, record(EntryType::event, 1), 1);
  file.add(kMarksTrack, record(EntryType::mark, 1), 0);
  file.add(kMarksTrack, record(EntryType::mark, 1), 1);
  std::string error;
  auto const recording = Recording::read_bytes(file.bytes(), error);
  std::vector<EntryType> types;
  for_each_mark(*recording, [&types](Entry const& entry) { types.push_back(entry.type); });
  EXPECT_THAT(types, testing::UnorderedElementsAre(EntryType::mark, EntryType::mark, EntryType::event));
  std::size_t entries = 0;
  recording->for_each([&entries](Entry const&) { ++entries; });
  EXPECT_EQ(entries, 4u) << "the recording is wide again";
}

TEST_F(Narrowed, KnowsTheCallsitesThatItLeavesOut) {
  record([] { make_requests(); });
  EXPECT_THAT(recording_->callsites_left_out(), testing::IsEmpty());
  ASSERT_TRUE(recording_->narrow([](Piece const&) { return false; }));
  std::vector<std::string_view> names;
  for (Metadata const* const callsite : recording_->callsites_left_out()) names.push_back(callsite->name());
  EXPECT_THAT(names, testing::UnorderedElementsAre("request", "event"));
}

}}  // namespace tracing::recording
