// Tests of the program's own output, its threads and its forked children.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>
#include <testlog/matchers.h>
#include <testlog/perf.h>
#include <testlog/testlog.h>
#include <tracing_core/bridge/spdlog.h>
#include <tracing_core/dispatch/thread_name.h>
#include <tracing_core/setup.h>

#include "testlog/session.h"
#include "testlog/testdata/library.h"
#include "tests/support/sanitizers.h"

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
using testlog::records;
using testlog::Span;

void say(char const* text) { std::fputs(text, stderr); }

// ---- the program's own output ----

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

TEST(Streams, WriteToAClosedPipe) {
  signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < 10; ++i) work(i);
  EXPECT_EQ(1, 2);
}
// By bare system calls: ThreadSanitizer reports the functions as races with the threads that write.
TEST(Streams, DescriptorsAreReusedForFilesOfTheProgram) {
  char const* const path = std::getenv("SCENARIO_FILE");
  for (int i = 3; i < 256; ++i) syscall(SYS_close, i);
  for (int i = 3; i < 256; ++i) syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}
TEST(Streams, TracesAfterTheProgramReusedDescriptors) {
  TRACE_SPAN(info, "span");
  TRACE_PERF("perf");
  TRACE_INFO("event");
}
TEST(Streams, DescriptorsAreNotInherited) {
  EXPECT_EQ(std::system("test -z \"$(ls /proc/self/fd | grep '^5[0-9][0-9]$')\""), 0);
}
// ---- processes and threads ----

// Sanitizers have a lock around their list of threads that a forked child may find locked for good; ThreadSanitizer
// ends such a child at once.
#if TESTLOG_ASAN || TESTLOG_TSAN
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
TEST(Processes, StartsATestProgramThatFails) {
  std::string const program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_NE(std::system(("'" + program + "' --gtest_filter=Plain.Fails").c_str()), 0);
}
TEST(Processes, GoesElsewhere) {
  ASSERT_EQ(chdir("/"), 0);
  work();
}
// Each takes some of the locks of the libraries.
std::vector<std::function<void(int)>> lock_users() {
  auto const logger = std::make_shared<spdlog::logger>("fork", std::make_shared<spdlog::sinks::null_sink_st>());
  tracing::bridge::attach(logger);
  return {
      [](int n) { work(n); },
      [](int n) {
        auto const span = TRACE_MAKE_SPAN(info, "recording", tracing::kv("n", tracing::empty));
        span.record(tracing::kv("n", n));
      },
      [](int n) {
        TRACE_PERF("measured");
        TRACE_PERF_EVENT("event", n);
      },
      [](int n) { testlog::set_filter("off,target" + std::to_string(n % 50)); },
      [logger](int n) { logger->info("logged {}", n); },
      [](int) {
        std::size_t records = 0;
        testlog::Session::get()->capture().read(0)->for_each(
            [&records](tracing::recording::Entry const&) { ++records; });
      },
      [](int n) {
        using namespace tracing::internal;
        auto const store = std::make_shared<RecordStore>(Region::make_anonymous(Region::kMinBytes));
        tracing::with_default(tracing::RegistryBuilder().with(std::make_unique<RecordLayer>(store)).build(),
                              [n] { work(n); });
      },
      [](int) { testlog::perf_summary(); },
      [](int) { testlog::AllowEvents const allow(HasMessage("expected")); },
  };
}

// A data race, for ThreadSanitizer: of two threads, close to each other, with records before and after.
TEST(Races, OfTwoThreadsThatRecord) {
  static long shared_value = 0;
  std::atomic<int> started{0};
  auto const race = [&started](int thread) {
    started.fetch_add(1, std::memory_order_relaxed);
    while (started.load(std::memory_order_relaxed) < 2) {
    }
    for (int i = 0; i < 2000; ++i) {
      TRACE_SPAN(info, "step", i);
      TRACE_INFO("working", thread);
      if (i == 1000 + thread * 3) ++shared_value;
    }
  };
  std::thread other([&race] { race(1); });
  race(0);
  other.join();
}

