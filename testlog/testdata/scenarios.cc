// Tests that other tests run as a program of its own, chosen by --gtest_filter, to look at what it prints and how it ends.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <testlog/matchers.h>
#include <testlog/perf.h>
#include <testlog/testlog.h>

#include "testlog/session.h"
#include "testlog/testdata/library.h"

namespace {

using library::speak;
using library::work;
using testing::Contains;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using testlog::Event;
using testlog::HasField;
using testlog::HasLevel;
using testlog::HasMessage;
using testlog::HasTarget;
using testlog::InSpan;
using testlog::Span;
using testlog::records;

void say(char const* text) { std::fputs(text, stderr); }

// ---- passing and failing ----

TEST(Plain, Passes) { work(); }
TEST(Plain, Fails) {
  work();
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_SPAN(debug, "inner");
  EXPECT_EQ(1, 2);
  TRACE_DEBUG("after the failure");
}
TEST(Plain, FailsTwice) {
  {
    TRACE_SPAN(info, "first");
    ADD_FAILURE();
  }
  TRACE_SPAN(info, "second");
  ADD_FAILURE();
}
TEST(Plain, FailsSilently) { ADD_FAILURE(); }
TEST(Plain, Throws) { library::fail_inside(3); }
TEST(Plain, ThrowsOutsideSpans) {
  try {
    library::fail_inside(3);
  } catch (std::exception const&) {
    TRACE_WARN("caught");
  }
  throw std::runtime_error("elsewhere");
}
struct SpeaksAtItsEnd {
  ~SpeaksAtItsEnd() {
    TRACE_SPAN(info, "cleaning");
    speak();
  }
};
TEST(Exceptions, PassThroughDestructors) {
  TRACE_SPAN(info, "outer");
  SpeaksAtItsEnd const last;
  {
    TRACE_SPAN(info, "inner");
    SpeaksAtItsEnd const first;
    throw std::runtime_error("passing by");
  }
}
TEST(Exceptions, CaughtByAnotherThread) {
  std::exception_ptr caught;
  std::thread([&caught] {
    try {
      library::fail_inside(3);
    } catch (std::exception const&) {
      caught = std::current_exception();
    }
  }).join();
  std::rethrow_exception(caught);
}
TEST(Plain, Skips) {
  work();
  GTEST_SKIP() << "not today";
}
TEST(Plain, ExpectsAFailure) {
  work();
  EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "on purpose", "on purpose");
}
TEST(Plain, DISABLED_IsDisabled) { FAIL(); }

// ---- what is not shown is still there ----

TEST(Captured, ContainsEverything) {
  work(5);
  EXPECT_THAT(records(), SizeIs(7));
  EXPECT_THAT(records(), Contains(Event(HasLevel(tracing::Level::trace), HasMessage("spoken"), HasTarget("library"),
                                        InSpan("launch", HasField("count", 5)), InSpan("compile"))));
  EXPECT_THAT(records(), Contains(Span("compile", HasField("kernel", HasSubstr("doub")), InSpan("launch"))));
  EXPECT_THAT(records(), Not(Contains(Event(InSpan("elsewhere")))));
  EXPECT_SPAN_COUNT("compile", Le(1));
  EXPECT_EVENT_COUNT(Event(HasLevel(tracing::Level::warn)), 1);
}
TEST(Captured, StartsEmpty) { EXPECT_THAT(records(), IsEmpty()); }
TEST(Captured, SpansAtTrace) {
  TRACE_SPAN(trace, "deep", tracing::kv("n", 1u));
  EXPECT_THAT(records(), ElementsAre(Span("deep", HasField("n", 1))));
}
TEST(Captured, TooMuch) {
  for (int i = 0; i < 200000; ++i) TRACE_TRACE("filling", i);
  EXPECT_THAT(records(), Not(IsEmpty()));
}
TEST_LOG(Captured, TooMuchToJudge, .fail_on = error) {
  for (int i = 0; i < 200000; ++i) TRACE_TRACE("filling", i);
}

// ---- settings ----

TEST_LOG(Settings, None) { work(); }
TEST_LOG(Settings, DefaultFilter, .default_filter = "library=debug") { work(); }
TEST_LOG(Settings, MisspeltFilter, .default_filter = "librray=debug") {
  work();
  ADD_FAILURE();
}
TEST_LOG(Settings, WrongFilter, .default_filter = "info,library=debgu") { work(); }
TEST_LOG(Settings, FailsOnWarnings, .fail_on = warn) { work(); }
TEST_LOG(Settings, ToleratesWarnings, .default_filter = "off", .fail_on = error) { TRACE_WARN("tolerated"); }
TEST_LOG(Settings, DISABLED_IsDisabled, .fail_on = warn) { FAIL(); }

class Fixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { TRACE_INFO("suite set up"); }
  static void TearDownTestSuite() { TRACE_INFO("suite torn down"); }
  Fixture() { TRACE_INFO("constructed"); }
  ~Fixture() override { TRACE_INFO("destroyed"); }
  void SetUp() override { TRACE_INFO("set up"); }
  void TearDown() override { TRACE_INFO("torn down"); }
};
TEST_LOG_F(Fixture, Shows, .fail_on = error) { TRACE_INFO("body"); }
TEST_F(Fixture, Fails) {
  TRACE_DEBUG("deep");
  ADD_FAILURE();
}
TEST_F(Fixture, ShowsToo) { TRACE_INFO("second body"); }

class Values : public testing::TestWithParam<int> {
  FRIEND_TEST(Values, Fails);
};
TEST_LOG_P(Values, Fails, .fail_on = warn) {
  TRACE_DEBUG("deep");
  TRACE_WARN("value", tracing::kv("n", GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Some, Values, testing::Values(1, 2));

template <class T>
class Types : public testing::Test {};
using TwoTypes = testing::Types<int, char>;
TYPED_TEST_SUITE(Types, TwoTypes);
TYPED_TEST_LOG(Types, Fails, .fail_on = warn) {
  TRACE_DEBUG("deep");
  TRACE_WARN("type");
}

template <class T>
class Patterns : public testing::Test {};
TYPED_TEST_SUITE_P(Patterns);
TYPED_TEST_LOG_P(Patterns, Fails, .fail_on = warn) { TRACE_WARN("pattern"); }
REGISTER_TYPED_TEST_SUITE_P(Patterns, Fails);
INSTANTIATE_TYPED_TEST_SUITE_P(Some, Patterns, int);

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

// ---- outside of tests ----

bool const outside_too = std::getenv("SCENARIO_OUTSIDE") != nullptr;
[[maybe_unused]] bool const in_static_initialiser = (outside_too ? library::speak() : void(), true);

class Surroundings : public testing::Environment {
 public:
  void SetUp() override { TRACE_INFO("environment set up"); }
  void TearDown() override { TRACE_INFO("environment torn down"); }
};
[[maybe_unused]] testing::Environment* const surroundings =
    outside_too ? testing::AddGlobalTestEnvironment(new Surroundings) : nullptr;

// ---- the filter inside a test ----

TEST(Filter, ChangesInATest) {
  TRACE_DEBUG("before the change");
  testlog::set_filter("debug");
  TRACE_DEBUG("after the change");
}
TEST(Filter, IsRestored) { TRACE_DEBUG("in the next test"); }

// ---- values that are not to be shown ----

namespace secrets {

constexpr char kCanary[] = "canary";
struct User {
  std::string password = kCanary;
  std::vector<std::map<std::string, std::string>> headers{{{"Token", kCanary}, {"Accept", "all"}}};
};
TRACE_FIELDS(User, password, headers)

// By every way on which a value gets into a record.
void tell() {
  std::string const password = kCanary;
  User const user;
  TRACE_SPAN(info, "span", password, user, tracing::kv("token", kCanary));
  auto const later = TRACE_MAKE_SPAN(info, "later", tracing::kv("token", tracing::empty));
  later.record(tracing::kv("token", kCanary));
  auto const entered = later.enter();
  TRACE_INFO("{} and {token} and {}", password, user.password, tracing::kv("token", kCanary));
  TRACE_DEBUG("{:>20} of {}", password, user, tracing::kv("user", tracing::pretty(user)));
  TRACE_VALUES(warn, password, user.password, tracing::kv("token", tracing::display(password)));
}

}  // namespace secrets

TEST(Secrets, Fails) {
  secrets::tell();
  {
    TRACE_PERF("login", tracing::kv("token", secrets::kCanary));
    TRACE_PERF_EVENT("logged in", tracing::kv("token", secrets::kCanary));
  }
  TRACE_SPAN(info, "open", tracing::kv("token", secrets::kCanary));
  EXPECT_THAT(records(), IsEmpty());
  throw std::runtime_error("told");
}

// ---- dying ----

TEST(Dies, BySegv) {
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_INFO("shown {}", 1);
  TRACE_DEBUG("not shown {}", "text", tracing::kv("n", 2.5));
  raise(SIGSEGV);
}
TEST(Dies, ByWildPointer) {
  TRACE_SPAN(info, "outer");
  std::uintptr_t volatile nowhere = 16;  // a null pointer would be UndefinedBehaviorSanitizer's
  *reinterpret_cast<int volatile*>(nowhere) = 1;
}
TEST(Dies, ByAbort) { std::abort(); }
TEST(Dies, WithSecrets) {
  secrets::tell();
  TRACE_SPAN(info, "open", tracing::kv("token", secrets::kCanary));
  std::abort();
}
int eat_stack(int n) {
  char volatile room[4096];
  room[0] = static_cast<char>(n);
  return n == -1 ? 0 : eat_stack(n + 1) + room[0];
}
TEST(Dies, ByStackOverflow) { EXPECT_EQ(eat_stack(0), 1); }
TEST(Dies, Killed) {
  for (int i = 0; i < 1000; ++i) work(i);
  raise(SIGKILL);
}
TEST(Dies, KilledWhileThreadsWrite) {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      while (true) work();
    }).detach();
  }
  library::wait_ms(50);
  raise(SIGKILL);
}
TEST(Dies, OnSeveralThreadsAtOnce) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&ready] {
      TRACE_SPAN(info, "dying");
      for (int n = 0; n < 500; ++n) TRACE_TRACE("last words", n);
      ++ready;
      while (ready < 4) {
      }
      raise(SIGSEGV);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
void die_below(int levels) {
  TRACE_SPAN(info, "level", levels);
  if (levels > 0) return die_below(levels - 1);
  TRACE_DEBUG("bottom");
  raise(SIGSEGV);
}
TEST(Dies, InDeepSpans) { die_below(999); }
TEST(Dies, InADeathTestOnly) {
  EXPECT_DEATH((work(), std::abort()), "");
  EXPECT_DEATH((work(), raise(SIGSEGV)), "");
}
TEST(Dies, WithAHandlerOfItsOwn) {
  raise(SIGSEGV);
}

// A handler set before the tests run, as sanitizers and MPI have.
void own_handler(int) {
  say("own handler\n");
  std::_Exit(9);
}
[[maybe_unused]] bool const handler_set = [] {
  if (std::getenv("SCENARIO_OWN_HANDLER") != nullptr) signal(SIGSEGV, own_handler);
  return true;
}();

// ---- perf spans ----

void load() { TRACE_PERF("cpu_ldg", tracing::kv("bytes", 4), tracing::target("machine")); }
void execute() {
  TRACE_SPAN(info, "launch", tracing::target("machine"));
  TRACE_PERF_AT(info, "cpu_execute_program", tracing::target("machine"));
  usleep(2000);  // so that it is the longer one
  load();
  load();
}

TEST(Perf, Passes) { execute(); }
TEST(Perf, PassesOnceMore) { load(); }
TEST(Perf, Fails) {
  execute();
  ADD_FAILURE();
}
TEST(Perf, CapturesThem) {
  execute();
  EXPECT_THAT(records(), Contains(Event(HasMessage("performance_span_complete"), InSpan("cpu_ldg", HasField("bytes", 4)),
                                        InSpan("cpu_execute_program"))));
  EXPECT_EQ(testlog::perf_summary().find("cpu_ldg")->count, 2u);
}
TEST(Perf, CapturesNone) {
  execute();
  EXPECT_THAT(records(), Not(Contains(Span("cpu_ldg"))));
  EXPECT_THAT(records(), Not(Contains(Event(HasMessage("performance_span_complete")))));
}
TEST(Perf, FailsInside) {
  TRACE_PERF("cpu_bra", tracing::kv("to", 4));
  ADD_FAILURE();
}
TEST(Perf, DiesInside) {
  TRACE_PERF("cpu_bra", tracing::kv("to", 4));
  raise(SIGSEGV);
}
TEST(Perf, Limited) {
  rlimit const limit{2048, 2048};
  setrlimit(RLIMIT_FSIZE, &limit);
  for (int i = 0; i < 100; ++i) load();
}
TEST(Perf, ManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) load();
    });
  }
  for (std::thread& thread : threads) thread.join();
}
TEST(Perf, Forks) {
  execute();
  pid_t const child = fork();
  if (child == 0) {
    load();
    std::exit(0);
  }
  waitpid(child, nullptr, 0);
}
TEST(PerfDeathTest, Dies) {
  execute();
  EXPECT_EXIT((load(), std::exit(3)), testing::ExitedWithCode(3), "^$");
}

}  // namespace
