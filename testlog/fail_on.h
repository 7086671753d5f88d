// FailOn: fails a test that records an event of a level or a more severe one, and the run if that happens after the test.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "testlog/allow_events.h"
#include "testlog/attribution.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/internal/mutex.h"

namespace testlog::inline v1 {

/// Counts the events as they happen and keeps the first few, so that neither TRACE_CAPTURE nor TRACE_RECORD_LIMIT matters.
/// The layer may be used by all threads, the rest by the one that runs the tests.
class FailOn {
 public:
  explicit FailOn(Attribution& attribution);
  ~FailOn();
  FailOn(FailOn const&) = delete;
  FailOn& operator=(FailOn const&) = delete;

  /// The layer and its filter, which lets nothing pass until a test has a limit, and from then on what the most verbose limit so far
  /// forbids. Each may be called once.
  std::unique_ptr<tracing::Layer> make_layer();
  std::unique_ptr<tracing::Filter> take_filter() noexcept;

  /// `source` is what set the limit, for failures: ".fail_on" or "TRACE_FAIL_ON"; it must live as long as the program. Called when
  /// `test` runs.
  void begin_test(TestTag test, tracing::LevelFilter limit, char const* source);
  /// Raises a failure for each of the first events and one for all others. Events without a place in the source are
  /// reported at that of the test. If the test has skipped itself, raises none, but prints the worst event.
  void raise_failures(testing::TestInfo const& test);
  /// Raises failures, outside any test, for events of tests that had ended.
  void raise_late_failures();
  /// Between the runs of the tests such events are printed at once, since a run that is over cannot fail any more.
  void begin_run();

  /// Until disallow(), events that match are not counted.
  void allow(internal::AllowedEvents const& allowed);
  void disallow(internal::AllowedEvents const& allowed);

  /// Called around a fork, so that the child finds the lock free.
  void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

 private:
  class EventLayer;
  class LimitFilter;
  struct Limit {
    TestTag test = 0;
    tracing::LevelFilter level = tracing::LevelFilter::off;
    char const* source = "";
  };
  struct Found {
    tracing::Level level;
    std::string file;
    int line;
    std::string text;
  };
  // The first ones, of which the last gives way to a worse one.
  struct Events {
    std::vector<Found> first{};
    std::uint64_t count = 0;

    void add(Found found);
  };
  static constexpr std::size_t kMaxFound = 10;
  static constexpr std::size_t kTests = 256;

  void observe(tracing::Event const& event, tracing::Context const& context) noexcept;
  bool is_allowed(tracing::Event const& event, tracing::Context const& context) const TRACING_REQUIRES(mutex_);
  Limit limit_of(TestTag test) const noexcept TRACING_REQUIRES(mutex_);
  std::string late_text_of(tracing::Event const& event, tracing::SpanRef span, Owner owner, Limit const& limit) const;

  Attribution& attribution_;
  std::atomic<tracing::LevelFilter> limit_{tracing::LevelFilter::off};  // the most verbose one so far
  std::unique_ptr<LimitFilter> filter_;
  tracing::internal::Mutex mutex_;
  std::array<Limit, kTests> limits_ TRACING_GUARDED_BY(mutex_){};  // of the last tests
  Events found_ TRACING_GUARDED_BY(mutex_);  // of the running test
  Events late_ TRACING_GUARDED_BY(mutex_);   // since the last call of raise_late_failures()
  std::size_t printed_ TRACING_GUARDED_BY(mutex_) = 0;  // late events since the last test began
  TestTag raised_ TRACING_GUARDED_BY(mutex_) = 0;    // the last test whose failures were raised
  bool is_over_ TRACING_GUARDED_BY(mutex_) = false;  // the run
  std::vector<internal::AllowedEvents const*> allowed_ TRACING_GUARDED_BY(mutex_);
};

}  // namespace testlog::inline v1
