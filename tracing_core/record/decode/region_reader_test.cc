// A region that is read again and again has the entries of a region that is read once.
#include "tracing_core/record/decode/region_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Seen {
  std::uint64_t ticks, writer, ordinal, span, parent;
  EntryType type;
  std::string name;
  friend bool operator==(Seen const&, Seen const&) = default;
};

Seen seen(Entry const& entry) {
  return {entry.ticks,
          entry.writer,
          entry.ordinal,
          entry.span,
          entry.parent,
          entry.type,
          entry.metadata == nullptr ? "" : std::string(entry.metadata->name())};
}

class RegionReaderTest : public testing::Test {
 protected:
  explicit RegionReaderTest(std::size_t limit_bytes = 8 << 20)
      : store_(std::make_shared<internal::RecordStore>(internal::Region::make_anonymous(limit_bytes))),
        registry_(RegistryBuilder().with(std::make_unique<internal::RecordLayer>(store_)).build()) {}

  template <class F>
  void record(F f) {
    with_default(registry_, f);
  }
  template <class F>
  void record_on_thread(F f) {
    std::thread([&] { record(f); }).join();
  }
  // Appends what is new.
  bool visit(RegionReader& reader, std::vector<Seen>& all, std::uint64_t until = UINT64_MAX) {
    return reader.visit_new(until, [&](Entry const& entry) { all.push_back(seen(entry)); });
  }
  std::vector<Seen> at_once() {
    std::vector<Seen> all;
    read_region(store_->region())->for_each([&](Entry const& entry) { all.push_back(seen(entry)); });
    return all;
  }

  std::shared_ptr<internal::RecordStore> const store_;
  std::shared_ptr<Registry> const registry_;
};

void emit_spans(int count) {
  for (int i = 0; i < count; ++i) {
    TRACE_SPAN(info, "step", i);
    TRACE_INFO("done", kv("text", std::string(static_cast<std::size_t>(i % 60), 'x')));
  }
}

TEST_F(RegionReaderTest, VisitsEachEntryOnceAndInOrder) {
  RegionReader reader(store_->region(), 0);
  std::vector<Seen> all;
  EXPECT_TRUE(visit(reader, all));
  EXPECT_THAT(all, IsEmpty());
  record([&] {
    TRACE_SPAN(info, "outer");
    for (int i = 0; i < 40; ++i) {
      emit_spans(i * 7);  // from parts of a chunk to several chunks
      record_on_thread([&] { emit_spans(i); });
      ASSERT_TRUE(visit(reader, all));
      ASSERT_EQ(all, at_once()) << i;
    }
  });
  ASSERT_TRUE(visit(reader, all));
  EXPECT_EQ(all, at_once());
  std::size_t const count = all.size();
  ASSERT_TRUE(visit(reader, all));
  EXPECT_THAT(all, SizeIs(count));
}

TEST_F(RegionReaderTest, LeavesLaterEntriesForTheNextCall) {
  RegionReader reader(store_->region(), 0);
  std::vector<Seen> all;
  record([] { emit_spans(500); });
  std::vector<Seen> const expected = at_once();
  std::uint64_t const until = expected[700].ticks;
  ASSERT_TRUE(visit(reader, all, until));
  ASSERT_FALSE(all.empty());
  EXPECT_LE(all.back().ticks, until);
  EXPECT_LT(all.size(), expected.size());
  record([] { emit_spans(500); });  // the chunk with the entry that waits grows meanwhile
  ASSERT_TRUE(visit(reader, all));
  EXPECT_EQ(all, at_once());
}

// Each chunk describes such callsites of its own.
TEST_F(RegionReaderTest, KnowsRunTimeCallsitesThatAreDescribedLater) {
  RegionReader reader(store_->region(), 0);
  std::vector<Seen> all;
  for (int i = 0; i < 30; ++i) {
    RuntimeCallsite const callsite({.kind = Kind::span, .name = "made " + std::to_string(i)});
    record([&] { Span const span = Span::make(callsite.callsite(), nullptr); });
    ASSERT_TRUE(visit(reader, all));
  }
  EXPECT_EQ(all, at_once());
  ASSERT_THAT(all, SizeIs(2 * 30u));
  EXPECT_EQ(all.back().name, "made 29");
}

TEST_F(RegionReaderTest, DoesNotReadChunksThatEndedBefore) {
  record([] { emit_spans(20'000); });
  std::uint64_t const from = support::ticks_now();
  record([] { emit_spans(1); });
  RegionReader reader(store_->region(), from);
  std::vector<Seen> all;
  ASSERT_TRUE(visit(reader, all));
  EXPECT_LT(all.size(), 3000u) << "more than two chunks";
  std::vector<Seen> const expected = at_once();
  EXPECT_EQ(all.back(), expected.back());
  EXPECT_LT(all.size(), expected.size() / 10);
}

// As if the thread had been interrupted after it read the clock.
TEST_F(RegionReaderTest, ReportsAnEntryThatIsPublishedLate) {
  RegionReader reader(store_->region(), 0);
  std::vector<Seen> all;
  support::simulate_time(2'000'000'000);
  record([] { TRACE_INFO("first"); });
  ASSERT_TRUE(visit(reader, all));
  ASSERT_FALSE(all.empty());
  std::size_t const count = all.size();
  support::simulate_time(1'000'000'000);
  record_on_thread([] { TRACE_INFO("earlier"); });
  EXPECT_FALSE(visit(reader, all));
  EXPECT_THAT(all, SizeIs(count));
  support::simulate_time(0);
  RegionReader afresh(store_->region(), 0);
  all.clear();
  ASSERT_TRUE(visit(afresh, all));
  EXPECT_EQ(all, at_once());
}

class SmallRegion : public RegionReaderTest {
 protected:
  SmallRegion() : RegionReaderTest(internal::Region::kMinBytes) {}
};

// Of what is overwritten between two calls the reader has what it read before.
TEST_F(SmallRegion, HasNoEntryTwiceAfterChunksWereOverwritten) {
  RegionReader reader(store_->region(), 0);
  std::vector<Seen> all;
  for (int i = 0; i < 20; ++i) {
    record([&] { emit_spans(i % 3 == 0 ? 20'000 : 10); });
    ASSERT_TRUE(visit(reader, all));
  }
  std::uint64_t next = 0;
  for (Seen const& entry : all) {
    if (entry.type == EntryType::state) continue;
    ASSERT_GE(entry.ordinal, next);
    next = entry.ordinal + 1;
  }
  EXPECT_EQ(all.back(), at_once().back());
}

}}  // namespace tracing::recording
