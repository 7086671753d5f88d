// FailOn: fails a test that records an event of a given level or a more severe one, and fails the run if the event
// comes after the test.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "testlog/allowed_events.h"
#include "testlog/capture/attribution.h"
#include "testlog/environment.h"
#include "tracing_core/collect/layer.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/support/mutex.h"

namespace testlog { inline namespace v1 {

/// Counts the events as they happen and keeps the first few, so neither TRACE_CAPTURE nor TRACE_RECORD_LIMIT matters.
/// All threads may use the layer, allow() and disallow(); only the thread that runs the tests may use the rest.
class FailOn {
 public:
  FailOn(Environment const& environment, Output& output, Attribution& attribution, bool mute);
  ~FailOn();
  FailOn(FailOn const&) = delete;
  FailOn& operator=(FailOn const&) = delete;

  /// Make the layer and its filter; each may be called once. Until a test has a limit, the filter lets nothing pass;
  /// from then on, it passes all events that the most verbose limit so far forbids.
  std::unique_ptr<tracing::Layer> make_layer();
  std::unique_ptr<tracing::Filter> take_filter() noexcept;

  /// Called when `test` begins. `source` says in failures what set the limit: "its .fail_on" or "TRACE_FAIL_ON"; it
  /// must live as long as the program.
  void begin_test(TestTag test, tracing::LevelFilter limit, char const* source);
  /// Raises a failure for each of the first events and one failure for all others. Reports events without a place in
  /// the source at the place of the test. If the test has skipped itself, raises no failure, but prints the worst
  /// event.
  void raise_failures(char const* file, int line, bool was_skipped);
  /// Raises failures, outside any test, for events of tests that had ended.
  void raise_late_failures();
  /// Called when a run of the tests begins. Between runs, events of tests that had ended are printed without delay,
  /// since a run that is over can no longer fail.
  void begin_run();

  /// From allow() to disallow(), events that match are not counted.
  void allow(AllowedEvents const& allowed);
  void disallow(AllowedEvents const& allowed);

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
  // The first events. A worse event replaces the last of them.
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

  Environment const& environment_;
  Output& output_;
  Attribution& attribution_;
  bool const mute_;
  std::atomic<tracing::LevelFilter> limit_{tracing::LevelFilter::off};  // the most verbose limit so far
  std::unique_ptr<LimitFilter> filter_;
  tracing::support::Mutex mutex_;
  std::array<Limit, kTests> limits_ TRACING_GUARDED_BY(mutex_){};  // of the last tests
  Events found_ TRACING_GUARDED_BY(mutex_);                        // of the running test
  Events late_ TRACING_GUARDED_BY(mutex_);                         // since the last call of raise_late_failures()
  std::size_t printed_ TRACING_GUARDED_BY(mutex_) = 0;  // late events that were printed since the last test began
  TestTag raised_ TRACING_GUARDED_BY(mutex_) = 0;       // the last test whose failures were raised
  bool is_over_ TRACING_GUARDED_BY(mutex_) = false;     // the run of the tests is over
  std::vector<AllowedEvents const*> allowed_ TRACING_GUARDED_BY(mutex_);
};

}}  // namespace testlog::v1
