// Declares Attribution, which knows to which test a record belongs.
//
// A record belongs to the test that runs, unless it comes late: from a thread that was started in an earlier test and
// outlived it, or from inside a span of such a test on a thread that is not the one running tests. What a thread does inside
// a span of the running test (see tracing::with_current_span) belongs to that test whoever started the thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/collect/record_view.h"

namespace testlog::inline v1 {

/// A run of a test, counted from 1; zero is outside any test.
using TestTag = std::uint32_t;

/// Whose record it is.
struct Owner {
  TestTag test = 0;   ///< zero: outside any test
  bool late = false;  ///< the test had ended
};

/// Thread-safe, but tests begin and end on one thread. All zero when it is made, so that a constant-initialised one takes
/// no memory for what is never touched.
class Attribution {
 public:
  constexpr Attribution() noexcept = default;
  Attribution(Attribution const&) = delete;
  Attribution& operator=(Attribution const&) = delete;

  /// `name` is kept by reference for good.
  TestTag begin_test(std::string const& name);
  void end_test();
  TestTag running() const noexcept { return running_.load(std::memory_order_relaxed); }
  /// Empty for zero and for tests long gone.
  std::string_view name_of(TestTag test) const noexcept;

  /// The calling thread works for whatever test runs, although it was started in one.
  void serve_all_tests() noexcept;

  /// Whose a record is that happens now on this thread below `span`.
  Owner owner_now(tracing::SpanRef span) noexcept;
  /// Whose a kept record is.
  Owner owner_of(tracing::RecordView const& record) const noexcept;

  /// Around a fork, so that the child finds the lock free.
  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

  /// To be called by layers before anything else: remembers where threads and spans come from.
  void observe_span(tracing::SpanRef span) noexcept;
  void observe_event() noexcept { meet_this_thread(); }

 private:
  struct Thread {
    std::atomic<std::uint64_t> number{0};
    std::atomic<TestTag> home{0};
  };
  struct Test {
    std::atomic<TestTag> tag{0};  // zero while the name changes
    std::atomic<std::string const*> name{nullptr};
  };

  void meet_this_thread() noexcept;
  void look_at_threads(TestTag newcomers_belong_to);
  TestTag const* find_home(int os_thread) const noexcept;
  TestTag home_of(std::uint64_t thread_number) const noexcept;
  std::atomic<TestTag>* made_in(tracing::SpanRef span, bool make) noexcept;
  Owner decide(TestTag running, TestTag home, bool inside_running, TestTag outermost) const noexcept;

  static constexpr std::size_t kThreads = 1024;  // those seen last
  static constexpr std::size_t kTests = 256;
  static constexpr std::size_t kPageSpans = 4096;
  static constexpr std::size_t kPages = 1024;

  // What every test touches stands close together.
  std::atomic<TestTag> running_{0};
  TestTag last_ = 0;
  std::mutex mutex_;
  // Guarded by mutex_: threads alive when a test last began or ended, by the system's number. None: only this one.
  std::vector<std::pair<int, TestTag>> homes_;
  std::array<Test, kTests> tests_{};        // by tag
  std::array<Thread, kThreads> threads_{};  // by number
  std::array<std::atomic<std::atomic<TestTag>*>, kPages> spans_{};  // by index of the slot
};

}  // namespace testlog::inline v1
