// Races of the program with statements between the two accesses: `races` prints how many of the ten of each kind
// ThreadSanitizer finds. Built with -fsanitize=thread, whatever the library was built with.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "tracing_core/tracing.h"

// Of ThreadSanitizer's interface for debuggers.
extern "C" int __tsan_get_report_mop(void* report, unsigned long index, int* thread, void** address, int* size,
                                     int* write, int* atomic, void** trace, unsigned long trace_size);

namespace {

constexpr int kRuns = 10;

struct alignas(64) Shared {
  long value = 0;
  std::atomic<bool> is_found{false};
};
std::array<Shared, 1000> all_shared;
std::size_t used = 0;

[[gnu::noinline]] void access(Shared& shared) { ++shared.value; }

// Relaxed, so it orders nothing for ThreadSanitizer.
class Turn {
 public:
  void pass(int turn) { turn_.store(turn, std::memory_order_relaxed); }
  void wait_for(int turn) const {
    while (turn_.load(std::memory_order_relaxed) < turn) sched_yield();
  }

 private:
  std::atomic<int> turn_{0};
};

// Waits until the thread has ended, without an order that ThreadSanitizer sees.
void wait_for_end(std::atomic<int> const& thread) {
  std::array<char, 64> path{};
  while (thread.load(std::memory_order_relaxed) == 0) sched_yield();
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d", thread.load(std::memory_order_relaxed));
  while (::access(path.data(), F_OK) == 0) sched_yield();
}

// Both threads live until the second access.
template <class A, class B>
void beside(Shared& shared, A first, B second) {
  Turn turn;
  std::thread a([&] {
    access(shared);
    first();
    turn.pass(1);
    turn.wait_for(2);
  });
  std::thread b([&] {
    turn.wait_for(1);
    second();
    access(shared);
    turn.pass(2);
  });
  a.join();
  b.join();
}

// The first thread has ended when the second one begins.
template <class A, class B>
void after(Shared& shared, A first, B second) {
  std::atomic<int> thread{0};
  std::thread a([&] {
    first();
    access(shared);
    thread.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  });
  wait_for_end(thread);
  std::thread b([&] {
    second();
    access(shared);
  });
  a.join();
  b.join();
}

void known() { TRACE_INFO("known", tracing::kv("text", "some text of a record")); }
void known_span() {
  TRACE_SPAN(info, "known span", tracing::kv("text", "some text of a record"));
  known();
}
template <int kRun, int kWhich>
void fresh() {
  TRACE_INFO("only here {}", kRun, tracing::kv("which", kWhich));
}
template <int kRun, int kWhich>
void fresh_span() {
  TRACE_SPAN(info, "only here", tracing::kv("which", kWhich));
}

struct Farewell {
  bool is_set = false;
  ~Farewell() {
    if (is_set) known_span();
  }
};
thread_local Farewell farewell;

template <int kRun>
struct Kinds {
  static void no_statements(Shared& x) {
    beside(
        x, [] {}, [] {});
  }
  static void no_statements_after_an_end(Shared& x) {
    after(
        x, [] {}, [] {});
  }
  static void first_hits_of_two_statements(Shared& x) { beside(x, fresh<kRun, 0>, fresh<kRun, 1>); }
  static void first_hit_of_a_statement(Shared& x) { beside(x, fresh<kRun, 2>, fresh<kRun, 2>); }
  static void first_hits_of_two_spans(Shared& x) { beside(x, fresh_span<kRun, 0>, fresh_span<kRun, 1>); }
  static void first_records(Shared& x) { beside(x, known, known); }
  static void first_spans(Shared& x) { beside(x, known_span, known_span); }
  static void end_of_a_thread(Shared& x) { after(x, known, known); }
  static void end_of_a_thread_with_spans(Shared& x) { after(x, known_span, known_span); }
  static void record_at_the_end_of_a_thread(Shared& x) {
    auto const at_end = [] { farewell.is_set = true; };
    after(x, at_end, at_end);
  }
  static void handle_in_threads(Shared& x) {
    auto const span = TRACE_MAKE_SPAN(info, "held", tracing::kv("text", "some text"));
    auto const use = [&span] {
      auto const entered = span.enter();
      known();
    };
    beside(x, use, use);
  }
  static void work_of_a_span(Shared& x) {
    TRACE_SPAN(info, "parent", tracing::kv("text", "some text"));
    beside(x, tracing::with_current_span(known), tracing::with_current_span(known_span));
  }
  static void work_of_a_span_after_an_end(Shared& x) {
    TRACE_SPAN(info, "parent", tracing::kv("text", "some text"));
    after(x, tracing::with_current_span(known), tracing::with_current_span(known_span));
  }
  static void tasks(Shared& x) {
    Turn turn;
    auto const a = std::async(std::launch::async, [&] {
      access(x);
      known_span();
      turn.pass(1);
    });
    auto const b = std::async(std::launch::async, [&] {
      turn.wait_for(1);
      known_span();
      access(x);
    });
    a.wait();
    b.wait();
  }
  static void many_records(Shared& x) {
    auto const record = [] {
      for (int i = 0; i < 2000; ++i) known_span();
    };
    beside(x, record, record);
  }
};

void count(char const* name, void (*const (&runs)[kRuns])(Shared&)) {
  std::size_t const first = used;
  for (auto* const run : runs) run(all_shared.at(used++));
  int found = 0;
  for (std::size_t i = first; i < used; ++i) found += all_shared.at(i).is_found.load(std::memory_order_relaxed);
  std::printf("%s %d\n", name, found);
}

template <int... kRun>
void count_all(std::integer_sequence<int, kRun...>) {
#define COUNT(kind) count(#kind, {Kinds<kRun>::kind...})
  COUNT(no_statements);
  COUNT(no_statements_after_an_end);
  COUNT(first_hits_of_two_statements);
  COUNT(first_hit_of_a_statement);
  COUNT(first_hits_of_two_spans);
  COUNT(first_records);
  COUNT(first_spans);
  COUNT(end_of_a_thread);
  COUNT(end_of_a_thread_with_spans);
  COUNT(record_at_the_end_of_a_thread);
  COUNT(handle_in_threads);
  COUNT(work_of_a_span);
  COUNT(work_of_a_span_after_an_end);
  COUNT(tasks);
  COUNT(many_records);
#undef COUNT
}

TEST(Races, Planted) {
  known_span();
  count_all(std::make_integer_sequence<int, kRuns>());
}

}  // namespace

// Called for each report.
extern "C" void __tsan_on_report(void* report) {
  int thread = 0, size = 0, write = 0, atomic = 0;
  void* address = nullptr;
  void* trace[1] = {};
  if (__tsan_get_report_mop(report, 0, &thread, &address, &size, &write, &atomic, trace, 1) == 0) return;
  for (Shared& shared : all_shared) {
    if (address == &shared.value) return shared.is_found.store(true, std::memory_order_relaxed);
  }
  std::printf("not planted\n");
}
