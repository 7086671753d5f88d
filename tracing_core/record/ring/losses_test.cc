// What is lost is known: how much of each tag, and until when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/tracing.h"

namespace tracing::internal { namespace {

class Losses : public testing::Test {
 protected:
  void say(std::uint32_t tag, int count) {
    store_->set_tag(tag);
    with_default(registry_, [count] {
      for (int i = 0; i < count; ++i) TRACE_INFO("step", i);
    });
  }
  // How many records of each tag are there.
  std::map<std::uint32_t, std::uint64_t> rest() const {
    std::map<std::uint32_t, std::uint64_t> counts;
    recording::read_region(store_->region())->for_each([&](recording::Entry const& entry) {
      if (!entry.is_restated()) ++counts[entry.tag];
    });
    return counts;
  }
  Region& region() const { return store_->region(); }

  std::shared_ptr<RecordStore> const store_ = std::make_shared<RecordStore>(Region::make_anonymous(Region::kMinBytes));
  std::shared_ptr<Registry> const registry_ = RegistryBuilder().with(std::make_unique<RecordLayer>(store_)).build();
};

TEST_F(Losses, AreCountedExactlyForEachTag) {
  for (std::uint32_t tag = 1; tag <= 40; ++tag) say(tag, static_cast<int>(tag) * 37);
  auto counts = rest();
  EXPECT_EQ(counts[1], 0u);
  for (std::uint32_t tag = 1; tag <= 40; ++tag) EXPECT_EQ(region().lost_of(tag) + counts[tag], tag * 37) << tag;
}

TEST_F(Losses, CountManyTagsInOneChunk) {
  for (std::uint32_t tag = 1; tag <= 400; ++tag) say(tag, 3);
  say(1440, 20'000);
  for (std::uint32_t tag = 1; tag <= 400; ++tag) EXPECT_EQ(region().lost_of(tag), 3u) << tag;
  EXPECT_EQ(region().lost_of(1440) + rest()[1440], 20'000u);
}

TEST_F(Losses, AreExactForSeveralThreads) {
  store_->set_tag(7);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([this] { say(7, 10'000); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(region().lost_of(7) + rest()[7], 40'000u);
}

TEST_F(Losses, CountRecordsThatFoundNoRoom) {
  store_->set_tag(7);
  with_default(registry_, [&] {
    RuntimeCallsite const callsite({.kind = Kind::span, .name = "span", .target = std::string(17'000, 'x')});
    Span const large = Span::make(callsite.callsite(), nullptr);
  });
  EXPECT_EQ(region().lost_of(7), 2u) << "its beginning and its end";
}

TEST_F(Losses, KnowUntilWhen) {
  say(1, 100);
  std::uint64_t const before = ticks_now();
  auto const until = [this] { return region().header().overwritten_until.load(); };
  EXPECT_EQ(until(), 0u);
  say(2, 100);
  std::uint64_t const after = ticks_now();
  say(3, 20'000);
  EXPECT_GT(until(), before);
  EXPECT_GT(until(), after);
  EXPECT_LT(until(), ticks_now());
}

TEST_F(Losses, DoNotChangeWhenASpanBeganAndWhetherItWasShown) {
  auto const registry = RegistryBuilder()
                            .with(std::make_unique<RecordLayer>(store_, LayerMask{1}))  // itself
                            .build();
  with_default(registry, [this] {
    store_->set_tag(5);
    TRACE_SPAN(info, "outer", kv("n", 1));
    store_->set_tag(6);
    for (int i = 0; i < 20'000; ++i) TRACE_INFO("step", i);
  });
  tracing::recording::Spans spans;
  std::uint64_t events = 0;
  recording::read_region(region())->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.type != recording::EntryType::event) return;
    ++events;
    ASSERT_NE(spans.current(), nullptr);
    EXPECT_EQ(spans.current()->tag, 5u);
    EXPECT_TRUE(spans.current()->shown);
  });
  EXPECT_GT(events, 1000u);
}

TEST_F(Losses, AreOfTheOldestRecordsAlsoWhenThreadsBeginAfterManyLaps) {
  say(1, 300'000);
  for (int i = 0; i < 3; ++i) std::thread([this] { say(1, 1); }).join();
  std::int64_t gap_after = -1, last = -1;
  recording::read_region(region())->for_each([&](recording::Entry const& entry) {
    if (entry.type != recording::EntryType::event || entry.values[0].as_i64() == 0) return;
    if (last > 0 && entry.values[0].as_i64() != last + 1) gap_after = last;
    last = entry.values[0].as_i64();
  });
  EXPECT_EQ(last, 299'999);
  EXPECT_LT(gap_after, 250'000) << "only that after the first records, which are spared";
}

TEST_F(Losses, AreNoneOfTheParentIfAForkedChildDestroysTheRegistry) {
  tracing_test::TemporaryFolder const folder;
  std::error_code error;
  auto const store = std::make_shared<RecordStore>(Region::make_file(folder / "a.rec", 1 << 20, error));
  ASSERT_FALSE(error) << error.message();
  auto registry = RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build();
  with_default(registry, [] { TRACE_INFO("before"); });
  pid_t const child = fork();
  if (child == 0) {
    registry.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::uint32_t owned = 0;
  for (std::uint32_t i = 0; i < store->region().chunk_count(); ++i) owned += store->region().head(i).owned;
  EXPECT_EQ(owned, 2u) << "one of the thread, one of callsites";
}

TEST_F(Losses, SpareTheOnlyWarningHoweverLongAgo) {
  say(1, 10);
  with_default(registry_, [] { TRACE_WARN("early"); });
  say(2, 2000);
  say(3, 400'000);  // some 30 laps
  bool found = false;
  recording::read_region(region())->for_each([&found](recording::Entry const& entry) {
    found |= entry.metadata != nullptr && entry.metadata->level() == Level::warn;
  });
  EXPECT_TRUE(found);
}

TEST_F(Losses, AreOfTheOldestWarningsIfTheyFillMoreThanAnEighth) {
  constexpr int kWarnings = 30;
  say(1, 2000);
  for (int i = 0; i < kWarnings; ++i) {
    with_default(registry_, [i] { TRACE_WARN("warning", i); });
    say(1, 20'000);  // two laps
  }
  std::vector<std::int64_t> left;
  recording::read_region(region())->for_each([&left](recording::Entry const& entry) {
    if (entry.metadata != nullptr && entry.metadata->level() == Level::warn) left.push_back(entry.values[0].as_i64());
  });
  EXPECT_THAT(left, testing::ElementsAre(kWarnings - 2, kWarnings - 1)) << "an eighth of 20 chunks";
}

TEST_F(Losses, SpareMarksOfHighImportance) {
  static MarkSite const site("failure", {"number"});
  auto const writer = std::make_unique<ChunkWriter>();
  for (int i = 0; i < 2; ++i) {
    Value const number = Value::of_i64(i);
    auto const describe = [](ChunkWriter& described) { described.describe_thread("test"); };
    writer->start(store_->parts(), kMarksTrack, getpid(), describe);
    writer->write({.type = RecordType::mark,
                   .metadata = &site.metadata(),
                   .values = &number,
                   .flags = static_cast<std::uint8_t>(Parent::Kind::root)},
                  describe);
    if (i == 0) writer->spare_chunk();
    writer->finish();
  }
  say(2, 50'000);
  std::vector<std::int64_t> left;
  recording::read_region(region())->for_each([&left](recording::Entry const& entry) {
    if (entry.type == recording::EntryType::mark) left.push_back(entry.values[0].as_i64());
  });
  EXPECT_THAT(left, testing::ElementsAre(0));
}

TEST_F(Losses, AreBoundedIfAllRecordsAreWarnings) {
  store_->set_tag(3);
  with_default(registry_, [] {
    for (int i = 0; i < 100'000; ++i) TRACE_WARN("step", i);
  });
  std::int64_t last = -1;
  recording::read_region(region())->for_each([&last](recording::Entry const& entry) {
    if (entry.type == recording::EntryType::event) last = entry.values[0].as_i64();
  });
  EXPECT_EQ(last, 99'999);
  EXPECT_EQ(region().lost_of(3) + rest()[3], 100'000u);
}

TEST_F(Losses, SpareTheFirstRecordsOfTheNewestTag) {
  say(1, 5);
  say(2, 200'000);
  auto const first_of = [this](std::uint32_t tag) {
    std::int64_t first = -1;
    recording::read_region(region())->for_each([&](recording::Entry const& entry) {
      if (entry.type == recording::EntryType::event && entry.tag == tag && first < 0) first = entry.values[0].as_i64();
    });
    return first;
  };
  EXPECT_EQ(first_of(2), 0);
  say(3, 200'000);
  EXPECT_EQ(first_of(3), 0);
  EXPECT_NE(first_of(2), 0);
}

void recurse(int depth, int events) {
  TRACE_SPAN(info, "level", depth);
  if (depth > 0) return recurse(depth - 1, events);
  for (int i = 0; i < events; ++i) TRACE_INFO("bottom", i);
}

TEST_F(Losses, AreNoneInADeepRecursionWithRoom) {
  store_->set_tag(1);
  with_default(registry_, [] { recurse(1000, 2000); });
  EXPECT_EQ(region().lost_of(1), 0u);
  tracing::recording::Spans spans;
  std::size_t deepest = 0;
  recording::read_region(region())->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.type != recording::EntryType::event) return;
    std::size_t depth = 0;
    for (tracing::recording::Span const* span = spans.current(); span != nullptr; span = span->parent.get()) ++depth;
    deepest = std::max(deepest, depth);
    EXPECT_EQ(depth, 1001u);
  });
  EXPECT_EQ(deepest, 1001u);
}

TEST_F(Losses, LeaveTheInnermostSpansOfADeepRecursion) {
  with_default(registry_, [] { recurse(1000, 20'000); });
  tracing::recording::Spans spans;
  auto const recording = recording::read_region(region());
  recording->for_each([&](recording::Entry const& entry) {
    spans.follow(entry);
    if (entry.type != recording::EntryType::event) return;
    std::size_t depth = 0;
    for (tracing::recording::Span const* span = spans.current(); span != nullptr; span = span->parent.get()) ++depth;
    EXPECT_GE(depth, 100u);
  });
  EXPECT_THAT(recording->problems(), testing::IsEmpty());
}

TEST_F(Losses, AreNoneIfAForkedChildRecordsIntoItsCopy) {
  say(1, 10);
  pid_t const child = fork();
  if (child == 0) {
    say(2, 10);
    auto counts = rest();
    _exit(counts[1] == 10 && counts[2] == 10 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rest()[2], 0u);
}

}}  // namespace tracing::internal
