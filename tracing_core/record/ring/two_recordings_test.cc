// A registry with a recording of its own and that of a profile, whose memory is used again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/targets.h"
#include "tracing_core/record/decode/recording_state.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/record/spans.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace tracing::internal { namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TwoRecordings : public testing::Test {
 protected:
  static std::shared_ptr<RecordStore> make_store(std::size_t limit, std::size_t max_limit = 0) {
    return std::make_shared<RecordStore>(Region::make_anonymous(limit, max_limit));
  }
  void attach(LevelFilter level = LevelFilter::trace) {
    start_ = ticks_now();
    ASSERT_TRUE(registry_->attach(layer_, std::make_unique<Targets>(Targets().with_default(level))));
  }
  // The events with the span that they are in.
  static std::vector<std::string> events_of(recording::Recording& recording) {
    std::vector<std::string> events;
    tracing::recording::Spans spans;
    recording.for_each([&](recording::Entry const& entry) {
      spans.follow(entry);
      if (entry.type != recording::EntryType::event || entry.is_context) return;
      std::string path;
      for (tracing::recording::Span const* span = spans.current(); span != nullptr; span = span->parent.get())
        path = std::string(span->metadata->name()) + " > " + path;
      events.push_back(path + std::to_string(entry.values[0].as_u64()));
    });
    EXPECT_THAT(recording.problems(), IsEmpty());
    return events;
  }
  std::vector<std::string> own() const { return events_of(*recording::read_region(own_->region())); }
  std::vector<std::string> profile() const {
    auto const recording = recording::read_region(profile_->region(), start_);
    recording->start_at(start_);
    return events_of(*recording);
  }

  std::shared_ptr<RecordStore> const own_ = make_store(1 << 20);
  std::shared_ptr<RecordStore> const profile_ = make_store(Region::kMinBytes, 1 << 23);
  std::shared_ptr<RecordLayer> const layer_ = std::make_shared<RecordLayer>(profile_, 0, SpanKeyPlace::profile);
  std::shared_ptr<Registry> const registry_ = RegistryBuilder().with(std::make_unique<RecordLayer>(own_)).build();
  ScopedDefault const scope_{registry_};
  std::uint64_t start_ = 0;
};

TEST_F(TwoRecordings, KnowTheirSpansApart) {
  TRACE_SPAN(info, "outer");
  { TRACE_SPAN(info, "before"); }
  attach(LevelFilter::info);
  {
    Span const held = TRACE_MAKE_SPAN(info, "held");
    TRACE_SPAN(debug, "detail");
    TRACE_SPAN(info, "inner");
    TRACE_VALUES(info, kv("n", 1));
    TRACE_VALUES(info, kv("n", 2), parent(held));
  }
  registry_->detach();
  TRACE_VALUES(info, kv("n", 3));
  EXPECT_THAT(own(), ElementsAre("outer > detail > inner > 1", "outer > held > 2", "outer > 3"));
  EXPECT_THAT(profile(), ElementsAre("inner > 1", "held > 2"));
}

TEST_F(TwoRecordings, BeginWithTheLatestProfile) {
  attach();
  { TRACE_VALUES(info, kv("n", 1)); }
  registry_->detach();
  TRACE_VALUES(info, kv("n", 2));
  attach();
  { TRACE_VALUES(info, kv("n", 3)); }
  EXPECT_THAT(profile(), ElementsAre("3"));
  auto const recording = recording::read_region(profile_->region(), start_);
  EXPECT_LT(recording->start(), Instant::now());
  Instant const began = recording->start();
  recording->start_at(start_);
  EXPECT_GT(recording->start(), began);
}

// A span that begins in one profile and ends between two of them is not around what the second one has.
TEST_F(TwoRecordings, LeaveSpansThatEndBetweenProfiles) {
  attach();
  {
    TRACE_SPAN(info, "first");
    registry_->detach();
  }
  attach();
  TRACE_SPAN(info, "second");
  TRACE_VALUES(info, kv("n", 1));
  EXPECT_THAT(profile(), ElementsAre("second > 1"));
}

TEST_F(TwoRecordings, CanBeReadBeforeTheirFirstRecord) {
  auto const region = Region::make_anonymous(Region::kMinBytes);
  auto const recording = recording::read_region(*region);
  ASSERT_NE(recording, nullptr);
  EXPECT_THAT(events_of(*recording), IsEmpty());
}

TEST_F(TwoRecordings, GiveMemoryBackThatIsNotInUse) {
  for (std::uint32_t round = 1; round <= 3; ++round) {
    profile_->set_tag(round);
    attach();
    for (int i = 0; i < 100'000; ++i) TRACE_VALUES(info, kv("n", i));
    registry_->detach();
    std::size_t const kept = profile().size();
    EXPECT_GT(kept, 5'000u);
    EXPECT_EQ(kept + profile_->region().lost_of(round), 100'000u);
    profile_->region().discard();
    EXPECT_LT(profile().size(), 2'000u);  // what is in the thread's own chunks
  }
}

TEST_F(TwoRecordings, CanKeepMoreThanAtFirst) {
  profile_->region().set_limit(1 << 23);
  profile_->set_tag(1);
  attach();
  for (int i = 0; i < 100'000; ++i) TRACE_VALUES(info, kv("n", i));
  EXPECT_EQ(profile().size(), 100'000u);
  EXPECT_EQ(profile_->region().lost_of(1), 0u);
  registry_->detach();
  profile_->region().discard();
  profile_->region().set_limit(Region::kMinBytes);
  profile_->set_tag(2);
  attach();
  for (int i = 0; i < 100'000; ++i) TRACE_VALUES(info, kv("n", i));
  EXPECT_LT(profile().size(), 30'000u);
  EXPECT_GT(profile_->region().lost_of(2), 50'000u);
}

}}  // namespace tracing::internal
