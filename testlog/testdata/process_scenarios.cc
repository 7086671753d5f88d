// Tests about what the program sees of its own output, and about its threads and forked children.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <testlog/matchers.h>
#include <testlog/testlog.h>

#include "testlog/session.h"
#include "testlog/testdata/library.h"

namespace {

using library::speak;
using library::work;
using testing::Contains;
using testing::ElementsAre;
using testing::Eq;
using testing::IsEmpty;
using testlog::Event;
using testlog::HasField;
using testlog::HasMessage;
using testlog::Span;
using testlog::records;

void say(char const* text) { std::fputs(text, stderr); }

// ---- what the program sees of its own output ----

std::string captured(bool with_output) {
  testing::internal::CaptureStderr();
  work();
  if (with_output) say("said\n");
  work();
  return testing::internal::GetCapturedStderr();
}

class Streams : public testing::TestWithParam<char const*> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, GetParam()); }
};
TEST_P(Streams, CaptureStderrSeesOnlyTheProgramsOutput) {
  EXPECT_EQ(captured(true), "said\n");
  EXPECT_EQ(captured(false), "");
}
TEST_P(Streams, DeathSeesOnlyTheProgramsOutput) {
  work();
  EXPECT_DEATH((work(), say("dying\n"), work(), std::abort()), Eq("dying\n"));
  EXPECT_DEATH((work(), std::abort()), Eq(""));
}
TEST_P(Streams, ExitSeesOnlyTheProgramsOutput) {
  work();
  EXPECT_EXIT((work(), say("leaving\n"), work(), std::exit(3)), testing::ExitedWithCode(3), Eq("leaving\n"));
  EXPECT_EXIT((work(), std::_Exit(4)), testing::ExitedWithCode(4), Eq(""));
}
TEST_P(Streams, CapturesInTheChildToo) {
  work(6);
  EXPECT_EXIT(
      {
        work(7);
        bool const both = testing::Value(records(), Contains(Span("launch", HasField("count", 7))));
        std::_Exit(both ? 0 : 1);
      },
      testing::ExitedWithCode(0), Eq(""));
}
INSTANTIATE_TEST_SUITE_P(Both, Streams, testing::Values("fast", "threadsafe"));

TEST(Streams, NobodyReads) {
  signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < 10; ++i) work(i);
  EXPECT_EQ(1, 2);
}
TEST(Streams, DescriptorsAreNotInherited) {
  EXPECT_EQ(std::system("test -z \"$(ls /proc/self/fd | grep '^5[0-9][0-9]$')\""), 0);
}
// ---- processes and threads ----

// Sanitizers keep a list of threads under a lock of theirs, which a forked child may find taken for good, whoever's program
// it is; ThreadSanitizer ends such a child at once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kForkedChildrenStartThreads = false;
#elif defined(__has_feature)
constexpr bool kForkedChildrenStartThreads = !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer));
#else
constexpr bool kForkedChildrenStartThreads = true;
#endif

TEST(Processes, ForkGoesOn) {
  TRACE_SPAN(info, "parent");
  pid_t const child = fork();
  if (child == 0) {
    TRACE_INFO("in the child");
    std::_Exit(static_cast<int>(records().size()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  TRACE_INFO("in the parent");
}
TEST(Processes, GoesElsewhere) {
  ASSERT_EQ(chdir("/"), 0);
  work();
}
TEST(Processes, ForkWhileThreadsWrite) {
  std::atomic<bool> stop{false};
  std::thread writer([&stop] {
    while (!stop) work();
  });
  std::thread starter([&stop] {
    while (!stop) std::thread(speak).join();
  });
  int bad = 0;
  for (int i = 0; i < 100; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      alarm(20);
      work();
      if (kForkedChildrenStartThreads) std::thread(speak).join();
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  stop = true;
  writer.join();
  starter.join();
  EXPECT_EQ(bad, 0);
}

TEST(Processes, ForkWhileTheFilterChanges) {
  std::atomic<bool> stop{false};
  std::thread changer([&stop] {
    for (int i = 0; !stop; ++i) testlog::set_filter("target" + std::to_string(i % 50));
  });
  int bad = 0;
  for (int i = 0; i < 100; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      alarm(10);
      testlog::set_filter("off");
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bad += status != 0;
    if (bad != 0) break;
  }
  stop = true;
  changer.join();
  EXPECT_EQ(bad, 0);
}
TEST(Processes, ForkFindsTheLockFree) {
  testlog::Attribution& attribution = testlog::Session::get()->attribution();
  std::atomic<bool> locked{false};
  std::thread holder([&] {
    attribution.lock_for_fork();
    locked = true;
    library::wait_ms(100);
    attribution.unlock_after_fork();
  });
  while (!locked) library::wait_ms(1);
  pid_t const child = fork();
  if (child == 0) {
    alarm(5);
    if (kForkedChildrenStartThreads) {
      std::thread(speak).join();  // a new thread takes the lock at its first record
    } else {
      attribution.lock_for_fork();
    }
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  holder.join();
  EXPECT_EQ(status, 0);
}

TEST(Threads, ThereIsOnlyOne) {
  struct stat tasks {};
  ASSERT_EQ(stat("/proc/self/task", &tasks), 0);
  EXPECT_EQ(tasks.st_nlink, 3u);  // of one thread, and two of the folder's own
}
TEST(Threads, ManyWrite) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) writers.emplace_back([] { for (int n = 0; n < 50; ++n) work(n); });
  for (std::thread& writer : writers) writer.join();
}
TEST(Threads, HelpersBelongToTheTest) {
  std::thread([] { TRACE_WARN("from a helper"); }).join();
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("from a helper"))));
}
std::atomic<int> late_go{0};
TEST(Threads, LeavesAThreadBehind) {
  std::thread([] {
    while (late_go == 0) library::wait_ms(1);
    TRACE_WARN("late word");
    late_go = 2;
  }).detach();
}
TEST_LOG(Threads, NextIsNotBlamed, .fail_on = warn) {
  late_go = 1;
  while (late_go != 2) library::wait_ms(1);
  EXPECT_THAT(records(), IsEmpty());
}
std::atomic<int> pool_go{0};
void start_pool() {
  static bool const started = [] {
    std::thread([] {
      testlog::serve_all_tests();
      for (int done = 0;; library::wait_ms(1)) {
        if (pool_go == done) continue;
        done = pool_go;
        TRACE_INFO("from the pool", tracing::kv("job", done));
        pool_go = ++done;
      }
    }).detach();
    return true;
  }();
  (void)started;
}
void run_on_pool() {
  int const job = ++pool_go;
  while (pool_go == job) library::wait_ms(1);
}
TEST(Threads, PoolStarts) {
  start_pool();
  run_on_pool();
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("from the pool"))));
}
TEST(Threads, PoolServesTheNext) {
  start_pool();
  run_on_pool();
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("from the pool"))));
}

}  // namespace
