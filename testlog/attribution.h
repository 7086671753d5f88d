// Attribution: decides to which test a record belongs.
//
// A record belongs to the running test, unless it is late: made by a thread whose first record was in an earlier test,
// or inside a span of such a test, but not by the thread that runs the tests. What happens inside a span of the running
// test belongs to that test on every thread. Work that tracing::with_current_span() brings to a thread makes that thread
// one of the test that submitted it, until other such work comes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

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
  TestTag begin_test(std::string const& name);
  void end_test() noexcept { running_ = 0; }
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
  /// From now on the records of the calling thread belong to this test, unless they belong to any running test.
  void serve_test(TestTag test) noexcept;

  /// The owner of a record that is made now on this thread inside `span`.
  Owner owner_now(tracing::SpanRef span) noexcept;
  /// The owner of a captured record: made while the test `tag` ran, on this thread, inside of spans that began in the
  /// tests that `next_span_tag()` names, innermost first, and kNoSpan at the end.
  template <class F>
  Owner owner_of(TestTag tag, std::uint64_t thread_number, F&& next_span_tag) const noexcept {
    TestTag outermost = 0;
    bool inside_running = false;
    for (TestTag span = next_span_tag(); span != kNoSpan; span = next_span_tag()) {
      outermost = span;
      inside_running |= span == tag;
    }
    return decide(tag, home_of(thread_number), inside_running, outermost);
  }
  /// The same; `span` is the one that the entry is about, or in which it is.
  Owner owner_of(tracing::internal::RecordEntry const& entry,
                 tracing::internal::RecordedSpan const* span) const noexcept;
  static constexpr TestTag kNoSpan = ~TestTag{0};

  /// Called by layers before anything else: notes in which test threads and spans began.
  void observe_span(tracing::SpanRef span) noexcept;
  void observe_event() noexcept;

 private:
  struct Thread {
    std::atomic<std::uint64_t> number{0};
    std::atomic<TestTag> home{0};
  };
  struct Test {
    std::atomic<TestTag> tag{0};  // zero while the name changes
    std::atomic<std::string const*> name{nullptr};
  };

  void set_home(TestTag home) noexcept;
  TestTag home_of(std::uint64_t thread_number) const noexcept;
  std::atomic<TestTag>& tag_of(tracing::SpanRef span) noexcept;
  Owner decide(TestTag running, TestTag home, bool inside_running, TestTag outermost) const noexcept;

  static constexpr std::size_t kThreads = 1024;  // the most recent ones
  static constexpr std::size_t kTests = 256;
  static constexpr std::size_t kSpans = 65536;   // more open spans share tags

  std::atomic<TestTag> running_{0};
  std::atomic<std::uint64_t> test_thread_{0};  // its number
  TestTag last_ = 0;
  std::array<Test, kTests> tests_{};        // by tag
  std::array<Thread, kThreads> threads_{};  // by number
  std::array<std::atomic<TestTag>, kSpans> spans_{};  // by slot
};

}  // namespace testlog::inline v1
