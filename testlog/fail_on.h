// FailOn: fails a test that records an event of a level or a more severe one.
#pragma once

#include <gtest/gtest.h>

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
/// The layer may be used by all threads, begin_test() and raise_failures() by the one that runs the tests.
class FailOn {
 public:
  explicit FailOn(Attribution& attribution);
  ~FailOn();
  FailOn(FailOn const&) = delete;
  FailOn& operator=(FailOn const&) = delete;

  /// The layer and its filter, which lets nothing pass unless the running test has a limit. Each may be called once.
  std::unique_ptr<tracing::Layer> make_layer();
  std::unique_ptr<tracing::Filter> take_filter() noexcept;

  /// `source` is what set the limit, for failures: ".fail_on" or "TRACE_FAIL_ON".
  void begin_test(tracing::LevelFilter limit, char const* source);
  /// Raises a failure for each of the first events and one for all others. Events without a place in the source are
  /// reported at that of the test.
  void raise_failures(testing::TestInfo const& test);

  /// Until disallow(), events that match are not counted.
  void allow(internal::AllowedEvents const& allowed);
  void disallow(internal::AllowedEvents const& allowed);

  /// Called around a fork, so that the child finds the lock free.
  void lock_for_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock_after_fork() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

 private:
  class EventLayer;
  class LimitFilter;
  struct Found {
    tracing::Level level;
    std::string file;
    int line;
    std::string text;
  };
  static constexpr std::size_t kMaxFound = 10;

  void observe(tracing::Event const& event, tracing::Context const& context) noexcept;

  Attribution& attribution_;
  std::atomic<tracing::LevelFilter> limit_{tracing::LevelFilter::off};
  char const* source_ = "";
  std::unique_ptr<LimitFilter> filter_;
  tracing::internal::Mutex mutex_;
  std::vector<Found> found_ TRACING_GUARDED_BY(mutex_);
  std::uint64_t count_ TRACING_GUARDED_BY(mutex_) = 0;
  std::vector<internal::AllowedEvents const*> allowed_ TRACING_GUARDED_BY(mutex_);
};

}  // namespace testlog::inline v1
