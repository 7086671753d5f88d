#include "testlog/capture/thread_origins.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace testlog { namespace {

// Tests of 10 ms with as much between them: number n runs from tick 20n, after thread 100n, to tick 20n + 10, after
// thread 100n + 50.
std::unique_ptr<ThreadOrigins> after_tests(std::uint32_t count) {
  auto origins = std::make_unique<ThreadOrigins>();
  for (std::uint32_t test = 1; test <= count; ++test) {
    origins->begin_test(test, {20 * test, 100 * test});
    origins->end_test({20 * test + 10, 100 * test + 50});
  }
  return origins;
}

TEST(ThreadOrigins, AreTestsByTheClock) {
  auto const origins = after_tests(3);
  EXPECT_EQ(origins->test_at({19, 7}), 0U);
  EXPECT_EQ(origins->test_at({25, 7}), 1U);
  EXPECT_EQ(origins->test_at({35, 7}), 0U);
  EXPECT_EQ(origins->test_at({65, 7}), 3U);
  EXPECT_EQ(origins->test_at({75, 7}), 0U);
  origins->begin_test(4, {80, 400});
  EXPECT_EQ(origins->test_at({85, 7}), 4U);
}

TEST(ThreadOrigins, AreTestsByTheNumbersOfThreadsWithinATick) {
  ThreadOrigins origins;
  for (std::uint32_t test = 1; test <= 3; ++test) {
    origins.begin_test(test, {7, 100 * test});
    origins.end_test({7, 100 * test + 50});
  }
  EXPECT_EQ(origins.test_at({7, 100}), 0U);
  EXPECT_EQ(origins.test_at({7, 101}), 1U);
  EXPECT_EQ(origins.test_at({7, 150}), 1U);
  EXPECT_EQ(origins.test_at({7, 151}), 0U);
  EXPECT_EQ(origins.test_at({7, 250}), 2U);
  EXPECT_EQ(origins.test_at({7, 351}), 0U);
}

TEST(ThreadOrigins, AreRightWhereTheNumbersBeginAgain) {
  ThreadOrigins origins;
  origins.begin_test(1, {7, 32760});
  origins.end_test({7, 310});
  origins.begin_test(2, {7, 312});
  EXPECT_EQ(origins.test_at({7, 32759}), 0U);
  EXPECT_EQ(origins.test_at({7, 32761}), 1U);
  EXPECT_EQ(origins.test_at({7, 305}), 1U);
  EXPECT_EQ(origins.test_at({7, 312}), 0U);
  EXPECT_EQ(origins.test_at({7, 313}), 2U);
}

TEST(ThreadOrigins, TakeTheLastTestOfTheTickIfTheNumberIsUnknown) {
  ThreadOrigins origins;
  origins.begin_test(1, {7, 0});
  origins.end_test({7, 0});
  origins.begin_test(2, {7, 0});
  EXPECT_EQ(origins.test_at({7, 123}), 2U);
  EXPECT_EQ(origins.test_at({6, 123}), 0U);
}

TEST(ThreadOrigins, BeforeThoseThatAreKnownAreThatOfAnEarlierTest) {
  auto const origins = after_tests(1000);
  EXPECT_EQ(origins->test_at({20 * 900 + 5, 7}), 900U);
  EXPECT_EQ(origins->test_at({20 * 100 + 5, 7}), 744U);
}

TEST(ThreadOrigins, AreKnownOfThisSystem) {
  ThreadOrigins origins;
  auto const created_in = [&origins] {
    std::uint32_t test = 0;
    std::thread([&] { test = origins.test_at(*ThreadOrigins::of_this_thread()); }).join();
    return test;
  };
  if (ThreadOrigins::now().thread == 0 || !ThreadOrigins::of_this_thread()) GTEST_SKIP() << "the system does not say";
  for (std::uint32_t test = 1; test <= 20; ++test) {
    origins.begin_test(test, ThreadOrigins::now());
    EXPECT_EQ(created_in(), test);
    origins.end_test(ThreadOrigins::now());
    EXPECT_EQ(created_in(), 0U);
  }
}

}}  // namespace testlog
