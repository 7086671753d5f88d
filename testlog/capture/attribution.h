// Attribution: decides to which test a record belongs.
//
// A thread belongs to the test in which it was created. Some threads belong to whichever test is running: threads
// created while no test ran, the main thread, the thread that runs the tests, and threads that call serve_all_tests().
// Records made inside a span of the running test belong to that test on every thread. Records made inside a span that
// an earlier test left open belong to the earlier test, except on the thread that runs the tests. While a thread runs
// work that was wrapped by tracing::with_current_span(), the thread belongs to the test that submitted the work. A
// record is late if its test has ended.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "testlog/capture/thread_origins.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/record/spans.h"

namespace testlog { inline namespace v1 {

/// A run of a test, counted from 1; zero is outside any test.
using TestTag = std::uint32_t;

/// The test to which a record belongs.
struct Owner {
  TestTag test = 0;   ///< zero: outside any test
  bool late = false;  ///< the test had ended
};

/// Thread-safe, except that begin_test() and end_test() must be called on one thread. All bytes are zero at first, so a
/// constant-initialised object takes no memory for parts that are never used.
class Attribution {
 public:
  constexpr Attribution() noexcept = default;
  Attribution(Attribution const&) = delete;
  Attribution& operator=(Attribution const&) = delete;

  /// `name` must live as long as the program.
  TestTag begin_test(std::string const& name) noexcept;
  void end_test() noexcept;
  TestTag running() const noexcept { return running_.load(std::memory_order_relaxed); }
  /// Returns an empty text for zero and for all but the last 256 tests.
  std::string_view name_of(TestTag test) const noexcept;

  /// Assigns further records of the calling thread to the running test.
  void serve_all_tests() noexcept;

  /// Returns the number of the thread that runs the tests, see runs_tests().
  std::uint64_t test_thread() const noexcept { return test_thread_.load(std::memory_order_relaxed); }
  /// Returns true if the thread with this number runs the tests. Before the first test: returns true if it is the main
  /// thread and has made a record.
  bool runs_tests(std::uint64_t thread_number) const noexcept { return test_thread() == thread_number; }

  /// Returns the test whose work the calling thread does. For with_current_span().
  TestTag test_of_this_thread() const noexcept;
  /// Assigns the calling thread's further records to `test`, unless the thread serves all tests. Returns the test that
  /// it served before; zero stands for whichever test is running.
  TestTag begin_work(TestTag test) noexcept;
  /// Ends what begin_work() began. `before` is the value that it returned.
  void end_work(TestTag before) noexcept;

  /// Returns the owner of a record that is made now on this thread inside `span`.
  Owner owner_now(tracing::SpanRef span) noexcept;
  /// Returns the owner of a record captured at `ticks`. `tag` is the test of the record's thread or, if the thread
  /// serves any test, the test that was running. `next_span_tag()` must return the tags of the spans around the record,
  /// innermost first, then kNoSpan.
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
  /// Returns the owner of a captured entry. `span` is the span that the entry describes or is inside.
  Owner owner_of(tracing::recording::Entry const& entry, tracing::recording::Span const* span) const noexcept;
  static constexpr TestTag kNoSpan = ~TestTag{0};

  /// Returns the tag with which the recording has the beginning of `span` or, if it is empty, with which it would have
  /// a record that the calling thread makes now.
  TestTag tag_in_recording(tracing::SpanRef span) noexcept;

  /// Note the test in which the calling thread, and the span, began. Layers call them before anything else.
  void observe_span(tracing::SpanRef span) noexcept;
  void observe_event() noexcept;

  /// Returns where to find the tag of the calling thread's records: `**tag_of_records()` is the test of the thread, or
  /// the running test. For ChunkWriter.
  std::atomic<TestTag> const* const* tag_of_records() noexcept;
  /// Returns the tag of the running test.
  std::atomic<TestTag> const& running_tag() const noexcept { return running_; }

 private:
  struct Test {
    std::atomic<TestTag> tag{0};  // zero while the name changes
    std::atomic<std::string const*> name{nullptr};
    std::atomic<std::uint64_t> begin{0}, end{0};  // of the clock of records; `end` is 0 while the test runs
  };

  [[gnu::noinline]] void observe_first_event() noexcept;
  TestTag test_of_creation() const noexcept;
  bool has_ended(TestTag test, std::uint64_t ticks) const noexcept;
  TestTag running_at(std::uint64_t ticks) const noexcept;
  std::atomic<TestTag>& tag_of(tracing::SpanRef span) noexcept;
  Owner decide(TestTag running, TestTag of_thread, bool inside_running, TestTag outermost) const noexcept;

  static constexpr std::size_t kTests = 256;
  static constexpr std::size_t kSpans = 65536;  // if more spans are open, some share a tag

  std::atomic<TestTag> running_{0};
  std::atomic<std::uint64_t> test_thread_{0};  // the number of the thread that runs the tests
  std::atomic<TestTag> last_{0};
  ThreadOrigins origins_;
  std::array<Test, kTests> tests_{};                  // by tag
  std::array<std::atomic<TestTag>, kSpans> spans_{};  // by slot
};

}}  // namespace testlog::v1