TEST(Processes, ForkWhileThreadsUseEverything) {
#if TESTLOG_TSAN
  GTEST_SKIP() << "a forked child may find the allocator of ThreadSanitizer locked for good";
#endif
  auto const users = lock_users();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (auto const& use : users) {
    threads.emplace_back([&stop, &use] {
      for (int n = 0; !stop; ++n) use(n), std::this_thread::yield();
    });
  }
  threads.emplace_back([&stop] {
    while (!stop) std::thread(speak).join();
  });
  int bad = 0;
  for (int i = 0; i < 100 && bad == 0; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      alarm(20);  // ends a child that waits for a lock
      for (auto const& use : users) use(i);
      if (kForkedChildrenStartThreads) std::thread(speak).join();
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad, 0);
}

TEST(Threads, ThereIsOnlyOne) {
  struct stat tasks {};
  ASSERT_EQ(stat("/proc/self/task", &tasks), 0);
  EXPECT_EQ(tasks.st_nlink, 3u);  // two of the folder itself, and one for each thread
}
TEST(Threads, ManyWrite) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([] {
      for (int n = 0; n < 50; ++n) work(n);
    });
  for (std::thread& writer : writers) writer.join();
}
TEST(Threads, WithAndWithoutNames) {
  TRACE_INFO("from the test");
  std::thread([] {
    tracing::set_thread_name("worker-1");
    TRACE_INFO("from a worker");
  }).join();
  std::thread([] { TRACE_DEBUG("from another"); }).join();
  ADD_FAILURE();
}
TEST(Threads, HelpersBelongToTheTest) {
  std::thread([] { TRACE_WARN("from a helper"); }).join();
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("from a helper"))));
}
std::atomic<int> late_go{0};
TEST(Threads, LeavesAThreadBehind) {
  std::thread([] {
    TRACE_INFO("begun");
    late_go = 1;
    while (late_go != 2) library::wait_ms(1);
    TRACE_WARN("late word");
    late_go = 3;
  }).detach();
  while (late_go != 1) library::wait_ms(1);
}
TEST_LOG(Threads, NextIsNotBlamed, .fail_on = warn) {
  late_go = 2;
  while (late_go != 3) library::wait_ms(1);
  EXPECT_THAT(records(), IsEmpty());
}
// A thread that works when it is told to, and ends with the process.
class Helper {
 public:
  Helper() {
    std::thread([this] {
      for (;; library::wait_ms(1)) {
        std::lock_guard const lock(mutex_);
        if (work_ != nullptr) std::exchange(work_, nullptr)();
      }
    }).detach();
  }
  // Waits until the work is done.
  void run(std::function<void()> work) {
    {
      std::lock_guard const lock(mutex_);
      work_ = std::move(work);
    }
    for (bool is_done = false; !is_done; library::wait_ms(1)) {
      std::lock_guard const lock(mutex_);
      is_done = work_ == nullptr;
    }
  }

 private:
  std::mutex mutex_;
  std::function<void()> work_;
};
Helper* helper = nullptr;  // never destroyed

TEST_LOG(Late, CreatesAThread, .fail_on = error) { helper = new Helper; }
TEST_LOG(Late, CreatesAThreadThatSpeaks, .fail_on = error) {
  helper = new Helper;
  helper->run([] { TRACE_INFO("begun"); });
}
TEST(Late, CreatesAThreadAndAllowsErrors) { helper = new Helper; }
TEST_LOG(Late, IsNotToBlame, .fail_on = error) {
  helper->run([] {
    TRACE_SPAN(info, "theirs");
    TRACE_ERROR("of the thread");
  });
  TRACE_INFO("of the test");
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("of the test"))));
}
TEST_LOG(Late, AllowsTheEvent, .fail_on = error) {
  testlog::AllowEvents const allow(Event(HasMessage("of the thread")));
  helper->run([] { TRACE_ERROR("of the thread"); });
}
TEST_LOG(Late, IsFlooded, .fail_on = error) {
  helper->run([] {
    for (int i = 0; i < 1000; ++i) TRACE_ERROR("of the thread", i);
  });
}
TEST(Late, AllowsErrors) {
  helper->run([] { TRACE_ERROR("of the thread"); });
}
TEST(Late, Fails) {
  helper->run([] { TRACE_ERROR("of the thread"); });
  ADD_FAILURE();
}
// Fails by work of the test before.
TEST(Late, IsFailed) {
  helper->run([] { ADD_FAILURE() << "in no span"; });
  helper->run([] {
    TRACE_SPAN(info, "theirs");
    ADD_FAILURE() << "in a span";
  });
  EXPECT_TRUE(false) << "its own";
}
TEST_LOG(Late, SpeaksAfterTheRun, .fail_on = error) {
  helper = new Helper;
  std::atexit([] { helper->run([] { TRACE_ERROR("of the thread"); }); });
}

