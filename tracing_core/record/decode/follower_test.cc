// A recording that is read while threads write to it.
#include "tracing_core/record/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/record.h"
#include "tracing_core/tracing.h"

namespace tracing::recording { namespace {

using testing::IsEmpty;

class Followed : public testing::Test {
 protected:
  void start(std::size_t limit_bytes) {
    auto [layer, error] = record_layer({.path = folder_ / "a.rec", .limit_bytes = limit_bytes});
    ASSERT_FALSE(error) << error.message();
    registry_ = RegistryBuilder().with(std::move(layer)).build();
    std::string problem;
    follower_ = Follower::open(folder_ / "a.rec", problem);
    ASSERT_NE(follower_, nullptr) << problem;
  }
  // Checks that the new records of each track follow each other.
  std::size_t read(bool is_last = false) {
    auto const recording = follower_->read_new(is_last);
    if (recording == nullptr) return 0;
    std::size_t count = 0;
    recording->for_each([&](Entry const& entry) {
      if (entry.is_restated() || !follower_->is_new(entry)) return;
      ++count;
      std::uint64_t& next = next_[entry.chunk_track];
      EXPECT_GE(entry.ordinal, next) << "twice, or in the wrong order";
      missing_ += entry.ordinal - next;
      next = entry.ordinal + 1;
    });
    EXPECT_THAT(recording->problems(), IsEmpty());
    records_ += count;
    return count;
  }
  // `threads` that record together while it is read.
  void read_while(int threads, int spans) {
    std::atomic<int> running{threads};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        with_default(registry_, [&] {
          for (int n = 0; n < spans; ++n) {
            TRACE_SPAN(info, "step", n);
            TRACE_INFO("done", kv("text", "some text"));
          }
        });
        --running;
      });
    }
    while (running > 0) read();
    for (std::thread& thread : all) thread.join();
    read(/*is_last=*/true);
    EXPECT_EQ(read(/*is_last=*/true), 0u);
  }

  tracing_test::TemporaryFolder const folder_;
  std::shared_ptr<Registry> registry_;
  std::unique_ptr<Follower> follower_;
  std::map<std::uint64_t, std::uint64_t> next_;  // ordinal, by track
  std::uint64_t records_ = 0, missing_ = 0;
};

TEST_F(Followed, HasEachRecordOnceAndInOrder) {
  start(std::size_t{512} << 20);
  read_while(8, 20'000);
  EXPECT_EQ(records_, 8 * 3 * 20'000u);
  EXPECT_EQ(follower_->lost(), 0u);
  EXPECT_EQ(missing_, 0u);
}

TEST_F(Followed, CountsWhatIsOverwrittenBeforeItIsRead) {
  start(1);
  read_while(4, 100'000);
  EXPECT_EQ(follower_->lost(), missing_);
  EXPECT_LE(records_ + missing_, 4 * 3 * 100'000u);
  EXPECT_GT(missing_, 0u);
}

TEST_F(Followed, ReadsOnlyWhatIsNew) {
  start(1 << 20);
  EXPECT_EQ(follower_->read_new(false), nullptr);
  with_default(registry_, [this] {
    TRACE_SPAN(info, "outer");
    EXPECT_EQ(read(), 1u);
    EXPECT_EQ(follower_->read_new(false), nullptr);
    TRACE_INFO("inside");
    EXPECT_EQ(read(), 1u);
  });
  EXPECT_EQ(read(), 1u);
}

TEST_F(Followed, WaitsOnceForRecordsThatAreMissing) {
  start(1);
  with_default(registry_, [] {
    for (int i = 0; i < 100'000; ++i) TRACE_INFO("step", i);
  });
  EXPECT_EQ(read(), 0u);
  EXPECT_GT(read(), 1000u);
  EXPECT_EQ(records_ + follower_->lost(), 100'000u);
}

TEST(Follower, SaysWhatIsWrong) {
  std::string problem;
  EXPECT_EQ(Follower::open("/dev/null/none", problem), nullptr);
  EXPECT_EQ(problem, "could not be opened: Not a directory");
  EXPECT_EQ(Follower::open("/dev/null", problem), nullptr);
  EXPECT_EQ(problem, "is no recording: it has fewer than 4096 bytes");
}

}}  // namespace tracing::recording
