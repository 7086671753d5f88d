// TestRecords: the records of the running test, for records().
#pragma once

#include <memory>

#include "testlog/capture/attribution.h"
#include "testlog/capture/capture.h"
#include "testlog/records.h"
#include "tracing_core/support/mutex.h"

namespace testlog { inline namespace v1 {

/// Keeps the records that it has read until the test ends, so that each is read and converted once. Thread-safe.
class TestRecords {
 public:
  /// The arguments must outlive it.
  TestRecords(Capture const& capture, Attribution const& attribution) noexcept;
  TestRecords(TestRecords const&) = delete;
  TestRecords& operator=(TestRecords const&) = delete;
  ~TestRecords();

  /// Returns the records of the running test so far or, outside tests, those since the last test ended; without those
  /// that were overwritten. Throws std::bad_alloc.
  Records read();
  /// Gives the memory back.
  void forget() noexcept;

 private:
  class Snapshot;
  Records read_locked() TRACING_REQUIRES(mutex_);
  Records read_afresh(std::unique_ptr<Snapshot>& snapshot) const;

  Capture const& capture_;
  Attribution const& attribution_;
  tracing::support::Mutex mutex_;
  std::unique_ptr<Snapshot> snapshot_ TRACING_GUARDED_BY(mutex_);
};

}}  // namespace testlog::v1
