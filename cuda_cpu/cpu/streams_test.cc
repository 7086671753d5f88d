#include "cuda_cpu/cpu/streams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace cuda_cpu::cpu { namespace {

class StreamsTest : public ::testing::Test {
 protected:
  // Calls run(), or submit_short() if `is_short`, on another thread. The work runs until finish() and sets `value` to
  // 1.
  void start_here(Streams::Handle const& stream, bool is_short) {
    caller_ = std::jthread([this, stream, is_short] {
      auto const work = [this] {
        is_started_ = true;
        is_started_.notify_all();
        may_end_.wait(false);
        value = 1;
      };
      is_short ? void(streams.submit_short(stream, work)) : streams.run(stream, work);
    });
    is_started_.wait(false);
  }
  // Returns when another stream has run work a hundred times: work of a stream that need not wait has run by then.
  static void give_time_to_other_streams() {
    auto const other = streams.create(false);
    for (int i = 0; i < 100; ++i) streams.wait({streams.submit(other, [] { std::this_thread::yield(); })});
    streams.close(other);
  }
  void finish() {
    may_end_ = true;
    may_end_.notify_all();
  }
  void reset() {
    caller_.join();
    is_started_ = may_end_ = false;
  }

  static Streams& streams;  // never destroyed, for its threads do not end
  int value = 0;            // not atomic: later work of the stream is ordered after the write

 private:
  std::atomic<bool> is_started_{false};
  std::atomic<bool> may_end_{false};
  std::jthread caller_;
};
Streams& StreamsTest::streams = *new Streams;

class WorkOfACaller : public StreamsTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, WorkOfACaller, ::testing::Bool(),
                         [](auto const& test) { return std::string(test.param ? "Short" : "Waiting"); });

TEST_P(WorkOfACaller, IsPendingForOtherThreads) {
  auto const stream = streams.create(false);
  start_here(stream, GetParam());
  EXPECT_FALSE(streams.are_done(streams.end_of(stream)));
  finish();
  streams.wait(streams.end_of(stream));
  EXPECT_EQ(value, 1);
  streams.close(stream);
}

TEST_P(WorkOfACaller, EndsBeforeTheNextWorkOfItsStreamStarts) {
  auto const stream = streams.create(false);
  start_here(stream, GetParam());
  int seen = -1;
  auto const end = streams.submit(stream, [&] { seen = value; });
  give_time_to_other_streams();
  EXPECT_FALSE(streams.are_done({end}));
  finish();
  streams.wait({end});
  EXPECT_EQ(seen, 1);
  streams.close(stream);
}

TEST_P(WorkOfACaller, IsFinishedOnAStreamThatIsClosedMeanwhile) {
  for (bool const has_thread : {false, true}) {
    auto const stream = streams.create(false);
    if (has_thread) streams.wait({streams.submit(stream, [] {})});
    start_here(stream, GetParam());
    streams.close(stream);
    give_time_to_other_streams();
    EXPECT_FALSE(streams.are_done(streams.end_of_all()));
    finish();
    streams.wait(streams.end_of_all());
    EXPECT_EQ(std::exchange(value, 0), 1);
    reset();
  }
}

TEST_F(StreamsTest, ABlockingStreamDoesNotIncludeWorkOfTheLegacyStream) {
  auto const stream = streams.create(true);
  streams.wait({streams.submit(stream, [] {})});
  start_here(streams.legacy(), false);
  EXPECT_TRUE(streams.are_done(streams.end_of(stream)));
  auto const end = streams.submit(stream, [] {});
  EXPECT_FALSE(streams.are_done(streams.end_of(stream))) << "waits for the legacy stream";
  finish();
  streams.wait({end});
  streams.close(stream);
}

TEST_F(StreamsTest, TheEndOfAStreamIncludesWhatItWaitsFor) {
  auto const first = streams.create(false);
  auto const second = streams.create(false);
  start_here(first, false);
  streams.wait_for(second, streams.end_of(first).back());
  EXPECT_FALSE(streams.are_done(streams.end_of(second)));
  finish();
  streams.wait(streams.end_of(second));
  EXPECT_EQ(value, 1);
  streams.close(first);
  streams.close(second);
}

}}  // namespace cuda_cpu::cpu
