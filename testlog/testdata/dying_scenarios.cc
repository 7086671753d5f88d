// Tests that end the process, each in its own way.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <ostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <testlog/testlog.h>

#include "testlog/testdata/library.h"

namespace {

using library::work;
using testing::Eq;

TEST(Dies, BySegv) {
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_INFO("shown {}", 1);
  TRACE_DEBUG("not shown {}", "text", tracing::kv("n", 2.5));
  raise(SIGSEGV);
}
TEST(Dies, ByWildPointer) {
  TRACE_SPAN(info, "outer");
  std::uintptr_t volatile nowhere = 16;  // UndefinedBehaviorSanitizer would catch a null pointer
  *reinterpret_cast<int volatile*>(nowhere) = 1;
}
struct Incomparable {
  bool operator==(Incomparable const&) const {
    std::uintptr_t volatile nowhere = 16;
    *reinterpret_cast<int volatile*>(nowhere) = 1;
    return true;
  }
};
TEST(Dies, InAComparison) { EXPECT_EQ(Incomparable(), Incomparable()); }
TEST(Dies, ByAbort) { std::abort(); }
TEST(Dies, ByOtherSignals) { raise(std::atoi(std::getenv("SCENARIO_SIGNAL"))); }
TEST(Dies, ByTerminate) {
  TRACE_SPAN(info, "outer");
  std::terminate();
}
TEST(Dies, ByAnExceptionOnAThread) {
  std::thread([] {
    TRACE_SPAN(info, "parse", tracing::kv("line", 12));
    throw std::runtime_error("unexpected end");
  }).join();
}
// glibc finds that its heap is broken while it holds the lock of the heap, since there are two threads.
TEST(Dies, InsideMalloc) {
  TRACE_SPAN(info, "allocate");
  TRACE_DEBUG("before");
  std::thread([] {
    while (true) pause();
  }).detach();
  char* volatile last = static_cast<char*>(std::malloc(24));
  std::memset(last + 24, 0xff, 8);  // the size of what is free
  while (true) last = static_cast<char*>(std::malloc(100'000));
}
struct Deadly {
  friend std::ostream& operator<<(std::ostream& out, Deadly const&) {
    raise(SIGSEGV);
    return out;
  }
};
TEST(Dies, InAFormatter) {
  TRACE_SPAN(info, "print");
  TRACE_INFO("result {}", tracing::display(Deadly{}));
}
struct Endless {
  std::atomic<bool>& reached;
  friend std::ostream& operator<<(std::ostream&, Endless const& endless) {
    endless.reached = true;
    while (true) pause();
  }
};
TEST(Dies, WhileAnotherThreadFormats) {
  std::atomic<bool> reached{false};
  std::thread([&reached] {
    TRACE_SPAN(info, "formatting");
    TRACE_INFO("result {}", tracing::display(Endless{reached}));
  }).detach();
  while (!reached) library::wait_ms(1);
  raise(SIGSEGV);
}
TEST(Dies, WithLongTexts) {
  std::string const a(100, 'a'), b(1000, 'b'), c(100'000, 'c');
  auto span = TRACE_MAKE_SPAN(info, "m", a, b, c, tracing::kv("k", 7), tracing::kv("status", tracing::empty));
  auto const entered = span.enter();
  TRACE_DEBUG("first");
  span.record(tracing::kv("status", std::string(200, 's')));
  TRACE_DEBUG("second {}", c, a, b, tracing::kv("n", 8));
  raise(SIGSEGV);
}
TEST(Dies, WithErrorsAndLines) {
  TRACE_SPAN(info, "open", tracing::kv("error", std::make_error_code(std::errc::timed_out)));
  TRACE_DEBUG("not shown {}", tracing::display("a\nb\x1b\n"),
              tracing::kv("error", std::make_error_code(std::errc::no_such_file_or_directory)));
  try {
    try {
      throw std::runtime_error("inner");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  } catch (std::exception const& error) {
    TRACE_DEBUG("nested", error);
  }
  raise(SIGSEGV);
}
TEST(Dies, ByExit) {
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_DEBUG("not shown");
  std::exit(5);
}
TEST(Dies, ByExitOnAnotherThread) {
  std::thread([] {
    TRACE_DEBUG("not shown");
    std::exit(5);
  }).join();
}
TEST(Dies, ByExitSilently) { std::exit(0); }
TEST(Dies, InChildrenThatExit) {
  if (pid_t const child = fork(); child == 0) {
    TRACE_DEBUG("of the child");
    std::exit(3);
  } else {
    waitpid(child, nullptr, 0);
  }
  EXPECT_EXIT((work(), std::exit(3)), testing::ExitedWithCode(3), Eq(""));
}
int eat_stack(int n) {
  char volatile room[4096];
  room[0] = static_cast<char>(n);
  return n == -1 ? 0 : eat_stack(n + 1) + room[0];
}
// ---- jumps to what is no code, and damaged stacks ----

using Function = void (*)();

[[gnu::noinline]] void call(Function function) {
  TRACE_SPAN(info, "calling");
  function();
  TRACE_DEBUG("came back");  // so this is no jump
}
void* data_page(int protection) { return mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
Function function_at(std::uintptr_t address) {
  std::uintptr_t volatile hidden = address;
  return reinterpret_cast<Function>(hidden);
}
Function function_at(void* address) { return function_at(reinterpret_cast<std::uintptr_t>(address)); }

TEST(Dies, ByACallOfNull) { call(function_at(std::uintptr_t{0})); }
TEST(Dies, ByACallOfANumber) { call(function_at(std::uintptr_t{0x1234})); }
TEST(Dies, ByACallIntoData) { call(function_at(data_page(PROT_READ | PROT_WRITE))); }
TEST(Dies, ByACallIntoAFreedPage) {
  void* const page = data_page(PROT_READ | PROT_WRITE);
  munmap(page, 4096);
  call(function_at(page));
}
TEST(Dies, ByACallIntoItsStack) {
  char volatile on_stack[16] = {};
  call(function_at(const_cast<char*>(on_stack)));
}
[[gnu::noinline]] void replace_return_address(std::uintptr_t address, bool dies_inside) {
  auto* const frame = static_cast<std::uintptr_t volatile*>(__builtin_frame_address(0));
  frame[1] = address;
  if (dies_inside) raise(SIGSEGV);
}
TEST(Dies, ByAReturnToANumber) {
  replace_return_address(0x1234, false);
  TRACE_DEBUG("came back");
}
TEST(Dies, ByAReturnToNoAddress) {
  replace_return_address(0x4141414141414141, false);
  TRACE_DEBUG("came back");
}
TEST(Dies, OnADamagedStack) {
  replace_return_address(0x1234, true);
  TRACE_DEBUG("came back");
}

// ---- other faults ----

TEST(Dies, ByAWriteToCode) { *reinterpret_cast<char volatile*>(&eat_stack) = 0; }
TEST(Dies, ByAReadOfNothing) {
  std::uintptr_t volatile nowhere = 0;
  call([] {});
  static_cast<void>(*reinterpret_cast<int volatile*>(nowhere));
}
TEST(Dies, ByAReadOfAFreedPage) {
  auto* const page = static_cast<int volatile*>(data_page(PROT_READ | PROT_WRITE));
  munmap(const_cast<int*>(page), 4096);
  static_cast<void>(*page);
}
TEST(Dies, BehindAFile) {
  std::FILE* const file = std::tmpfile();
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  *static_cast<int volatile*>(page) = 1;
}
#if defined(__x86_64__)
TEST(Dies, ByAnOverwrittenFramePointer) {
  asm volatile("movabs $0x4141414141414141, %%rbp\n\tmov (%%rbp), %%rax" ::: "rax", "memory");
}
#endif
TEST(Dies, ByADivision) {
  int volatile number = 7, zero = 0;
  number = number / zero;
}
TEST(Dies, ByATrap) { __builtin_trap(); }
TEST(Dies, ByAnotherProcess) {
  pid_t const self = getpid();
  if (fork() == 0) {
    kill(self, SIGABRT);
    _exit(0);
  }
  while (true) pause();
}
TEST(Dies, ByStackOverflow) { EXPECT_EQ(eat_stack(0), 1); }
TEST(Dies, ByStackOverflowOnAWorker) {
  std::thread([] {
    TRACE_SPAN(info, "recurse");
    EXPECT_EQ(eat_stack(0), 1);
  }).join();
}
TEST(Dies, AfterAWhile) {
  { TRACE_SPAN(info, "long_ago"); }
  library::wait_ms(150);
  TRACE_SPAN(info, "just_now");
  TRACE_SPAN(info, "dying");
  raise(std::getenv("SCENARIO_KILLED") != nullptr ? SIGKILL : SIGSEGV);
}
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
TEST(Dies, OnAWorker) {
  TRACE_SPAN(info, "joining");
  std::thread([] {
    TRACE_SPAN(info, "working", tracing::kv("item", 3));
    raise(SIGSEGV);
  }).join();
}
void die_below(int levels) {
  TRACE_SPAN(info, "level", levels);
  if (levels > 0) return die_below(levels - 1);
  TRACE_DEBUG("bottom");
  raise(SIGSEGV);
}
TEST(Dies, InDeepSpans) { die_below(999); }
void die_below_long_values(int levels) {
  std::string const text(400, 'x');
  TRACE_SPAN(info, "level", levels, text);
  if (levels > 0) return die_below_long_values(levels - 1);
  TRACE_SPAN(info, "innermost");
  TRACE_DEBUG("bottom", tracing::kv("last", 1));
  raise(SIGSEGV);
}
TEST(Dies, InDeepSpansWithLongValues) { die_below_long_values(60); }
TEST(Dies, InASpanWhoseValuesCameLate) {
  auto span = TRACE_MAKE_SPAN(info, "late", tracing::kv("status", tracing::empty));
  for (int const status : {3, 4, 5}) span.record(tracing::kv("status", status));
  auto const entered = span.enter();
  raise(SIGSEGV);
}
TEST(Dies, OnAWorkerInNoSpan) {
  std::thread([] {
    TRACE_DEBUG("idle");
    raise(SIGSEGV);
  }).join();
}
TEST(Dies, InADeathTestOnly) {
  EXPECT_DEATH((work(), std::abort()), "");
  EXPECT_DEATH((work(), raise(SIGSEGV)), "");
}
TEST(Dies, WithAHandlerOfItsOwn) { raise(SIGSEGV); }

// A handler set before the tests run, as by sanitizers and MPI.
void own_handler(int) {
  std::fputs("own handler\n", stderr);
  std::_Exit(9);
}
[[maybe_unused]] bool const handler_set = [] {
  if (std::getenv("SCENARIO_OWN_HANDLER") != nullptr) signal(SIGSEGV, own_handler);
  return true;
}();

// ---- records after main() ----

bool statics_record = false;

void speak(char const* from) {
  TRACE_SPAN(info, "ending", from);
  TRACE_PERF("ended");
  TRACE_ERROR("last words");
  TRACE_MAKE_SPAN(warn, "later", tracing::kv("token", tracing::empty)).record(tracing::kv("token", 1));
  std::string const line = std::string("ended: ") + from + "\n";
  [[maybe_unused]] auto const written = write(STDOUT_FILENO, line.data(), line.size());
}
struct Speaker {
  explicit Speaker(char const* from) : name(from) {}
  ~Speaker() {
    if (statics_record) speak(name);
  }
  char const* name;
};

[[gnu::init_priority(101)]] Speaker const made_first("made first");
[[gnu::init_priority(65534)]] Speaker const made_late("made late");

TEST(Ends, WithStaticsThatRecord) {
  alarm(30);  // ends a process that hangs
  statics_record = true;
  static Speaker const made_in_a_test("made in a test");
  static thread_local Speaker const of_the_thread("of the thread");
  static_cast<void>(&of_the_thread);
  TRACE_SPAN(info, "test");
  TRACE_INFO("first words");
}

}  // namespace