// Its thread is created outside any test.
class SharedHelper : public testing::Test {
 protected:
  static void SetUpTestSuite() { helper = new Helper; }
};
TEST_F(SharedHelper, GetsWork) {
  helper->run(tracing::with_current_span([] { TRACE_INFO("brought"); }));
  helper->run([] { TRACE_INFO("not brought"); });
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("brought")), Event(HasMessage("not brought"))));
}
TEST_F(SharedHelper, ServesTheNext) {
  helper->run([] { TRACE_INFO("not brought"); });
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("not brought"))));
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
// A pool of one thread that knows nothing of tests.
void run_as_job(std::function<void()> job) {
  // Not destroyed, since the thread waits for jobs until the process ends.
  static auto& mutex = *new std::mutex;
  static auto& changed = *new std::condition_variable;
  static auto& next = *new std::function<void()>;
  static bool const started = [] {
    std::thread([] {
      std::unique_lock lock(mutex);
      for (;; changed.notify_all()) {
        changed.wait(lock, [] { return next != nullptr; });
        std::exchange(next, nullptr)();
      }
    }).detach();
    return true;
  }();
  ASSERT_TRUE(started);
  std::unique_lock lock(mutex);
  next = std::move(job);
  changed.notify_all();
  changed.wait(lock, [] { return next == nullptr; });
}
TEST(Threads, JobsStart) {
  run_as_job([] { TRACE_INFO("ready"); });
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("ready"))));
}
TEST_LOG(Threads, JobsOfThisTestFailIt, .fail_on = warn) {
  run_as_job(tracing::with_current_span([] { TRACE_WARN("from the job"); }));
  EXPECT_THAT(records(), ElementsAre(Event(HasMessage("from the job"))));
}
TEST(Threads, JobsThatNobodyBringsAreOfTheFirstTest) {
  run_as_job([] { TRACE_INFO("not brought"); });
  EXPECT_THAT(records(), IsEmpty());
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

TEST(Processes, ThreadsKeepTheirSignalStacks) {
  std::thread([] {
    static char room[64 << 10];
    stack_t const own{room, 0, sizeof(room)};
    stack_t before{}, now{};
    ASSERT_EQ(sigaltstack(&own, &before), 0);
    TRACE_INFO("first");
    EXPECT_EQ(sigaltstack(&before, &now), 0);  // which a sanitizer takes back
    EXPECT_EQ(now.ss_sp, static_cast<void*>(room));
  }).join();
}

// ---- death tests that fail ----

void break_invariant(int id) {
  TRACE_SPAN(info, "break_invariant", id);
  TRACE_ERROR("invariant broken");
  std::abort();
}
void leave() {
  TRACE_ERROR("in the child");
  std::_Exit(3);
}
void die_silently() {
  TRACE_SPAN(info, "outermost");
  TRACE_SPAN(debug, "innermost");
  std::abort();
}
void die_on_a_thread() {
  TRACE_INFO("starts a thread");
  std::thread([] {
    tracing::set_thread_name("crasher");
    break_invariant(2);
  }).join();
}
TEST(RedDeathTest, MessageDiffers) {
  TRACE_DEBUG("before the child");
  EXPECT_DEATH(break_invariant(1), "another message");
}
TEST(RedDeathTest, FailsAfterOthersThatPass) {
  TRACE_SPAN(info, "body");
  EXPECT_DEATH(break_invariant(1), "");
  EXPECT_EXIT(leave(), testing::ExitedWithCode(3), "");
  EXPECT_DEATH(TRACE_WARN("lives"), "");
}
TEST(RedDeathTest, EndsInASpan) { EXPECT_DEATH(die_silently(), "another message"); }
TEST(RedDeathTest, DiesOnAThread) { EXPECT_DEATH(die_on_a_thread(), "another message"); }
TEST(RedDeathTest, IsKilled) {
  EXPECT_EXIT(
      {
        TRACE_WARN("the last words");
        raise(SIGKILL);
      },
      testing::ExitedWithCode(0), "");
}
TEST(RedDeathTest, FailsElsewhere) {
  EXPECT_DEATH(break_invariant(1), "");
  ADD_FAILURE();
}
TEST(RedDeathTest, HasManyChildren) {
  for (int i = 1; i <= 20; ++i) EXPECT_DEATH(break_invariant(i), i == 20 ? "another message" : "");
}
// All of them make their first record at the same time, which is the child's, too.
void record_on_threads() {
  std::latch begins(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&begins] {
      begins.arrive_and_wait();
      TRACE_INFO("on one of four threads");
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::_Exit(3);
}
TEST(RedDeathTest, BeginsOnFourThreads) { EXPECT_DEATH(record_on_threads(), "another message"); }
void fork_in_the_child() {
  TRACE_ERROR("of the child");
  if (fork() == 0) {
    TRACE_ERROR("of the child's child");
    std::_Exit(0);
  }
  wait(nullptr);
  std::_Exit(3);
}
TEST(RedDeathTest, ForksInTheChild) { EXPECT_EXIT(fork_in_the_child(), testing::ExitedWithCode(4), ""); }
void fail_in_the_child() {
  TRACE_INFO("before the child fails");
  ADD_FAILURE();
  TRACE_INFO("the child goes on");
  std::_Exit(3);
}
TEST(RedDeathTest, FailsInTheChild) { EXPECT_EXIT(fail_in_the_child(), testing::ExitedWithCode(4), ""); }
// A thread of the parent fails while the child lives.
TEST(RedDeathTest, FailsElsewhereMeanwhile) {
  GTEST_FLAG_SET(death_test_style, "fast");
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready) + pipe(go), 0);
  char byte = 0;
  std::thread other([&] {
    if (read(ready[0], &byte, 1) == 1) ADD_FAILURE();
    (void)!write(go[1], "g", 1);
  });
  auto const child = [&] {
    char from_parent = 0;
    TRACE_INFO("ready");
    (void)!write(ready[1], "r", 1);
    (void)!read(go[0], &from_parent, 1);
    TRACE_INFO("the child goes on");
    std::_Exit(3);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(3), "");
  other.join();
}
TEST(RedDeathTest, CallsExit) {
  EXPECT_DEATH(break_invariant(1), "");
  std::exit(3);
}

