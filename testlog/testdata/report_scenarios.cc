// Tests that fail, for the failure report.
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <testlog/testlog.h>
#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/tracing.h>

namespace {

void step(int i) {
  TRACE_SPAN(debug, "step", i);
  TRACE_TRACE("stepping");
  if (i % 200'000 == 70'000) TRACE_WARN("slow", i);
  if (i == 500'000) TRACE_ERROR("lost its way", i);
}

TEST(Report, OfTwoMillionEvents) {
  for (int i = 0; i < 2'000'000; ++i) {
    step(i);
    if (i == 1'900'000) ADD_FAILURE() << "at step " << i;
  }
}

// Runs `work(i)` on threads of its own that all live, one after another.
template <class Work>
void on_threads(int count, Work const& work) {
  std::atomic<int> turn{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&turn, &work, count, i] {
      tracing::set_thread_name("worker-" + std::to_string(i));
      for (int now = turn; now != i; now = turn) turn.wait(now);
      work(i);
      ++turn;
      turn.notify_all();
      for (int now = turn; now != count; now = turn) turn.wait(now);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Report, OfSixtyFourThreads) {
  on_threads(64, [](int i) {
    TRACE_SPAN(info, "shard", i);
    TRACE_DEBUG("loaded");
    if (i == 40) TRACE_WARN("empty");
  });
  ADD_FAILURE() << "a shard is missing";
}
TEST(Report, OfFailuresInThreeThreads) {
  on_threads(3, [](int i) {
    TRACE_SPAN(info, "shard", i);
    TRACE_DEBUG("loaded");
    EXPECT_EQ(i, 7);
    TRACE_DEBUG("unloaded");
  });
}

TEST(Report, OfAnErrorInHiddenSpans) {
  TRACE_SPAN(debug, "request", tracing::kv("id", 7));
  TRACE_SPAN(trace, "parse");
  TRACE_ERROR("no such key");
  ADD_FAILURE();
}
TEST(Report, OfManyFailures) {
  for (int i = 0; i < 3'000; ++i) {
    TRACE_DEBUG("checking", i);
    EXPECT_NE(i, i);
  }
}

class ReportOfSetUp : public testing::Test {
 protected:
  void SetUp() override {
    TRACE_SPAN(info, "SetUp");
    TRACE_DEBUG("connecting");
    ASSERT_TRUE(connected_) << "no server";
  }
  void TearDown() override { TRACE_DEBUG("disconnecting"); }

 private:
  bool connected_ = false;
};
TEST_F(ReportOfSetUp, Fails) { TRACE_DEBUG("never"); }

void leave() {
  TRACE_ERROR("in the child");
  std::_Exit(3);
}
TEST(ReportOfDeath, WhoseChildLives) {
  TRACE_DEBUG("before the child");
  EXPECT_EXIT(leave(), testing::ExitedWithCode(4), "");
  TRACE_DEBUG("after the child");
}

TEST(Report, OfAValueOfThreeMegabytes) {
  std::string const text(3 << 20, 'x');
  std::vector<unsigned char> const bytes(3 << 20, 1);
  std::runtime_error const error(text);
  TRACE_SPAN(info, "large", text);
  TRACE_SPAN(info, "others", bytes, error);
  TRACE_ERROR("failed with {}", text);
  TRACE_INFO("later");
  EXPECT_TRUE(text.empty());
}

TEST(Properties, OfItsOwn) {
  RecordProperty("trace_span_path", "mine");
  RecordProperty("trace_report", "mine");
  RecordProperty("trace_recording", "mine");
  TRACE_SPAN(info, "outer");
  TRACE_DEBUG("a record");
  ADD_FAILURE();
}

// Answers two requests on two threads, which take turns after each event.
TEST(Report, OfRequestsAtTheSameTime) {
  std::atomic<int> turn{0};
  auto const answer = [&turn](int i, char const* path) {
    tracing::set_thread_name("worker-" + std::to_string(i));
    auto const wait = [&turn, i] {
      for (int now = turn; now % 2 != i; now = turn) turn.wait(now);
    };
    auto const pass_turn = [&] { ++turn, turn.notify_all(), wait(); };
    wait();
    {
      TRACE_SPAN(info, "request", tracing::kv("method", "GET"), path, tracing::kv("remote", "127.0.0.1:40213"));
      TRACE_DEBUG("request line parsed");
      pass_turn();
      TRACE_SPAN(debug, "lookup", tracing::kv("item", 42 + i));
      TRACE_DEBUG("asks the cache");
      pass_turn();
      TRACE_DEBUG("found", tracing::kv("age_s", 300 * i));
      pass_turn();
      EXPECT_EQ(i, 0) << "the item is stale";
    }
    ++turn, turn.notify_all();
  };
  std::thread first(answer, 0, "/items/42/details?verbose=1"), second(answer, 1, "/items/43/details?verbose=1");
  first.join(), second.join();
}

}  // namespace
