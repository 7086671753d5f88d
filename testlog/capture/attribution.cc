#include "testlog/capture/attribution.h"

#include <unistd.h>

#include "testlog/internal/signal_stack.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/support/thread_info.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::support::this_thread_info;

enum class Serves : std::uint8_t { unknown, one_test, any_test, all_tests };  // any_test: until it does work of a test

struct Served {
  Serves serves = Serves::unknown;
  std::atomic<TestTag> own{0};                    // the test that the thread serves
  std::atomic<TestTag> const* records = nullptr;  // the tag of its records: `own`, or the tag of the running test
};
constinit thread_local Served served_here;

void serve(Serves serves, TestTag test, std::atomic<TestTag> const& running) noexcept {
  if (served_here.serves == Serves::unknown) ensure_signal_stack();
  served_here.serves = serves;
  served_here.own.store(test, std::memory_order_relaxed);
  served_here.records = serves == Serves::one_test ? &served_here.own : &running;
}

}  // namespace

TestTag Attribution::begin_test(std::string const& name) noexcept {
  TestTag const tag = last_.load(std::memory_order_relaxed) + 1;
  serve(Serves::all_tests, 0, running_);
  test_thread_ = this_thread_info().number;
  // A late thread may be reading the name of the test that had this slot before.
  Test& test = tests_[tag % kTests];
  test.tag.store(0);
  test.name.store(&name);
  test.end.store(0, std::memory_order_relaxed);
  test.begin.store(tracing::support::ticks_now(), std::memory_order_relaxed);
  test.tag.store(tag);
  last_.store(tag, std::memory_order_relaxed);
  origins_.begin_test(tag, ThreadOrigins::now());
  running_ = tag;
  return tag;
}

void Attribution::end_test() noexcept {
  tests_[running() % kTests].end.store(tracing::support::ticks_now(), std::memory_order_relaxed);
  origins_.end_test(ThreadOrigins::now());
  running_ = 0;
}

std::string_view Attribution::name_of(TestTag test) const noexcept {
  Test const& found = tests_[test % kTests];
  if (test == 0 || found.tag.load() != test) return {};
  std::string const* const name = found.name.load();
  return found.tag.load() == test ? std::string_view(*name) : std::string_view();
}

void Attribution::serve_all_tests() noexcept { serve(Serves::all_tests, 0, running_); }

TestTag Attribution::test_of_this_thread() const noexcept {
  return served_here.records == nullptr ? running() : served_here.records->load(std::memory_order_relaxed);
}

TestTag Attribution::begin_work(TestTag test) noexcept {
  observe_event();
  TestTag const before = served_here.own.load(std::memory_order_relaxed);
  if (served_here.serves != Serves::all_tests) serve(Serves::one_test, test, running_);
  return before;
}

void Attribution::end_work(TestTag before) noexcept {
  if (served_here.serves != Serves::all_tests)
    serve(before == 0 ? Serves::any_test : Serves::one_test, before, running_);
}

void Attribution::observe_event() noexcept {
  if (served_here.serves == Serves::unknown) [[unlikely]]
    observe_first_event();
}

// Not inlined, since observe_event() would save registers for it each time.
void Attribution::observe_first_event() noexcept {
  if (this_thread_info().os_thread == getpid()) {
    serve(Serves::all_tests, 0, running_);
    if (test_thread_ == 0) test_thread_ = this_thread_info().number;
  } else {
    TestTag const test = test_of_creation();
    serve(test == 0 ? Serves::any_test : Serves::one_test, test, running_);
  }
}

// Returns the running test if the system does not say when the thread was created.
TestTag Attribution::test_of_creation() const noexcept {
  auto const created = ThreadOrigins::of_this_thread();
  return created ? origins_.test_at(*created) : running();
}

std::atomic<TestTag> const* const* Attribution::tag_of_records() noexcept {
  observe_event();
  return &served_here.records;
}

std::atomic<TestTag>& Attribution::tag_of(tracing::SpanRef span) noexcept {
  // The lower half of an id is the number of its slot.
  return spans_[static_cast<std::uint32_t>(span.id().value) % kSpans];
}

// A test that is no longer known had ended when the oldest known test began.
bool Attribution::has_ended(TestTag test, std::uint64_t ticks) const noexcept {
  Test const& found = tests_[test % kTests];
  if (test == 0) return false;
  if (found.tag.load(std::memory_order_relaxed) != test) {
    Test const& oldest = tests_[(last_.load(std::memory_order_relaxed) + 1) % kTests];
    return oldest.begin.load(std::memory_order_relaxed) <= ticks;
  }
  std::uint64_t const end = found.end.load(std::memory_order_relaxed);
  return end != 0 && end <= ticks;
}

TestTag Attribution::running_at(std::uint64_t ticks) const noexcept {
  TestTag const last = last_.load(std::memory_order_relaxed);
  for (TestTag test = last; test > 0 && last - test < kTests - 1; --test) {
    Test const& found = tests_[test % kTests];
    if (found.begin.load(std::memory_order_relaxed) > ticks) continue;
    return has_ended(test, ticks) ? 0 : test;
  }
  return 0;
}

Owner Attribution::decide(TestTag running, TestTag of_thread, bool inside_running, TestTag outermost) const noexcept {
  if (running != 0 && inside_running) return {running, false};
  if (of_thread != running) return {of_thread, true};
  if (outermost != 0 && outermost != running) return {outermost, true};
  return {running, false};
}

Owner Attribution::owner_now(tracing::SpanRef span) noexcept {
  TestTag const running = this->running();
  if (runs_tests(this_thread_info().number)) return {running, false};
  TestTag outermost = 0;
  bool inside_running = false;
  for (; span; span = span.parent()) {
    outermost = tag_of(span).load(std::memory_order_relaxed);
    inside_running |= outermost == running;
  }
  return decide(running, test_of_this_thread(), inside_running, outermost);
}

Owner Attribution::owner_of(tracing::recording::Entry const& entry,
                            tracing::recording::Span const* span) const noexcept {
  return owner_of(entry.tag, entry.ticks, entry.track, [&span] {
    TestTag const tag = span == nullptr ? kNoSpan : span->tag;
    if (span != nullptr) span = span->parent.get();
    return tag;
  });
}

TestTag Attribution::tag_in_recording(tracing::SpanRef span) noexcept {
  return span ? tag_of(span).load(std::memory_order_relaxed) : (*tag_of_records())->load(std::memory_order_relaxed);
}

void Attribution::observe_span(tracing::SpanRef span) noexcept {
  observe_event();
  tag_of(span).store(served_here.records->load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}}  // namespace testlog::v1