TEST(GreenDeathTest, Dies) { EXPECT_DEATH(break_invariant(1), ""); }
TEST(GreenDeathTest, FailsLater) { ADD_FAILURE(); }

// ---- spans without records ----

// A thread of a pool: waits, works, and waits until the others end.
TEST(Waiting, OfThreads) {
  for (int i = 0; i < 3; ++i) {
    std::thread([i] {
      tracing::set_thread_name("pool");
      { TRACE_SPAN(debug, "wait_for_job"); }
      TRACE_SPAN(info, "job", i);
      TRACE_DEBUG("done");
    }).join();
  }
  std::latch waits(1), failed(1);
  std::thread idle([&] {
    tracing::set_thread_name("idle");
    TRACE_SPAN(debug, "wait_for_job");
    waits.count_down();
    failed.wait();
  });
  waits.wait();
  { TRACE_SPAN(debug, "multiply"); }
  {
    TRACE_SPAN(info, "checking");
    ADD_FAILURE();
  }
  failed.count_down();
  TRACE_SPAN(debug, "join");
  idle.join();
}

// ---- floods ----

void poll(int times) {
  for (int i = 0; i < times; ++i) TRACE_WARN("refused: the queue is full");
}
TEST(Floods, AreFollowedByAnotherLine) {
  TRACE_SPAN(info, "enqueue");
  poll(1000);
  TRACE_INFO("accepted");
  poll(6);
}
TEST(Floods, OfAnotherTest) { poll(5); }
TEST(Floods, DifferInAValue) {
  for (int i = 0; i < 10; ++i) TRACE_WARN("refused", i);
}
TEST(Floods, OfTwoThreads) {
  std::latch both(2);
  std::thread other([&] {
    tracing::set_thread_name("poller");
    for (int i = 0; i < 10; ++i) TRACE_WARN("refused on a thread");
    both.arrive_and_wait();
  });
  both.arrive_and_wait();
  other.join();
}
TEST(Floods, EndInACrash) {
  poll(20);
  raise(SIGSEGV);
}
TEST(Floods, EndBySigterm) {
  poll(20);
  raise(SIGTERM);
}
TEST(Floods, EndInAFailure) {
  TRACE_SPAN(info, "enqueue");
  TRACE_DEBUG("only in the report");
  poll(20);
  ADD_FAILURE();
}
TEST(Floods, AreForked) {
  poll(20);
  pid_t const child = fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) TRACE_WARN("refused in the child");
    std::_Exit(0);
  }
  waitpid(child, nullptr, 0);
}

