#include "testlog/attribution.h"

#include <unistd.h>

#include "testlog/signal_stack.h"
#include "tracing_core/internal/thread_info.h"

namespace testlog::inline v1 {
namespace {

using tracing::internal::this_thread_info;

// Homes of threads, beside tests.
constexpr TestTag kAnyTest = 0;
constexpr TestTag kServesAllTests = ~TestTag{1};
constexpr TestTag kRunsTests = ~TestTag{0};  // any test, even inside a span that an earlier test left open

bool is_test(TestTag home) noexcept { return home != kAnyTest && home < kServesAllTests; }

constinit thread_local bool has_home = false;

}  // namespace

TestTag Attribution::begin_test(std::string const& name) {
  ++last_;
  set_home(kRunsTests);
  test_thread_ = this_thread_info().number;
  // A late thread may be reading the name of the test that had this place.
  Test& test = tests_[last_ % kTests];
  test.tag.store(0);
  test.name.store(&name);
  test.tag.store(last_);
  running_ = last_;
  return last_;
}

std::string_view Attribution::name_of(TestTag test) const noexcept {
  Test const& found = tests_[test % kTests];
  if (test == 0 || found.tag.load() != test) return {};
  std::string const* const name = found.name.load();
  return found.tag.load() == test ? std::string_view(*name) : std::string_view();
}

void Attribution::serve_all_tests() noexcept { set_home(kServesAllTests); }

TestTag Attribution::test_of_this_thread() const noexcept {
  TestTag const home = has_home ? home_of(this_thread_info().number) : kAnyTest;
  return is_test(home) ? home : running();
}

void Attribution::serve_test(TestTag test) noexcept {
  observe_event();
  TestTag const home = home_of(this_thread_info().number);
  if (is_test(home) || home == kAnyTest) set_home(test);
}

void Attribution::set_home(TestTag home) noexcept {
  if (!has_home) ensure_signal_stack();
  has_home = true;
  auto const& info = this_thread_info();
  Thread& thread = threads_[info.number % kThreads];
  thread.home = home;
  thread.number = info.number;
}

void Attribution::observe_event() noexcept {
  if (has_home) [[likely]]
    return;
  bool const is_main_thread = this_thread_info().os_thread == getpid();
  set_home(is_main_thread ? kServesAllTests : running());
  if (is_main_thread && test_thread_ == 0) test_thread_ = this_thread_info().number;
}

TestTag Attribution::home_of(std::uint64_t thread_number) const noexcept {
  Thread const& thread = threads_[thread_number % kThreads];
  return thread.number == thread_number ? thread.home.load() : kAnyTest;
}

std::atomic<TestTag>& Attribution::tag_of(tracing::SpanRef span) noexcept {
  // The lower half of an id is the number of its slot.
  return spans_[static_cast<std::uint32_t>(span.id().value) % kSpans];
}

Owner Attribution::decide(TestTag running, TestTag home, bool inside_running, TestTag outermost) const noexcept {
  if (home == kRunsTests || (running != 0 && inside_running)) return {running, false};
  if (is_test(home) && home != running) return {home, true};
  if (outermost != 0 && outermost != running) return {outermost, true};
  return {running, false};
}

Owner Attribution::owner_now(tracing::SpanRef span) noexcept {
  TestTag const running = this->running();
  TestTag outermost = 0;
  bool inside_running = false;
  for (; span; span = span.parent()) {
    outermost = tag_of(span).load(std::memory_order_relaxed);
    inside_running |= outermost == running;
  }
  return decide(running, home_of(this_thread_info().number), inside_running, outermost);
}

Owner Attribution::owner_of(tracing::internal::RecordEntry const& entry,
                            tracing::internal::RecordedSpan const* span) const noexcept {
  return owner_of(entry.tag, entry.track, [&span] {
    TestTag const tag = span == nullptr ? kNoSpan : span->tag;
    if (span != nullptr) span = span->parent.get();
    return tag;
  });
}

void Attribution::observe_span(tracing::SpanRef span) noexcept {
  observe_event();
  tag_of(span).store(running(), std::memory_order_relaxed);
}

}  // namespace testlog::inline v1
