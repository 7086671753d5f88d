#include "tracing_core/support/process_stat.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace tracing::support { namespace {

TEST(ProcessStat, IsThatOfAProcess) {
  auto const own = stat_of_process(getpid());
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->parent, getppid());
  EXPECT_LE(own->start, clock_ticks_now());
  auto const parent = stat_of_process(getppid());
  ASSERT_TRUE(parent.has_value());
  EXPECT_LE(parent->start, own->start);
  EXPECT_FALSE(stat_of_process(-1).has_value());
}

TEST(ProcessStat, TakesNamesWithParentheses) {
  std::thread([] {
    prctl(PR_SET_NAME, "a) S 1 (b");
    auto const thread = stat_of_this_thread();
    ASSERT_TRUE(thread.has_value());
    EXPECT_STREQ(thread->name, "a) S 1 (b");
    EXPECT_EQ(thread->parent, getppid());
  }).join();
}

TEST(ProcessStat, OrdersThreadsByTheirBeginning) {
  std::uint64_t const before = clock_ticks_now();
  std::int64_t const last = last_started_task();
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * ns_per_clock_tick()));
  std::thread([before, last] {
    EXPECT_GT(stat_of_this_thread()->start, before);
    EXPECT_LE(stat_of_this_thread()->start, clock_ticks_now());
    if (last == 0) GTEST_SKIP() << "this system does not number tasks";
    EXPECT_NE(syscall(SYS_gettid), last);
    EXPECT_NE(last_started_task(), last);
  }).join();
}

}}  // namespace tracing::support
