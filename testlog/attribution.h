// Attribution: decides to which test a record belongs.
//
// A thread belongs to the test in which it was created. One that was created while no test ran, the main thread, the one that runs the
// tests, and those that say so belong to whichever test is running. What happens inside a span of the running test belongs to
// that test on every thread; what happens inside a span that an earlier test left open belongs to that one, but not on the thread
// that runs the tests. While a thread does work that tracing::with_current_span() brings, it belongs to the test that submitted the
// work. A record is late if its test has ended.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "testlog/thread_origins.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/record/recorded_spans.h"

namespace testlog::inline v1 {

/// A run of a test, counted from 1; zero is outside any test.
using TestTag = std::uint32_t;

/// The test to which a record belongs.
struct Owner {
  TestTag test = 0;   ///< zero: outside any test
  bool late = false;  ///< the test had ended
};

/// Thread-safe, but tests begin and end on one thread. All zero at first, so that a constant-initialised one takes no
/// memory for the parts that are never used.
class Attribution {
 public:
  constexpr Attribution() noexcept = default;
  Attribution(Attribution const&) = delete;
  Attribution& operator=(Attribution const&) = delete;

  /// `name` must live as long as the program.
  TestTag begin_test(std::string const& name) noexcept;
  void end_test() noexcept;
  TestTag running() const noexcept { return running_.load(std::memory_order_relaxed); }
  /// Empty for zero and for all but the last 256 tests.
  std::string_view name_of(TestTag test) const noexcept;

  /// From now on the records of the calling thread belong to the running test.
  void serve_all_tests() noexcept;

  /// Whether this thread runs the tests; before the first test, whether it is the main thread and has made a record.
  bool runs_tests(std::uint64_t thread_number) const noexcept {
    return test_thread_.load(std::memory_order_relaxed) == thread_number;
  }

  /// The test whose work the calling thread does, for with_current_span().
  TestTag test_of_this_thread() const noexcept;
  /// From now on the records of the calling thread belong to this test, unless they belong to any running test. Returns the one to
  /// which they belonged; zero: to any.
  TestTag begin_work(TestTag test) noexcept;
  /// They belong to that one again.
  void end_work(TestTag before) noexcept;

  /// The owner of a record that is made now on this thread inside `span`.
  Owner owner_now(tracing::SpanRef span) noexcept;
  /// The owner of a captured record: made at `ticks` by a thread of the test `tag`, or of any test while that one ran, inside of
  /// spans with the tags that `next_span_tag()` returns, innermost first, and kNoSpan at the end.
  template <class F>
  Owner owner_of(TestTag tag, std::uint64_t ticks, std::uint64_t thread_number, F&& next_span_tag) const noexcept {
    TestTag const running = has_ended(tag, ticks) ? running_at(ticks) : tag;
    TestTag outermost = 0;
    bool inside_running = false;
    for (TestTag span = next_span_tag(); span != kNoSpan; span = next_span_tag()) {
      outermost = span;
      inside_running |= span == running;
    }
    return runs_tests(thread_number) ? Owner{tag, false} : decide(running, tag, inside_running, outermost);
  }
  /// The same; `span` is the one that the entry is about, or in which it is.
  Owner owner_of(tracing::internal::RecordEntry const& entry,
                 tracing::internal::RecordedSpan const* span) const noexcept;
  static constexpr TestTag kNoSpan = ~TestTag{0};

  /// Called by layers before anything else: notes in which test threads and spans began.
  void observe_span(tracing::SpanRef span) noexcept;
  void observe_event() noexcept;

  /// The tag of the records that the calling thread makes: `**tag_of_records()`. Its test, or the running one. For Writer.
  std::atomic<TestTag> const* const* tag_of_records() noexcept;
  /// The tag of the running test.
  std::atomic<TestTag> const& running_tag() const noexcept { return running_; }

 private:
  struct Test {
    std::atomic<TestTag> tag{0};  // zero while the name changes
    std::atomic<std::string const*> name{nullptr};
    std::atomic<std::uint64_t> begin{0}, end{0};  // of the clock of records; `end` is 0 as long as it runs
  };

  [[gnu::noinline]] void observe_first_event() noexcept;
  TestTag test_of_creation() const noexcept;
  bool has_ended(TestTag test, std::uint64_t ticks) const noexcept;
  TestTag running_at(std::uint64_t ticks) const noexcept;
  std::atomic<TestTag>& tag_of(tracing::SpanRef span) noexcept;
  Owner decide(TestTag running, TestTag of_thread, bool inside_running, TestTag outermost) const noexcept;

  static constexpr std::size_t kTests = 256;
  static constexpr std::size_t kSpans = 65536;   // more open spans share tags

  std::atomic<TestTag> running_{0};
  std::atomic<std::uint64_t> test_thread_{0};  // its number
  std::atomic<TestTag> last_{0};
  ThreadOrigins origins_;
  std::array<Test, kTests> tests_{};                  // by tag
  std::array<std::atomic<TestTag>, kSpans> spans_{};  // by slot
};

}  // namespace testlog::inline v1