// ---- tests that run again ----

// Returns how often the file SCENARIO_COUNTER was counted up, this time included.
int counted_up() {
  std::string const path = std::getenv("SCENARIO_COUNTER");
  int const file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  (void)!write(file, "+", 1);
  close(file);
  return static_cast<int>(std::filesystem::file_size(path));
}

TEST_LOG(Retried, FailsTwice) {
  int const attempt = counted_up();
  TRACE_SPAN(info, "attempt", tracing::kv("number", attempt));
  work();
  EXPECT_GT(attempt, 2);
}

TEST_LOG(Retried, FailsTheThirdTime) {
  int const attempt = counted_up();
  TRACE_INFO("loaded", tracing::kv("number", attempt), tracing::kv("is_stale", attempt == 3));
  EXPECT_NE(attempt, 3);
}

TEST_LOG(Retried, HangsTheFirstTime) {
  int const attempt = counted_up();
  TRACE_INFO("runs", tracing::kv("number", attempt));
  if (attempt == 1) std::this_thread::sleep_for(std::chrono::minutes(1));
}

std::atomic<int> left_step{0};  // 1: the thread has begun; 2: the next test runs; 3: the thread is done
std::atomic<int> left_level{0};

// With SCENARIO_LEAVES, its thread goes on in the next test.
TEST(Left, RaisesTheLevel) {
  bool const leaves = std::getenv("SCENARIO_LEAVES") != nullptr;
  std::thread raiser([leaves] {
    TRACE_DEBUG("raises the level");
    left_step = 1;
    while (leaves && left_step != 2) std::this_thread::yield();
    left_level = leaves ? 1 : 0;
    TRACE_DEBUG("raised", tracing::kv("level", left_level.load()));
    left_step = 3;
  });
  while (left_step == 0) std::this_thread::yield();
  if (leaves) return raiser.detach();
  raiser.join();
}

TEST(Left, BeginsAtZero) {
  if (left_step == 1) left_step = 2;
  while (left_step != 3) std::this_thread::yield();
  TRACE_DEBUG("looked", tracing::kv("level", left_level.load()));
  EXPECT_EQ(left_level, 0);
}

// ---- fields that the line above has ----

TEST(RepeatedFields, OfALaunchThatFails) {
  TRACE_SPAN(debug, "launch", tracing::kv("kernel", "matmul<float, 128, 128, 8>"), tracing::kv("grid", "(64, 64, 1)"));
  TRACE_DEBUG("looks in the cache");
  {
    TRACE_SPAN(debug, "compile", tracing::kv("arch", "sm_90"), tracing::kv("options", "-std=c++17"));
    TRACE_TRACE("begins");
    TRACE_WARN("a variable is not used", tracing::kv("line", 12));
    TRACE_DEBUG("compiled", tracing::kv("registers", 40));
  }
  TRACE_DEBUG("launched", tracing::kv("stream", 1));
  EXPECT_EQ(0, 1);
  TRACE_DEBUG("done");
}

TEST(RepeatedFields, OfPerfSpans) {
  TRACE_SPAN(info, "load", tracing::kv("path", "/var/cache/models/resnet50/weights.bin"));
  TRACE_PERF("read", tracing::kv("offset", 1), tracing::kv("bytes", 4096));
  for (int i = 0; i < 2; ++i) TRACE_INFO("reads", i);
}

TEST(RepeatedFields, OfEqualLines) {
  TRACE_SPAN(info, "load", tracing::kv("path", "/var/cache/models/resnet50/weights.bin of sixty characters"));
  poll(20);
  for (int i = 0; i < 20; ++i) TRACE_INFO("waits");
  TRACE_INFO("has waited");
}

}  // namespace
