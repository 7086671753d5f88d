// Tests that hang, each in its own way. The tests that run them end them by a signal.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <testlog/testlog.h>
#include <tracing_core/dispatch/thread_name.h>

#include "testlog/testdata/library.h"

namespace {

[[noreturn]] void hang() {
  while (true) pause();
}

std::mutex first, second;
std::atomic<int> taken{0};

void take(std::mutex& one, std::mutex& other, char const* name) {
  tracing::set_thread_name(name);
  TRACE_SPAN(info, "transfer", tracing::kv("from", name));
  std::lock_guard const holds(one);
  TRACE_DEBUG("took the first lock");
  ++taken;
  while (taken < 2) library::wait_ms(1);
  TRACE_SPAN(debug, "take_second");
  std::lock_guard const waits(other);
}
TEST(Hangs, InAMutex) {
  TRACE_SPAN(info, "deadlock");
  std::thread a([] { take(first, second, "worker-a"); });
  while (taken < 1) library::wait_ms(1);  // so that it has the lower number
  std::thread b([] { take(second, first, "worker-b"); });
  a.join();
  b.join();
}
TEST(Hangs, InAConditionVariable) {
  std::mutex mutex;
  std::condition_variable ready;
  TRACE_SPAN(info, "wait_for_result", tracing::kv("id", 7));
  std::unique_lock lock(mutex);
  ready.wait(lock, [] { return false; });
}
TEST(Hangs, AfterAMissedWakeUp) {
  std::mutex mutex;
  std::condition_variable done;
  std::thread([&done] {
    tracing::set_thread_name("worker");
    TRACE_SPAN(info, "job", tracing::kv("id", 3));
    done.notify_all();
    TRACE_DEBUG("told the waiting thread");
  }).join();
  TRACE_SPAN(info, "wait_for_job");
  std::unique_lock lock(mutex);
  done.wait(lock, [] { return false; });
}
// The second thread goes on in the chunk of the first one.
TEST(Hangs, AfterAThreadThatEnded) {
  std::thread([] {
    tracing::set_thread_name("first");
    TRACE_DEBUG("of the first");
  }).join();
  std::thread([] {
    tracing::set_thread_name("second");
    TRACE_DEBUG("of the second");
    hang();
  }).join();
}
TEST(Hangs, InALoop) {
  TRACE_SPAN(info, "search", tracing::kv("limit", 10));
  TRACE_INFO("started");
  std::atomic<bool> found{false};
  while (!found) {
  }
}
TEST(Hangs, WhileItRecords) {
  TRACE_SPAN(info, "retry");
  for (int i = 0;; ++i) {
    TRACE_SPAN(debug, "attempt", i);
    TRACE_DEBUG("failed", i);
  }
}
TEST(Hangs, InAForkedChild) {
  TRACE_SPAN(info, "wait_for_child");
  pid_t const child = fork();
  if (child == 0) {
    TRACE_SPAN(info, "in_child");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hang();
  }
  waitpid(child, nullptr, 0);
}
struct Endless {
  friend std::ostream& operator<<(std::ostream&, Endless const&) { hang(); }
};
TEST(Hangs, InAFormatter) {
  TRACE_SPAN(info, "print_result");
  TRACE_INFO("result {}", tracing::display(Endless{}));
}
void hang_below(int levels) {
  TRACE_SPAN(info, "level", levels);
  if (levels > 0) return hang_below(levels - 1);
  TRACE_DEBUG("bottom");
  for (bool volatile goes_on = true; goes_on;) pause();
}
TEST(Hangs, InDeepSpans) { hang_below(200); }
TEST(Hangs, AfterManyRecords) {
  auto const request = TRACE_MAKE_SPAN(info, "request", tracing::kv("id", 3));
  auto const entered = request.enter();
  for (int i = 0; i < 20'000; ++i) TRACE_DEBUG("step", i);
  hang();
}

// The thread that waits has recorded nothing; the other one is not to blame.
TEST(Hangs, InALockOfAWorker) {
  std::mutex mutex;
  std::atomic<bool> has_lock{false};
  std::thread worker([&] {
    std::lock_guard const lock(mutex);
    TRACE_SPAN(info, "download");
    TRACE_INFO("started");
    has_lock = true;
    hang();
  });
  while (!has_lock) library::wait_ms(1);
  std::lock_guard const lock(mutex);
  worker.detach();
}
[[gnu::noinline]] void spin() {
  for (bool volatile goes_on = true; goes_on;) {
  }
}
// Threads of a library that records nothing, one of which takes no signals.
TEST(Hangs, AmongThreadsThatRecordNothing) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(spin).detach();
  std::thread([] {
    pthread_setname_np(pthread_self(), "blocked");
    hang();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::thread(spin).detach();
  std::thread([] {
    pthread_setname_np(pthread_self(), "vforks");
    if (vfork() != 0) return;  // waits uninterruptibly until the child has ended
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sleep(60);
    _exit(0);
  }).detach();
  for (int i = 0; i < 100; ++i) std::thread(hang).detach();
  library::wait_ms(20);
  TRACE_SPAN(info, "joining");
  hang();
}
TEST(Hangs, AmongThreadsThatEnd) {
  TRACE_SPAN(info, "starting_threads");
  for (;;) {
    std::thread([] { TRACE_DEBUG("short"); }).join();
    std::thread([] {}).join();
  }
}
TEST(Hangs, WithAHandlerOfSigurg) {
  signal(SIGURG, [](int) {});
  hang();
}
// Reports interrupt neither.
TEST(Waits, ForAWhile) {
  std::thread worker([] { EXPECT_EQ(poll(nullptr, 0, 900), 0); });
  EXPECT_EQ(sleep(1), 0u);
  worker.join();
}

TEST(WaitsDeathTest, ForAWhile) { library::wait_ms(300); }

class HangsInSetUp : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    TRACE_SPAN(info, "connect", tracing::kv("port", 5432));
    hang();
  }
};
TEST_F(HangsInSetUp, OfItsSuite) {}

// A child that the test ends says nothing.
TEST(Hangs, InAChildThatIsEnded) {
  for (int const signal : {SIGUSR1, SIGTERM}) {
    pid_t const child = fork();
    if (child == 0) hang();
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WTERMSIG(status), signal);
  }
}

void say_and_exit(int) {
  std::fputs("own handler\n", stderr);
  std::_Exit(9);
}
class HangsWithHandlers : public testing::Test {
 protected:
  static void SetUpTestSuite() { signal(SIGUSR1, say_and_exit); }
};
TEST_F(HangsWithHandlers, OfItsOwn) {
  TRACE_INFO("started");
  hang();
}

[[maybe_unused]] bool const has_alarm = [] {
  char const* const seconds = std::getenv("SCENARIO_ALARM");
  if (seconds != nullptr) alarm(static_cast<unsigned>(std::atoi(seconds)));
  return true;
}();
[[maybe_unused]] bool const handler_set = [] {
  if (std::getenv("SCENARIO_OWN_SIGTERM") != nullptr) signal(SIGTERM, say_and_exit);
  return true;
}();
struct HangsAtExit {
  ~HangsAtExit() {
    if (std::getenv("SCENARIO_EXIT_HANG") == nullptr) return;
    TRACE_SPAN(info, "save_tables");
    hang();
  }
} hangs_at_exit;
[[maybe_unused]] bool const initialised = [] {
  if (std::getenv("SCENARIO_STATIC_HANG") == nullptr) return false;
  TRACE_SPAN(info, "load_tables");
  hang();
}();

}  // namespace
